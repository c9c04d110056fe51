// What the badge says of a stream's totals. A service that just began to ask does not know how far it is behind, and
// then nothing may say that all is counted.

import { durationMs } from '@bufbuild/protobuf/wkt';
import { milliseconds } from '../../platform/words/figures.ts';
import type { WatchTotals } from '../../proto/gen/shared/activity/v1/activity_pb.js';

const behindMs = 10_000;

export type Lag = { state: 'away' | 'live' | 'behind'; text: string };

export function lagOf(totals: Pick<WatchTotals, 'lag'> | undefined, isLive: boolean): Lag {
  if (!isLive) return { state: 'away', text: 'Not live' };
  if (totals?.lag === undefined) return { state: 'live', text: 'Live' };
  const ms = durationMs(totals.lag);
  if (ms < 1) return { state: 'live', text: 'Up to date' };
  return { state: ms > behindMs ? 'behind' : 'live', text: `${milliseconds(ms)} behind` };
}
