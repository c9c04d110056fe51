// Questions about visits, as TRENDS and as SEGMENTATION: how many, how long, how many see one page only.

import { create } from '@bufbuild/protobuf';
import {
  SegmentationResultSchema,
  SessionMetric,
  TrendsResultSchema,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';
import { invalidArgument } from '../../invalid-argument.ts';
import { cellValue } from '../events/aggregation.ts';
import { both, eventCondition, every } from '../events/event-condition.ts';
import { type Measure, rankedGroupsSql } from '../events/ranked-groups.ts';
import { bucketSql, groupColumn } from '../events/read-events.ts';
import { groupedRowsSql, readLeftOut, rowsOfPart } from '../grouped-rows.ts';
import { leftOutSql } from '../left-out.ts';
import type { LeftOutCount, Plan } from '../plan.ts';
import { checkHasNoEvents, type Question } from '../question/question.ts';
import { numberOf } from '../rows.ts';
import { checkPoints, readGroups, type SeriesGroup } from '../series.ts';

import { pointsOf } from '../trends.ts';
import { rawVisitsSql } from './raw-visits.ts';
import { storedVisitsSql } from './stored-visits.ts';
import { type VisitRead, visitMarginMs } from './visit.ts';

/** What a metric makes of visits, as the aggregations make it of events. */
interface VisitMetric {
  a: string;
  b: string;
  measure: Measure;
}

const count: VisitMetric = {
  a: 'toFloat64(count())',
  b: 'toFloat64(0)',
  measure: { combine: 'sum', isRatio: false },
};
const ratio: Measure = { combine: 'sum', isRatio: true };
const visits = 'toFloat64(count())';
const durationMs = 'toUnixTimestamp64Milli(last_time) - toUnixTimestamp64Milli(occur_time)';

const metrics: Readonly<Record<SessionMetric, VisitMetric>> = {
  [SessionMetric.UNSPECIFIED]: count,
  [SessionMetric.SESSIONS]: count,
  [SessionMetric.ENTRY]: count,
  [SessionMetric.EXIT]: count,
  [SessionMetric.AVG_DURATION]: {
    a: `toFloat64(sum(${durationMs}))`,
    b: 'toFloat64(1000 * count())',
    measure: ratio,
  },
  [SessionMetric.BOUNCE_RATE]: {
    a: 'toFloat64(countIf(visit.events = 1 AND visit.views = 1))',
    b: visits,
    measure: ratio,
  },
  [SessionMetric.AVG_EVENTS_PER_SESSION]: {
    a: 'toFloat64(sum(visit.events))',
    b: visits,
    measure: ratio,
  },
};

const groupsPart = 0;

/** Throws invalid_argument. */
export function planSessions(question: Question, form: 'trends' | 'segmentation'): Plan {
  checkHasNoEvents(question, true);
  checkPoints(question, question.buckets.length);
  const read = readVisits(question);
  const metric = metrics[question.spec.session?.metric ?? SessionMetric.UNSPECIFIED];
  return {
    sql: planSql(question, read, metric),
    maxRows: question.groupLimit + 3,
    read: (rows) => {
      const { groups, total, leftOut } = readRows(question, metric, rows);
      return { result: resultOf(question, form, groups, total), leftOut };
    },
  };
}

function readVisits(question: Question): VisitRead {
  const { session } = question.spec;
  const metric = session?.metric ?? SessionMetric.UNSPECIFIED;
  const scope = eventCondition(session?.scope, 'spec.session.scope', question);
  const { everyEvent } = question;
  switch (metric) {
    case SessionMetric.SESSIONS:
    case SessionMetric.AVG_DURATION:
    case SessionMetric.BOUNCE_RATE:
    case SessionMetric.AVG_EVENTS_PER_SESSION:
      return { someEvent: both(everyEvent, scope), edge: 'first', edgeEvent: every };
    case SessionMetric.ENTRY:
      return { someEvent: everyEvent, edge: 'first', edgeEvent: scope };
    case SessionMetric.EXIT:
      return { someEvent: everyEvent, edge: 'last', edgeEvent: scope };
    case SessionMetric.UNSPECIFIED:
      throw invalidArgument('spec.session.metric', 'is required');
    default: {
      const unknown: never = metric;
      throw invalidArgument('spec.session.metric', `${Number(unknown)} is not a metric`);
    }
  }
}

function planSql(question: Question, read: VisitRead, { a, b, measure }: VisitMetric): string {
  const names = question.breakdowns.map((_, index) => groupColumn(index));
  const by = [...names, 'bucket'].join(', ');
  const cells = `SELECT ${by}, ${a} AS a, ${b} AS b, count() AS weight FROM (
      SELECT *, ${bucketSql(question, question.buckets)} AS bucket FROM (${storedVisitsSql(question, read) ?? rawVisitsSql(question, read)})
    ) AS visit GROUP BY ${by}`;
  const ranked = rankedGroupsSql({
    sql: cells,
    groups: names.length,
    limit: question.groupLimit,
    measure,
  });
  const counted = [{ condition: every, countsUsers: false }];
  const leftOut = leftOutSql(everythingAround(question), counted);
  return groupedRowsSql([{ part: groupsPart, sql: ranked }], leftOut);
}

/** All events that may be part of a visit. */
function everythingAround(question: Question): Question {
  return {
    ...question,
    everyEvent: every,
    fromMs: question.fromMs - visitMarginMs,
    toMs: question.toMs + visitMarginMs,
  };
}

function readRows(
  question: Question,
  { measure }: VisitMetric,
  rows: readonly unknown[][],
): { groups: SeriesGroup[]; total: number; leftOut: LeftOutCount[] } {
  const found = rowsOfPart(rows, groupsPart);
  const groups = readGroups(question, { aggregation: { measure } }, found);
  const leftOut = readLeftOut(rows, groups);
  // Each visit is in one group, so that the groups add up.
  let [a, b] = [0, 0];
  for (const [, , cells] of found) {
    if (!Array.isArray(cells)) continue;
    for (const [, cellA, cellB] of cells) {
      a += numberOf(cellA);
      b += numberOf(cellB);
    }
  }
  return { groups, total: cellValue(measure, a, b), leftOut };
}

function resultOf(
  question: Question,
  form: 'trends' | 'segmentation',
  groups: readonly SeriesGroup[],
  total: number,
): ReturnType<Plan['read']>['result'] {
  if (form === 'trends') {
    const series = groups.map(({ breakdown, isOthers, values }) => ({
      breakdown,
      isOthers,
      points: pointsOf(question, values),
    }));
    return { case: 'trends', value: create(TrendsResultSchema, { series }) };
  }
  const series = groups.map(({ breakdown, isOthers, values }) => ({
    breakdown,
    isOthers,
    value: values.get(0) ?? 0,
  }));
  return { case: 'segmentation', value: create(SegmentationResultSchema, { total, series }) };
}
