// The live view's figures, of the totals of the last minute.

import type { WatchTotals } from '../../proto/gen/shared/activity/v1/activity_pb.js';

export type Minute = {
  /** Events that arrived in each of the last sixty seconds, oldest first. */
  arriving: number[];
  /** Of the same minute. */
  refused: number;
  dead: number;
  /** Events of the last second that came too fast to be shown. */
  notShown: number;
};

/** As many totals: one comes each second. */
export const seconds = 60;

type Totals = Pick<WatchTotals, 'arriving' | 'refused' | 'dead' | 'sampledOut' | 'lost'>;

/** `totals`: newest last. undefined while the stream is away: figures that stand still would look like those of now. */
export function minuteOf(totals: readonly Totals[], isLive: boolean): Minute | undefined {
  if (!isLive) return undefined;
  const sum = (pick: (one: Totals) => bigint): number =>
    totals.reduce((total, one) => total + Number(pick(one)), 0);
  const arriving = totals.map((one) => Number(one.arriving ?? 0));
  const last = totals.at(-1);
  return {
    arriving: [...Array.from({ length: seconds - arriving.length }, () => 0), ...arriving],
    refused: sum(({ refused = 0n }) => refused),
    dead: sum(({ dead = 0n }) => dead),
    notShown: Number(last?.sampledOut ?? 0) + Number(last?.lost ?? 0),
  };
}
