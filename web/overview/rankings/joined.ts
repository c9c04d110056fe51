// The rows of a ranking that came in several answers, as one list.

import type { RankedRow } from './rows.ts';

/** `groups`: how many all others are. */
export type MoreRow = RankedRow & { groups?: number };

export type Joined = {
  /** The greatest first, without all others. */
  rows: readonly MoreRow[];
  rest: MoreRow | undefined;
  /** How many rows there are, with those that are not here; undefined where nobody knows. */
  count: number | undefined;
};

/**
 * `here`: rows that are known; `later`: the others in the order in which they were read, the first all others of them
 * too. What came after these is no longer one of them.
 */
export function joined(here: readonly MoreRow[], later: readonly MoreRow[]): Joined {
  const place = later.findIndex(({ isRest }) => isRest);
  const before = place === -1 ? later : later.slice(0, place);
  const after = place === -1 ? [] : later.slice(place + 1).filter(({ isRest }) => !isRest);
  const first = unique([...here, ...before]);
  const rows = unique([...first, ...after]).sort((one, other) => other.value - one.value);
  const others = later[place];
  if (!others) return { rows, rest: undefined, count: rows.length };
  const value = after.reduce((sum, row) => sum - row.value, others.value);
  const { groups } = others;
  return {
    rows,
    rest: value > 0 ? { ...others, value } : undefined,
    count: groups === undefined ? undefined : Math.max(first.length + groups, rows.length),
  };
}

function unique(rows: readonly MoreRow[]): MoreRow[] {
  return [...new Map(rows.toReversed().map((row) => [row.key, row])).values()].reverse();
}
