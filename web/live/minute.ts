// The live view's figures of the last minute: of the stream's totals, and of what the service stored before them.

import type { WatchTotals } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { totalsMs } from '../feed/last-minute.ts';

export type Minute = {
  /** Events that arrived in each of the last sixty seconds, oldest first. */
  arriving: number[];
  events: number;
  /** Of how many of the sixty seconds the events are known. */
  seconds: number;
  refused: number;
  dead: number;
  /** The same for refused and dead: the stream alone tells them. */
  heardSeconds: number;
  /** Events of the last second that came too fast to be shown. */
  notShown: number;
};

/** Events received in each of the seconds before a moment, oldest first. */
export type Before = { untilMs: number; events: readonly number[] };

const seconds = 60;

type Totals = Pick<WatchTotals, 'arriving' | 'refused' | 'dead' | 'sampledOut' | 'lost' | 'time'>;

/** When the first of these totals came, where that is less than a minute ago: what came before is known elsewhere. */
export function beginMs(totals: readonly Totals[]): number | undefined {
  const [first, last] = [totals[0], totals.at(-1)];
  if (!first || !last) return undefined;
  return totalsMs(last) - totalsMs(first) < seconds * 1_000 ? totalsMs(first) : undefined;
}

/**
 * `totals` as last-minute.ts keeps them. undefined while the stream is away: figures that stand still would look like
 * those of now. `before` counts where it ends as the totals begin.
 */
export function minuteOf(
  totals: readonly Totals[],
  isLive: boolean,
  before: Before | undefined,
): Minute | undefined {
  const [first, last] = [totals[0], totals.at(-1)];
  if (!isLive || !first || !last) return undefined;
  const arriving = Array.from({ length: seconds }, () => 0);
  const add = (untilMs: number, count: number): void => {
    const place = seconds - 1 - Math.floor(Math.max(0, totalsMs(last) - untilMs) / 1_000);
    if (place >= 0) arriving[place] = (arriving[place] ?? 0) + count;
  };
  const counted = totals.slice(1);
  for (const one of counted) add(totalsMs(one), Number(one.arriving ?? 0));
  const isWhole = before !== undefined && before.untilMs === totalsMs(first);
  const earlier = isWhole ? [...before.events].reverse() : [];
  for (const [ago, count] of earlier.entries()) add(totalsMs(first) - ago * 1_000, count);
  const sum = (pick: (one: Totals) => bigint): number =>
    counted.reduce((total, one) => total + Number(pick(one)), 0);
  const heardMs = totalsMs(last) - totalsMs(first);
  const heardSeconds = Math.min(seconds, Math.floor(heardMs / 1_000));
  return {
    arriving,
    events: arriving.reduce((total, count) => total + count, 0),
    seconds: isWhole ? seconds : heardSeconds,
    refused: sum(({ refused = 0n }) => refused),
    dead: sum(({ dead = 0n }) => dead),
    heardSeconds,
    notShown: Number(last.sampledOut ?? 0) + Number(last.lost ?? 0),
  };
}
