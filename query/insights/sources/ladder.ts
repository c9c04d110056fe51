// The rows that may answer what a part of a question counts: a list that is read from the top. Each source says in
// words why it refuses a need; rows of events come last and serve every need. The readers of tables ask here, and
// nowhere else.

import { dayMs } from '../../../platform/clock.ts';
import { both, type EventCondition } from '../read/event-condition.ts';
import type { Range } from '../read/plan-notes.ts';
import type { Question } from '../read/question.ts';
import { quarterMs } from '../read/time-buckets.ts';
import { asksPersons } from '../sql/read-events.ts';
import { hasDays, hasWhole } from './cut.ts';
import { hasZoneDays } from './day-cells.ts';

/** What is counted, and nothing of how: the question has the rest. */
export interface Need {
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
  /** Besides the filter groups. */
  of: EventCondition;
  /** What the first or last event of a visit has to meet. */
  edge?: EventCondition;
  /** The question's unless given, as its buckets. */
  range?: Range;
  /** When the buckets begin, in milliseconds, ascending. */
  buckets?: readonly number[];
  /** Properties or traits by which it is grouped. */
  groups?: readonly string[];
  /** The tables of visits have what is asked of their events. */
  isOfVisitTables?: boolean;
  /** Not how many there are, but numbers of single events: values of a property, or events a user and bucket. */
  hasNumbers?: boolean;
  /** Numbers of days do not make that of the range. */
  isWhole?: boolean;
}

export type SourceName =
  | 'event_counts'
  | 'profile_days'
  | 'profile_listing'
  | 'visits'
  | 'kept_active_profiles'
  | 'kept_cells'
  | 'events';

/** Why a source does not serve the need, in words; undefined: it serves. */
type Refuses = (question: Question, need: Need) => string | undefined;

