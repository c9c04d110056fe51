// Times in records, between the three forms they have: a clock's milliseconds, the RFC 3339 text that a record holds,
// and the protobuf timestamp of an answer.

import { type Timestamp, timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { Clock } from '../platform/clock.ts';

/** The time now, as RFC 3339 text with milliseconds. */
export function nowText(clock: Clock): string {
  return new Date(clock.nowMs()).toISOString();
}

export function timestampOf(text: string): Timestamp {
  return timestampFromMs(Date.parse(text));
}
