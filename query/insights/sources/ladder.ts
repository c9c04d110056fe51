// The rows that may answer what a part of a question counts: a list that is read from the top. Each source says in
// words why it refuses a need; rows of events come last and serve every need. The readers of tables ask here, and
// nowhere else.

import { dayMs } from '../../../platform/clock.ts';
import { both, type EventCondition } from '../read/event-condition.ts';
import type { Range } from '../read/plan-notes.ts';
import { type Question, traitPrefix } from '../read/question.ts';
import { quarterMs } from '../read/time-buckets.ts';
import { cutBy, hasDays } from './cut.ts';
import { hasZoneDays } from './day-cells.ts';

/** What is counted, and nothing of how. */
export interface Need extends Range {
  /** `users in order`: what they did first and what after it. `ways`: what visits did, in order. */
  count:
    | 'events'
    | 'events left out'
    | 'events a user'
    | 'users'
    | 'users a day'
    | 'users in order'
    | 'first events'
    | 'visits'
    | 'ways';
  /** The events, filter groups included. */
  of: EventCondition;
  /** What the first or last event of a visit has to meet. */
  edge?: EventCondition;
  asOfMs: number | undefined;
  /** When the buckets begin, in milliseconds, ascending. */
  buckets: readonly number[];
  /** Properties or traits by which it is grouped. */
  groups: readonly string[];
  /** The tables of visits have what is asked of their events. */
  isOfVisitTables?: boolean;
  /** Not how many there are, but numbers of single events: values of a property, or events a user and bucket. */
  hasNumbers?: boolean;
  /** Numbers of days do not make that of the range. */
  isWhole?: boolean;
  withCookieless: boolean;
  /** The buckets are made of whole days of the zone. */
  hasZoneDays(): boolean;
  /** The range of the question: this one may be longer, or a part of it. */
  asked: Range;
}

export type Refusal =
  | 'as_of: sums do not tell when an event was received'
  | 'filters: sums know kinds at most'
  | 'kinds: the table knows no kinds'
  | 'groups: the table does not know these properties'
  | 'numbers of single events: the table knows how many there are'
  | 'visits: the tables know first events, last page views and lengths, each apart'
  | 'whole lists of values: the table keeps numbers'
  | 'cookieless visitors: the table has none'
  | 'buckets cut a quarter of an hour'
  | 'three buckets share a day'
  | 'the range has no whole quarter of an hour'
  | 'the range has no whole day'
  | 'the range has less than two whole UTC days, or more than 400'
  | 'this is not the range of the question'
  | 'buckets cut a day of the zone'
  | 'persons decide: merges and traits change past days'
  | 'a table of sums has it'
  | 'it is left out';

export type SourceName =
  | 'event_counts'
  | 'profile_days'
  | 'profile_listing'
  | 'visits'
  | 'kept_active_profiles'
  | 'kept_cells'
  | 'events';

interface Source {
  name: SourceName;
  counts: readonly Need['count'][];
  /** Undefined: it serves. */
  refuses(need: Need): Refusal | undefined;
}

const ladder: readonly Source[] = [
  { name: 'event_counts', counts: ['events', 'events left out'], refuses: refusesEventCounts },
  {
    name: 'profile_days',
    counts: ['users', 'users a day', 'events a user'],
    refuses: refusesProfileDays,
  },
  { name: 'profile_listing', counts: ['first events'], refuses: refusesFirstSeen },
  { name: 'visits', counts: ['visits'], refuses: refusesVisits },
  {
    name: 'kept_active_profiles',
    counts: ['users', 'users a day'],
    refuses: refusesKeptProfiles,
  },
  { name: 'kept_cells', counts: ['events', 'visits'], refuses: refusesDayCells },
];

/** The first source that serves the need; the question takes a note of it. */
export function sourceOf(
  { notes, sources }: Pick<Question, 'notes' | 'sources'>,
  need: Need,
): SourceName {
  const refused: { source: SourceName; reason: Refusal }[] = [];
  const note = (source: SourceName): SourceName => {
    notes.served.push({ need: nameOf(need), source, refused });
    return source;
  };
  for (const { name, counts, refuses } of ladder) {
    if (!counts.includes(need.count)) continue;
    const reason = sources?.includes(name) === false ? 'it is left out' : refuses(need);
    if (reason === undefined) return note(name);
    refused.push({ source: name, reason });
  }
  return note('events');
}

/** Whether numbers of past days may be kept, also of what a table of sums has. */
export function keepsDays({ sources }: Pick<Question, 'sources'>, need: Need): boolean {
  return sources?.includes('kept_cells') !== false && refusesDayCells(need) === undefined;
}