interface Source {
  name: SourceName;
  counts: readonly Need['count'][];
  refuses: Refuses;
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
export function sourceOf(question: Question, need: Need): SourceName {
  const { notes, sources } = question;
  const refused: { source: SourceName; reason: string }[] = [];
  const note = (source: SourceName): SourceName => {
    notes.served.push({ need: nameOf(question, need), source, refused });
    return source;
  };
  for (const { name, counts, refuses } of ladder) {
    if (!counts.includes(need.count)) continue;
    const reason = sources?.includes(name) === false ? 'it is left out' : refuses(question, need);
    if (reason === undefined) return note(name);
    refused.push({ source: name, reason });
  }
  return note('events');
}

/** For what is read from rows of events and from nothing else: throws where another source would serve the need. */
export function noteEvents(question: Question, need: Need): void {
  const source = sourceOf(question, need);
  if (source !== 'events') throw new Error(`${source} serves ${need.count}, and events are read`);
}

/** Whether numbers of past days may be kept, also of what a table of sums has. */
export function mayKeepDays(question: Question, need: Need): boolean {
  const isLeftOut = question.sources?.includes('kept_cells') === false;
  return !isLeftOut && refusesDayCells(question, need) === undefined;
}

/** Nothing that a customer has named. */
function nameOf(question: Question, { count, of, groups = [] }: Need): string {
  const { kind } = both(question.everyEvent, of);
  const events = kind === 'every' ? '' : `, of ${kind === 'filtered' ? 'filtered events' : kind}`;
  const by = groups.length === 0 ? '' : `, by ${groups.length} groups`;
  return `${count}${events}${by}`;
}

const ofAsOf = 'as_of: sums do not tell when an event was received';
const ofFilters = 'filters: sums know kinds at most';
const ofQuarters = 'buckets cut a quarter of an hour';
const noQuarter = 'the range has no whole quarter of an hour';

/** Sums are of everything that was ever stored, of every kind or of each. */
function refusesOfKinds({ asOfMs, everyEvent }: Question, { of }: Need): string | undefined {
  if (asOfMs !== undefined) return ofAsOf;
  return both(everyEvent, of).kind === 'filtered' ? ofFilters : undefined;
}

function refusesOfEvery(question: Question, need: Need): string | undefined {
  const isOfEvery = both(question.everyEvent, need.of).kind === 'every';
  const ofKinds = isOfEvery ? undefined : 'kinds: the table knows no kinds';
  return refusesOfKinds(question, need) ?? ofKinds;
}

function refusesCounted({ groups = [], hasNumbers }: Need): string | undefined {
  if (groups.length > 0) return 'groups: the table does not know these properties';
  return hasNumbers ? 'numbers of single events: the table knows how many there are' : undefined;
}

/** event_counts: events of a kind in a quarter of an hour. */
function refusesEventCounts(question: Question, need: Need): string | undefined {
  const { range = question, buckets = question.buckets } = need;
  const refusal = refusesOfKinds(question, need) ?? refusesCounted(need);
  if (refusal !== undefined) return refusal;
  if (!hasWhole(quarterMs, range)) return noQuarter;
  // The first bucket may begin before the range.
  return buckets.slice(1).every(isQuarter) ? undefined : ofQuarters;
}

/** profile_days: a UTC day of a profile, its events of any kind, and the quarters of an hour in which it sent them. */
function refusesProfileDays(question: Question, need: Need): string | undefined {
  const refusal = refusesOfEvery(question, need) ?? refusesCounted(need);
  if (refusal !== undefined) return refusal;
  if (need.count !== 'events a user') return refusesQuarterBits(question, need);
  return hasWhole(dayMs, question) ? undefined : 'the range has no whole day';
}

/** profile_listing: when a profile was first seen. */
function refusesFirstSeen(question: Question, need: Need): string | undefined {
  const withCookieless = question.spec.includeCookieless;
  const ofVisitors = withCookieless ? 'cookieless visitors: the table has none' : undefined;
  return refusesOfEvery(question, need) ?? ofVisitors;
}

/** A bit says that a profile sent events in a quarter: a quarter must be of one bucket, and a day of two at most. */
function refusesQuarterBits(question: Question, need: Need): string | undefined {
  const { range = question, buckets = question.buckets } = need;
  const { fromMs, toMs } = range;
  const within = buckets.filter((ms) => ms > fromMs && ms < toMs && ms % dayMs !== 0);
  if (!within.every(isQuarter)) return ofQuarters;
  const dayOf = (ms = -1): number => Math.floor(ms / dayMs);
  if (within.some((ms, place) => dayOf(ms) === dayOf(within[place + 1]))) {
    return 'three buckets share a day';
  }
  return hasWhole(quarterMs, range) ? undefined : noQuarter;
}

/** kept_cells: numbers of past days. They depend on nothing but the events of their day. */
function refusesDayCells(question: Question, need: Need): string | undefined {
  const { of, edge, groups = [], isWhole } = need;
  if (question.asOfMs !== undefined) return ofAsOf;
  if (isWhole) return 'whole lists of values: the table keeps numbers';
  const usesUser = both(question.everyEvent, of).usesUser || edge?.usesUser;
  if (usesUser || asksPersons(groups)) {
    return 'persons decide: merges and traits change past days';
  }
  return hasDays(question)
    ? undefined
    : 'the range has less than two whole UTC days or more than 400, or ends after 2149';
}

/** kept_active_profiles: days of a zone, the number of their profiles and who they are, of some events. */
function refusesKeptProfiles(question: Question, need: Need): string | undefined {
  const { of, range = question } = need;
  const refusal = refusesDayCells(question, need) ?? refusesCounted(need);
  if (refusal !== undefined) return refusal;
  if (both(question.everyEvent, of).kind === 'every') return 'a table of sums has it';
  if (range.fromMs !== question.fromMs || range.toMs !== question.toMs) {
    return 'this is not the range of the question';
  }
  return hasZoneDays(question) ? undefined : 'buckets cut a day of the zone';
}

/** visits and visit_entries: the days of sessions. */
function refusesVisits(question: Question, need: Need): string | undefined {
  const ofEdge = need.edge?.kind === 'filtered' ? ofFilters : undefined;
  const ofGroups = need.isOfVisitTables
    ? undefined
    : 'visits: the tables know first events, last page views and lengths, each apart';
  return refusesOfEvery(question, need) ?? ofEdge ?? ofGroups;
}

function isQuarter(ms: number): boolean {
  return ms % quarterMs === 0;
}
