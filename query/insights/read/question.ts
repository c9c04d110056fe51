// Checks what all questions have in common: range, zone, buckets, filter groups, breakdowns, and the bounds on all
// their texts together. The parts of one form are checked by its own file.

import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { type Clock, minuteMs } from '../../../platform/clock.ts';
import { checkEventKinds } from '../../../platform/filters/event-kinds.ts';
import {
  checkFilterCount,
  checkFilters,
  checkGroupCount,
  looksForPart,
} from '../../../platform/filters/filter-bounds.ts';
import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import {
  hasMoreCodePoints,
  maxPropertyKeyCodePoints,
  maxQuestionMs,
  minQuestionMs,
} from '../../../platform/limits.ts';
import type { PropertyFilter } from '../../../proto/gen/common/v1/filter_pb.js';
import type { Condition } from '../../../proto/gen/dashboard/segments/v1/segments_pb.js';
import type {
  Granularity,
  InsightQuerySpec,
  QueryRequest,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { type Bindings, createBindings } from '../../filters/bindings.ts';
import { checkSegments, fieldsBelow, isSegmentId } from '../../filters/segment-filter.ts';
import type { JsonStandIns } from '../../json-codec.ts';
import { momentMs } from '../../moment.ts';
import { type EventCondition, groupsCondition } from './event-condition.ts';
import { eventFiltersOf } from './event-filters.ts';
import { bucketsOf } from './form-members.ts';
import { maxFormulas } from './formula.ts';
import { createNotes, type PlanNotes, type Range } from './plan-notes.ts';
import type { PropertyTypes } from './property-types.ts';
import {
  maxRangeMs,
  readGranularity,
  readTimezone,
  readWeekStart,
  timeBuckets,
} from './time-buckets.ts';

const maxEvents = 20;
const maxBreakdowns = 5;
const defaultGroups = 10;
const maxGroups = 100;
const maxExclusions = 10;

/** The persons whom some cells of an answer count; the question's last breakdown is by the person. */
export interface Behind {
  /** Cells, by the numbers that the form gives them: the persons are in one of these, and in none of `without`. */
  cells: readonly number[];
  without: readonly number[];
  /** The group in which they are counted: SQL of conditions on the columns of the other breakdowns. */
  group: readonly string[];
  /** Only persons whose keys, in hex, are greater. */
  afterKey: string;
  /** Only persons whose keys, in hex, are not greater than this; of others, little is read. */
  untilKey?: string | undefined;
  maxPersons: number;
}

/** A checked question; what its form alone needs is in `spec`, still to be checked. */
export interface Question {
  readonly projectId: string;
  /** The placeholder of the project's id. */
  readonly project: string;
  readonly bindings: Bindings;
  readonly spec: InsightQuerySpec;
  /** Half-open, in milliseconds since the epoch. */
  readonly fromMs: number;
  readonly toMs: number;
  /** The range that was asked for, whichever part of it is read. */
  readonly asked: Range;
  readonly asOfMs: number | undefined;
  /** When it is asked, in whole minutes: within one, its rows are the same. */
  readonly nowMs?: number;
  /** IANA name. */
  readonly timezone: string;
  /** The day that weeks begin on: 1 is Monday, 7 Sunday. */
  readonly weekStart: number;
  readonly granularity: Granularity;
  /** When the buckets begin, ascending, in milliseconds; the range itself for questions without buckets. */
  readonly buckets: readonly number[];
  /** How many of the buckets are before the range, and looked at for means alone; none unless given. */
  readonly earlierBuckets?: number;
  /** Names of the properties to split by. */
  readonly breakdowns: readonly string[];
  /** The same as keys of a message: JSON would lose "__proto__". */
  readonly breakdownKeys: readonly string[];
  /** Of an answer in JSON; absent in binary. */
  readonly standIns: Pick<JsonStandIns, 'protoKey'> | undefined;
  /** Groups of a series besides that of all others. */
  readonly groupLimit: number;
  /** The filter groups, and the segments. */
  readonly everyEvent: EventCondition;
  /** The filter groups alone: of profiles whose users are asked for the segments. */
  readonly filterGroups: EventCondition;
  /** The types with which a property of events was ever stored; undefined where nobody knows. */
  typesOf(property: string): PropertyTypes | undefined;
  /** False where it is known that no profile of the project was ever deleted. */
  hasDeletions(): boolean;
  /** Who is in a segment that the question names; looked up before it is planned. */
  conditionOf(segmentId: string): Condition;
  /** SQL over user_key and cookieless that holds where the person is in the segment; of a plan. */
  memberSql(segmentId: string): string;
  /** Of the plan that is being made; each has its own. */
  readonly notes: PlanNotes;
  /** Asks for the persons behind a number of the answer, in place of the answer. */
  readonly behind?: Behind | undefined;
  /** The only sources that it may read besides rows of events, by name: tests alone leave some out. */
  readonly sources?: readonly string[] | undefined;
}

/** Throws invalid_argument that names the field and its rule. */
export function readQuestion(
  projectId: string,
  request: QueryRequest,
  standIns?: Pick<JsonStandIns, 'protoKey'>,
): Question {
  const { spec } = request;
  if (spec === undefined) throw invalidArgument('spec', 'is required');
  checkTexts(spec);
  const range = readRange(request);
  const calendar = {
    timezone: readTimezone(request.timezone),
    weekStart: readWeekStart(request.weekStart),
  };
  const granularity = readGranularity(request.granularity);
  const bindings = createBindings();
  const project = bindings.bind('String', projectId);
  const { filterGroups: groups, filterGroupsOperator } = spec;
  const filterGroups = groupsCondition(groups, filterGroupsOperator, { project, bindings });
  checkSegments(spec, fieldsBelow('spec.'));
  const breakdowns = spec.breakdowns.map(({ property }, index) =>
    readBreakdown(property, `spec.breakdowns[${index}].property`),
  );
  return {
    projectId,
    project,
    bindings,
    spec,
    ...{ ...range, asked: range },
    ...calendar,
    granularity,
    asOfMs: readAsOf(request),
    buckets:
      bucketsOf(spec) === 'none'
        ? [range.fromMs]
        : timeBuckets(granularity, calendar, range.fromMs, range.toMs),
    breakdowns,
    breakdownKeys: breakdowns.map((name) =>
      name === '__proto__' ? (standIns?.protoKey ?? name) : name,
    ),
    standIns,
    groupLimit: readLimit(spec.breakdownLimit, defaultGroups, maxGroups, 'spec.breakdownLimit'),
    ...{ everyEvent: filterGroups, filterGroups },
    ...unplanned,
    notes: createNotes(),
  };
}

/** What `nowMs` is of questions that are asked now: what depends on it changes once a minute. */
export function wholeMinuteMs(clock: Clock): number {
  return Math.floor(clock.nowMs() / minuteMs) * minuteMs;
}

/** Members that planning, and the look-ups before it, put in place of these. */
export const unplanned: Pick<Question, 'typesOf' | 'hasDeletions' | 'conditionOf' | 'memberSql'> = {
  typesOf: () => undefined,
  hasDeletions: () => true,
  conditionOf: () => {
    throw new Error('the segments of the question were not looked up');
  },
  memberSql: () => {
    throw new Error('the question is not planned');
  },
};

/** `value`, or `usual` for 0. Throws invalid_argument beyond 1 to `max`. */
export function readLimit(value: number, usual: number, max: number, field: string): number {
  if (value === 0) return usual;
  if (value >= 1 && value <= max) return value;
  throw invalidArgument(field, `must be from 1 to ${max}`);
}

/** Throws invalid_argument for a property's name that no event can have. */
export function readPropertyName(property: string, field: string): string {
  if (property === '') throw invalidArgument(field, 'must not be empty');
  if (hasMoreCodePoints(property, maxPropertyKeyCodePoints)) {
    throw invalidArgument(field, `takes at most ${maxPropertyKeyCodePoints} code points`);
  }
  return property;
}

/** A breakdown by this prefix is one by the trait whose name follows. */
export const traitPrefix = 'profile.';

/** The trait by which a breakdown splits; undefined for one by a property of events. */
export function traitOf(breakdown: string): string | undefined {
  return breakdown.startsWith(traitPrefix) ? breakdown.slice(traitPrefix.length) : undefined;
}

/** A breakdown by this prefix and an id is one by a segment. */
const segmentPrefix = 'segment.';

/** The segment by which a breakdown splits, by its id; undefined for one by a property or trait. */
export function segmentOf(breakdown: string): string | undefined {
  const id = breakdown.slice(segmentPrefix.length);
  return breakdown.startsWith(segmentPrefix) && isSegmentId(id) ? id : undefined;
}

/** Throws invalid_argument for a name that neither an event's property nor a trait can have. */
export function readBreakdown(property: string, field: string): string {
  const trait = traitOf(property);
  if (trait === undefined) return readPropertyName(property, field);
  return traitPrefix + readPropertyName(trait, field);
}

function readRange({ timeRange }: QueryRequest): Range {
  const fromMs = momentMs('timeRange.from', timeRange?.from);
  const toMs = momentMs('timeRange.to', timeRange?.to);
  if (fromMs === undefined) throw invalidArgument('timeRange.from', 'is required');
  if (toMs === undefined) throw invalidArgument('timeRange.to', 'is required');
  if (fromMs >= toMs) throw invalidArgument('timeRange', 'from must be before to');
  if (toMs - fromMs > maxRangeMs) throw invalidArgument('timeRange', 'is at most 10 years');
  if (fromMs < minQuestionMs || toMs > maxQuestionMs) {
    throw invalidArgument('timeRange', 'must lie between 1970 and 2200');
  }
  return { fromMs, toMs };
}

/** Rounded down: an event has whole milliseconds, and one received at the moment itself counts. */
function readAsOf({ asOf }: QueryRequest): number | undefined {
  if (asOf === undefined) return undefined;
  const floored: Timestamp = { ...asOf, nanos: Math.floor(asOf.nanos / 1e6) * 1e6 };
  const ms = momentMs('asOf', floored) ?? 0;
  return Math.min(Math.max(ms, minQuestionMs), maxQuestionMs);
}

/** Before any processing. */
function checkTexts(spec: InsightQuerySpec): void {
  const { events, breakdowns, filterGroups } = spec;
  atMost(events.length, maxEvents, 'spec.events');
  atMost(breakdowns.length, maxBreakdowns, 'spec.breakdowns');
  atMost(spec.formulas.length, maxFormulas, 'spec.formulas');
  checkGroupCount(filterGroups.length, 'spec.filterGroups');
  const exclusions = spec.funnel?.exclusions ?? [];
  atMost(exclusions.length, maxExclusions, 'spec.funnel.exclusions');
  const filtered = eventFiltersOf(spec);
  const groups = [
    ...filtered.map(({ event, path }) => ({ filters: event?.filters ?? [], path })),
    ...filterGroups.map(({ filters }, index) => ({ filters, path: `spec.filterGroups[${index}]` })),
  ];
  for (const { event, path } of filtered) if (event !== undefined) checkEventKinds(event, path);
  const texts = [
    ...filtered.flatMap(({ event }) => [event?.kind ?? '', ...(event?.kinds ?? [])]),
    ...events.map(({ aggregationProperty }) => aggregationProperty),
    ...breakdowns.map(({ property }) => property),
    ...spec.formulas.flatMap(({ expression, displayName }) => [expression, displayName]),
    ...[
      ...[spec.userFlow?.nodeProperty, spec.topK?.property, spec.topK?.metricProperty],
      spec.funnel?.holdProperty,
    ].map((text) => text ?? ''),
  ];
  checkFilterLists(groups, 'spec', texts);
}

/** Throws invalid_argument where all filters of a request, and its other texts, are too many or too long. */
export function checkFilterLists(
  lists: readonly { filters: readonly PropertyFilter[]; path: string }[],
  field: string,
  texts: readonly string[],
): void {
  checkFilterCount(
    lists.reduce((sum, { filters }) => sum + filters.length, 0),
    field,
  );
  const named = lists.flatMap(({ filters, path }) =>
    filters.map((filter, index) => ({ filter, path: `${path}.filters[${index}]` })),
  );
  // A path into a trait has the engine parse the trait's JSON, too.
  const isSearch = ({ operator, property }: PropertyFilter): boolean =>
    looksForPart(operator) || property.includes('.');
  checkFilters(named, field, texts, isSearch);
}

function atMost(count: number, max: number, field: string): void {
  if (count > max) throw invalidArgument(field, `takes at most ${max}`);
}