/** The need of a question's events that meet the condition, too. */
export function needOf(
  question: Question,
  condition: EventCondition,
  more: Pick<Need, 'count'> & Partial<Need>,
): Need {
  const { everyEvent, asOfMs, fromMs, toMs, buckets, spec } = question;
  return {
    ...{ asOfMs, fromMs, toMs, buckets, groups: [], asked: { fromMs, toMs } },
    ...{ of: both(everyEvent, condition), withCookieless: spec.includeCookieless },
    hasZoneDays: () => hasZoneDays(question),
    ...more,
  };
}

/** Nothing that a customer has named. */
function nameOf({ count, of, groups }: Need): string {
  const events = {
    every: '',
    kinds: ', of some kinds',
    filtered: ', of filtered events',
    one: ', of one kind',
  };
  const by = groups.length === 0 ? '' : `, by ${groups.length} groups`;
  return `${count}${events[typeof of.kind === 'string' ? of.kind : 'one']}${by}`;
}

/** Sums are of everything that was ever stored, of every kind. */
function refusesOfEvery({ of, asOfMs }: Pick<Need, 'of' | 'asOfMs'>): Refusal | undefined {
  if (asOfMs !== undefined) return 'as_of: sums do not tell when an event was received';
  if (of.kind === 'filtered') return 'filters: sums know kinds at most';
  return of.kind === 'every' ? undefined : 'kinds: the table knows no kinds';
}

function refusesCounted({ groups, hasNumbers }: Need): Refusal | undefined {
  if (groups.length > 0) return 'groups: the table does not know these properties';
  return hasNumbers ? 'numbers of single events: the table knows how many there are' : undefined;
}

/** event_counts: events of a kind in a quarter of an hour. */
function refusesEventCounts(need: Need): Refusal | undefined {
  const refusal = refusesOfEvery(need);
  if (refusal !== undefined && refusal !== 'kinds: the table knows no kinds') return refusal;
  const isCut = !need.buckets.slice(1).every(isQuarter);
  return (
    refusesCounted(need) ??
    (cutBy(quarterMs, need) ? undefined : 'the range has no whole quarter of an hour') ??
    // The first bucket may begin before the range.
    (isCut ? 'buckets cut a quarter of an hour' : undefined)
  );
}

/** profile_days: a UTC day of a profile, its events of any kind, and the quarters of an hour in which it sent them. */
function refusesProfileDays(need: Need): Refusal | undefined {
  const refusal = refusesOfEvery(need) ?? refusesCounted(need);
  if (refusal !== undefined || need.count !== 'events a user') {
    return refusal ?? refusesQuarterBits(need);
  }
  return cutBy(dayMs, need) ? undefined : 'the range has no whole day';
}

/** profile_listing: when a profile was first seen. */
function refusesFirstSeen(need: Need): Refusal | undefined {
  const withCookieless = need.withCookieless
    ? 'cookieless visitors: the table has none'
    : undefined;
  return refusesOfEvery(need) ?? withCookieless;
}

/** Bits for quarters of a day answer at most two buckets of a day, which no quarter is in both of. */
function refusesQuarterBits({ fromMs, toMs, buckets }: Need): Refusal | undefined {
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
function refusesDayCells(need: Need): Refusal | undefined {
  const { of, edge, asOfMs, groups, asked, isWhole } = need;
  if (asOfMs !== undefined) return 'as_of: sums do not tell when an event was received';
  if (isWhole) return 'whole lists of values: the table keeps numbers';
  const isByTrait = groups.some((name) => name.startsWith(traitPrefix));
  if (of.usesUser || edge?.usesUser || isByTrait) {
    return 'persons decide: merges and traits change past days';
  }
  return hasDays(asked)
    ? undefined
    : 'the range has less than two whole UTC days, or more than 400';
}

/** kept_active_profiles: days of a zone, the number of their profiles and who they are, of some events. */
function refusesKeptProfiles(need: Need): Refusal | undefined {
  const { of, fromMs, toMs, asked, hasZoneDays } = need;
  const refusal = refusesDayCells(need) ?? refusesCounted(need);
  if (refusal !== undefined) return refusal;
  if (of.kind === 'every') return 'a table of sums has it';
  if (fromMs !== asked.fromMs || toMs !== asked.toMs)
    return 'this is not the range of the question';
  return hasZoneDays() ? undefined : 'buckets cut a day of the zone';
}

/** visits and visit_entries: the days of sessions. */
function refusesVisits(need: Need): Refusal | undefined {
  const ofEdge = need.edge?.kind === 'filtered' ? 'filters: sums know kinds at most' : undefined;
  const ofGroups = need.isOfVisitTables
    ? undefined
    : 'visits: the tables know first events, last page views and lengths, each apart';
  return refusesOfEvery(need) ?? ofEdge ?? ofGroups;
}

function isQuarter(ms: number): boolean {
  return ms % quarterMs === 0;
}
