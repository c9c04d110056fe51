// Which rows may answer what a part of a question counts. Each source says in words why it refuses a need; undefined
// means that it serves. Rows of events serve every need. The readers of the tables ask here, and nowhere else.

import { dayMs } from '../../../platform/clock.ts';
import { both, type EventCondition } from '../events/event-condition.ts';
import { type Question, traitPrefix } from '../question/question.ts';
import { quarterMs } from '../question/time-buckets.ts';
import { cutBy, hasDays, type Range } from './cut.ts';

/** What is counted, and nothing of how. */
export interface Need extends Range {
  /** The events, filter groups included. */
  of: EventCondition;
  asOfMs: number | undefined;
  /** When the buckets begin, in milliseconds, ascending. */
  buckets: readonly number[];
  /** Properties or traits by which it is grouped. */
  groups: readonly string[];
}

export type Refusal =
  | 'as_of: sums do not tell when an event was received'
  | 'filters: sums know kinds at most'
  | 'kinds: the table knows no kinds'
  | 'cookieless visitors: the table has none'
  | 'buckets cut a quarter of an hour'
  | 'three buckets share a day'
  | 'the range has no whole quarter of an hour'
  | 'the range has less than two whole days, or more than 400'
  | 'persons decide: merges and traits change past days'
  | 'a table of sums has it';

/** The need of a question's events that meet the condition, too. */
export function needOf(
  question: Pick<Question, 'everyEvent' | 'asOfMs' | 'fromMs' | 'toMs' | 'buckets'>,
  condition: EventCondition,
  more: Partial<Need> = {},
): Need {
  const { everyEvent, asOfMs, fromMs, toMs, buckets } = question;
  return {
    ...{ asOfMs, fromMs, toMs, buckets, groups: [] },
    of: both(everyEvent, condition),
    ...more,
  };
}

/** Sums are of everything that was ever stored, of every kind. */
export function refusesOfEvery({ of, asOfMs }: Pick<Need, 'of' | 'asOfMs'>): Refusal | undefined {
  if (asOfMs !== undefined) return 'as_of: sums do not tell when an event was received';
  if (of.kind === 'filtered') return 'filters: sums know kinds at most';
  return of.kind === 'every' ? undefined : 'kinds: the table knows no kinds';
}

/** event_counts: events of a kind in a quarter of an hour. */
export function refusesEventCounts(need: Need): Refusal | undefined {
  const refusal = refusesOfEvery(need);
  if (refusal !== undefined && refusal !== 'kinds: the table knows no kinds') return refusal;
  if (cutBy(quarterMs, need) === undefined) return 'the range has no whole quarter of an hour';
  // The first bucket may begin before the range.
  return need.buckets.slice(1).every(isQuarter) ? undefined : 'buckets cut a quarter of an hour';
}

/** profile_days: the quarters of an hour of a UTC day in which a profile sent events of any kind. */
export function refusesProfileDays(need: Need): Refusal | undefined {
  return refusesOfEvery(need) ?? refusesQuarterBits(need);
}

/** profile_listing: when a profile was first seen. */
export function refusesFirstSeen(
  need: Pick<Need, 'of' | 'asOfMs'>,
  withCookieless: boolean,
): Refusal | undefined {
  return (
    refusesOfEvery(need) ?? (withCookieless ? 'cookieless visitors: the table has none' : undefined)
  );
}

/** Bits for quarters of a day answer at most two buckets of a day, which no quarter is in both of. */
export function refusesQuarterBits({
  fromMs,
  toMs,
  buckets,
}: Pick<Need, 'fromMs' | 'toMs' | 'buckets'>): Refusal | undefined {
  const within = buckets.filter((ms) => ms > fromMs && ms < toMs && ms % dayMs !== 0);
  if (!within.every(isQuarter)) return 'buckets cut a quarter of an hour';
  const dayOf = (ms = -1): number => Math.floor(ms / dayMs);
  if (within.some((ms, place) => dayOf(ms) === dayOf(within[place + 1]))) {
    return 'three buckets share a day';
  }
  const cut = cutBy(quarterMs, { fromMs, toMs });
  return cut === undefined ? 'the range has no whole quarter of an hour' : undefined;
}

/** kept_cells: numbers of past days. They depend on nothing but the events of their day. */
export function refusesDayCells({ of, asOfMs, groups, ...range }: Need): Refusal | undefined {
  if (asOfMs !== undefined) return 'as_of: sums do not tell when an event was received';
  if (of.usesUser || groups.some((name) => name.startsWith(traitPrefix))) {
    return 'persons decide: merges and traits change past days';
  }
  return hasDays(range) ? undefined : 'the range has less than two whole days, or more than 400';
}

/** kept_profile_days: what profile_days has, of some events. */
export function refusesKeptProfileDays(need: Need): Refusal | undefined {
  return refusesDayCells(need) ?? (need.of.kind === 'every' ? 'a table of sums has it' : undefined);
}

/** visits and visit_entries: the days of sessions; `edge` is what the first or last event of a visit has to meet. */
export function refusesStoredVisits(
  need: Pick<Need, 'of' | 'asOfMs'>,
  edge: EventCondition,
): Refusal | undefined {
  const ofEdge = edge.kind === 'filtered' ? 'filters: sums know kinds at most' : undefined;
  return refusesOfEvery(need) ?? ofEdge;
}

function isQuarter(ms: number): boolean {
  return ms % quarterMs === 0;
}
