// Times of records: kept as RFC 3339 texts, sent as protobuf timestamps.

import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '../platform/clock.ts';

/** The time now as records hold it. */
export function nowText(clock: Clock): string {
  return new Date(clock.nowMs()).toISOString();
}

export function timestampOf(text: string): Timestamp {
  return timestampFromMs(Date.parse(text));
}
