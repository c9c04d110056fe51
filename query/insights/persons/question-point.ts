// Reads a number of an answer, and turns its question into one for the persons whom that number counts: the same
// question, broken down by the person as well, whose statement answers persons in place of groups (ranked-groups.ts).
// What a form counts is written once, so that a list of persons is as long as its number.

import { clone, create } from '@bufbuild/protobuf';
import { ConnectError } from '@connectrpc/connect';
import { invalidArgument } from '../../../platform/http/answers/invalid-argument.ts';
import { EventFilterSchema, type TimeRange } from '../../../proto/gen/common/v1/filter_pb.js';
import {
  AggregationType,
  Compare,
  EventQuerySchema,
  type InsightQuerySpec,
  InsightQuerySpecSchema,
  InsightType,
  QueryRequestSchema,
  type QuestionPoint,
  TopKQuery_Dimension,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { momentMs } from '../../moment.ts';
import { withEarlierBuckets } from '../forms/series/moving-average.ts';
import { type Window, windowStart } from '../forms/series/window-users.ts';
import { windowOf } from '../forms/series/windows.ts';
import { readBounds } from '../forms/users/events-per-user.ts';
import { cellsOfBucket, tookCell } from '../forms/users/funnel/funnel-users.ts';
import { cellsOfState } from '../forms/users/lifecycle.ts';
import { cellOfCohort } from '../forms/users/retention.ts';
import { type Behind, type Question, readQuestion } from '../read/question.ts';
import type { SourceName } from '../sources/ladder.ts';
import { byPerson } from '../sql/persons.ts';
import { groupColumn } from '../sql/read-events.ts';

export interface PersonsPage {
  /** In hex; persons whose keys are greater are asked for. */
  afterKey: string;
  maxPersons: number;
}

/** Throws invalid_argument that names the field and its rule. */
export function readPoint(
  projectId: string,
  { point, timeRange }: { point: QuestionPoint; timeRange?: TimeRange | undefined },
  page: PersonsPage,
): Question {
  const { spec, granularity, timezone, weekStart, asOf } = point;
  if (spec === undefined) throw invalidArgument('point.spec', 'is required');
  const request = { timeRange, granularity, timezone, weekStart, ...(asOf && { asOf }) };
  const counted = countedSpec(spec, point);
  const asked = within(() =>
    readQuestion(projectId, create(QueryRequestSchema, { ...request, spec: counted })),
  );
  const { cells, without = [], ...range } = cellsOf(asked, spec, point);
  const group = groupOf(asked, point);
  return {
    ...asked,
    ...range,
    breakdowns: [...asked.breakdowns, byPerson],
    breakdownKeys: [...asked.breakdownKeys, byPerson],
    behind: { ...page, cells, without, group },
    // What is kept is the answer's.
    sources: ['profile_days', 'profile_listing'] satisfies SourceName[],
  };
}

/** Without what an answer has beside its numbers; a number of several series is of one. */
function countedSpec(spec: InsightQuerySpec, point: QuestionPoint): InsightQuerySpec {
  const counted = clone(InsightQuerySpecSchema, spec);
  counted.includeCookieless = false;
  counted.includeStepTiming = false;
  counted.compare = Compare.UNSPECIFIED;
  if (spec.session !== undefined) {
    throw invalidArgument('point.spec.session', 'must not be set: its numbers count visits');
  }
  if (spec.insightType === InsightType.TOP_K) return specOfRow(counted, point);
  if (isOfSeries(spec)) {
    const series = counted.events[point.series];
    if (series === undefined)
      throw invalidArgument('point.series', 'must be the place of an event');
    Object.assign(counted, { events: [series], formulas: [], movingAverage: 0 });
    Object.assign(counted, { rollingDays: 0, cumulative: false });
    series.rollingDays = 0;
  }
  return counted;
}

const isOfSeries = ({ insightType }: InsightQuerySpec): boolean =>
  insightType === InsightType.TRENDS ||
  insightType === InsightType.SEGMENTATION ||
  insightType === InsightType.REVENUE;

/** A row of TOP_K is a group of a segmentation. */
function specOfRow(spec: InsightQuerySpec, { dimensionValue }: QuestionPoint): InsightQuerySpec {
  const { scope, dimension, property } = spec.topK ?? {};
  const event = create(EventFilterSchema, scope);
  const isOfProperty = dimension === TopKQuery_Dimension.PROPERTY;
  if (dimension === TopKQuery_Dimension.EVENT_KIND) {
    Object.assign(event, { kind: dimensionValue ?? '', kinds: [] });
  } else if (!isOfProperty) {
    throw invalidArgument('point.spec.topK.dimension', 'must be PROPERTY or EVENT_KIND');
  }
  return create(InsightQuerySpecSchema, {
    insightType: InsightType.SEGMENTATION,
    events: [create(EventQuerySchema, { event, aggregation: AggregationType.TOTAL })],
    breakdowns: isOfProperty ? [{ property: property ?? '' }] : [],
    filterGroups: spec.filterGroups,
    filterGroupsOperator: spec.filterGroupsOperator,
    ...{ segments: spec.segments, notInSegments: spec.notInSegments },
  });
}

/** The cells that the number counts, and the range and buckets that the question has for them. */
type Counted = Pick<Behind, 'cells'> &
  Partial<Pick<Behind, 'without'>> &
  Partial<Pick<Question, 'fromMs' | 'toMs' | 'buckets'>>;

function cellsOf(question: Question, asked: InsightQuerySpec, point: QuestionPoint): Counted {
  const { insightType: form } = asked;
  switch (form) {
    case InsightType.TRENDS:
      if (asked.movingAverage > 0) return ofMean(question, asked, point);
      return ofBucket(question, windowIn(asked, point.series), placeOf(question, point, 'bucket'));
    case InsightType.SEGMENTATION:
    case InsightType.TOP_K:
      return { cells: [0] };
    case InsightType.FUNNEL:
      return { cells: levelsOf(question, point) };
    case InsightType.RETENTION:
      return ofCohort(question, point);
    case InsightType.LIFECYCLE:
      return ofState(question, point);
    case InsightType.STICKINESS:
      return { cells: activeCells(question, point) };
    case InsightType.REVENUE:
      if (asked.movingAverage > 0) return ofMean(question, asked, point);
      return { cells: cellsUntil(question, asked, placeOf(question, point, 'bucket')) };
    case InsightType.USER_FLOW:
    case InsightType.UNSPECIFIED:
      throw invalidArgument('point.spec.insightType', 'has no numbers whose users can be listed');
    default:
      return form satisfies never;
  }
}

function windowIn(spec: InsightQuerySpec, place: number): Window | undefined {
  const series = spec.events[place];
  return series && windowOf(spec, series);
}

/** Who is in a group is told by all events of the range: without groups, those of the bucket suffice. */
function ofBucket(question: Question, window: Window | undefined, place: number): Counted {
  const { buckets, fromMs, toMs, breakdowns } = question;
  const startMs = buckets[place] ?? fromMs;
  if (breakdowns.length > 0) return { cells: [buckets.length === 1 ? 0 : startMs] };
  const untilMs = buckets[place + 1] ?? toMs;
  const sinceMs = window ? windowStart(question, window, startMs) : Math.max(startMs, fromMs);
  return { cells: [0], fromMs: sinceMs, toMs: untilMs, buckets: [sinceMs] };
}

/** Of all buckets whose mean it is. */
function ofMean(question: Question, spec: InsightQuerySpec, point: QuestionPoint): Counted {
  const place = placeOf(question, point, 'bucket');
  const { fromMs, buckets } = within(() => withEarlierBuckets({ ...question, spec }));
  return { fromMs, buckets, cells: buckets.slice(place, place + spec.movingAverage) };
}

/** Of the bucket; cumulative, of those before it too. */
function cellsUntil({ buckets }: Question, spec: InsightQuerySpec, place: number): number[] {
  if (buckets.length === 1) return [0];
  return buckets.slice(spec.cumulative ? 0 : place, place + 1);
}

/** Whose furthest step was that one, or a later one; over time, of those who entered in the bucket. */
function levelsOf(question: Question, point: QuestionPoint): number[] {
  const { step, droppedOff, bucket } = point;
  const steps = question.spec.events.length;
  if (step < 1 || step > steps) throw invalidArgument('point.step', `must be from 1 to ${steps}`);
  const { optionalSteps = [] } = question.spec.funnel ?? {};
  if (optionalSteps.includes(step)) {
    if (!droppedOff) return [tookCell(step)];
    throw invalidArgument('point.droppedOff', 'must not be set of an optional step');
  }
  const isOfBucket = bucket !== undefined && question.spec.funnel?.overTime === true;
  const before = isOfBucket ? (placeOf(question, point, 'bucket') + 1) * cellsOfBucket : 0;
  // A level is a place among the steps that are not optional.
  const isBefore = (one: number): boolean => one <= step;
  const level = step - optionalSteps.filter(isBefore).length;
  const count = droppedOff ? 1 : steps - optionalSteps.length - level + 1;
  return Array.from({ length: count }, (_, index) => before + level + index);
}

function ofCohort(question: Question, point: QuestionPoint): Counted {
  const cohort = placeOf(question, point, 'bucket');
  const returned = point.returned && placeOf(question, point, 'returned');
  if (returned !== undefined && returned < cohort) {
    throw invalidArgument('point.returned', 'must not be before the cohort');
  }
  const { unbounded = false, rolling24h = false } = question.spec.retention ?? {};
  const { buckets } = question;
  // Nothing that happens later makes a cohort or a return in a bucket of the calendar another one.
  const last = unbounded || rolling24h ? buckets.length - 1 : (returned ?? cohort);
  const range = rangeOf(question, 0, last);
  return { ...range, cells: [cellOfCohort(cohort, returned, range.buckets.length)] };
}

/** Of these buckets alone. */
function rangeOf({ buckets, fromMs, toMs }: Question, first: number, last: number) {
  return {
    fromMs: Math.max(fromMs, buckets[first] ?? fromMs),
    toMs: Math.min(toMs, buckets[last + 1] ?? toMs),
    buckets: buckets.slice(first, last + 1),
  };
}

function ofState(question: Question, point: QuestionPoint): Counted {
  const place = placeOf(question, point, 'bucket');
  // Who is in a group is told by all events of the range; without groups, a state by the bucket and the one before.
  const isWhole = question.breakdowns.length > 0;
  const first = isWhole ? 0 : Math.max(place - 1, 0);
  const range = isWhole ? {} : rangeOf(question, first, place);
  const counted = cellsOfState(point.state, place - first);
  if (counted === undefined) throw invalidArgument('point.state', 'is required');
  return { ...range, ...counted };
}

/** Cumulative, those who were active in more buckets, or did more events, count, too. */
function activeCells({ buckets, spec }: Question, point: QuestionPoint): number[] {
  const { activeBuckets, events } = point;
  if (spec.eventsPerUser !== undefined) {
    const bounds = within(() => readBounds(spec.eventsPerUser ?? { bounds: [] }));
    const place = bounds.indexOf(events);
    if (place < 0) throw invalidArgument('point.events', 'must be one of the bounds');
    return bounds.slice(place, spec.cumulative ? undefined : place + 1);
  }
  const { length: count } = buckets;
  if (activeBuckets < 1 || activeBuckets > count) {
    throw invalidArgument('point.activeBuckets', `must be from 1 to ${count}`);
  }
  if (!spec.cumulative) return [activeBuckets];
  return Array.from({ length: count - activeBuckets + 1 }, (_, index) => activeBuckets + index);
}

function placeOf(
  { buckets }: Question,
  point: QuestionPoint,
  field: 'bucket' | 'returned',
): number {
  const ms = momentMs(`point.${field}`, point[field]);
  if (ms === undefined) throw invalidArgument(`point.${field}`, 'is required');
  const place = buckets.indexOf(ms);
  if (place < 0) throw invalidArgument(`point.${field}`, 'must be when a bucket begins');
  return place;
}

/** SQL of conditions on the columns of the groups: of payments, the currency is the first of them. */
function groupOf({ bindings, breakdownKeys }: Question, point: QuestionPoint): string[] {
  const { spec, breakdown, dimensionValue, currency } = point;
  const isRow = spec?.insightType === InsightType.TOP_K;
  const values = breakdownKeys.map((key) => {
    const found = Object.hasOwn(breakdown, key) ? breakdown[key] : undefined;
    return isRow ? dimensionValue : found;
  });
  const all = spec?.insightType === InsightType.REVENUE ? [currency, ...values] : values;
  return all.map((value, index) => {
    const column = groupColumn(index);
    // In the form of property-text.ts.
    if (value === undefined) return `${column} IN ('', '=')`;
    return `${column} = ${bindings.bind('String', value === '' ? '<' : `=${value}`)}`;
  });
}

/** Names the fields of what is read below `point`, where they stand. */
function within<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    const { code, rawMessage } = ConnectError.from(error);
    if (!(error instanceof ConnectError) || !rawMessage.startsWith('spec')) throw error;
    throw new ConnectError(`point.${rawMessage}`, code);
  }
}
