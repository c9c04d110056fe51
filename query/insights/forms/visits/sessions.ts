// Questions about visits, as TRENDS and as SEGMENTATION: how many, how long, how many see one page only.

import { SessionMetric } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { every } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { type Need, sourceOf } from '../../sources/ladder.ts';
import { cellValue } from '../../sql/aggregation.ts';
import { type Measure, rankedGroupsSql } from '../../sql/ranked-groups.ts';
import {
  cellRowsSql,
  checkPoints,
  type Group,
  groupedRowsSql,
  groupsRowsSql,
  onlyPart,
  readGroups,
  readLeftOut,
  type ValuesPlan,
  valuesOf,
} from '../grouped-rows.ts';
import { leftOutSql, maxReasons } from '../left-out.ts';
import { withKeptVisits } from './kept-visits.ts';
import { rawCellsSql } from './raw-visits.ts';
import { storedVisits } from './stored-visits.ts';
import { readVisits, sumColumns, type VisitRead, visitWindow } from './visit.ts';
import type { VisitDays } from './visit-days.ts';

/** What a metric makes of a cell's visits, duration, bounces and events: a number, or one divided by another. */
interface VisitMetric {
  partsOf(numbers: readonly number[]): [number, number];
  measure: Measure;
}

const sum: Measure = { combine: 'sum', isRatio: false };
const ratio: Measure = { combine: 'sum', isRatio: true };
const count: VisitMetric = { partsOf: ([visits = 0]) => [visits, 0], measure: sum };

const metrics: Readonly<Record<SessionMetric, VisitMetric>> = {
  [SessionMetric.UNSPECIFIED]: count,
  [SessionMetric.SESSIONS]: count,
  [SessionMetric.ENTRY]: count,
  [SessionMetric.EXIT]: count,
  [SessionMetric.AVG_DURATION]: {
    partsOf: ([visits = 0, durationMs = 0]) => [durationMs, 1_000 * visits],
    measure: ratio,
  },
  [SessionMetric.BOUNCE_RATE]: {
    partsOf: ([visits = 0, , bounces = 0]) => [bounces, visits],
    measure: ratio,
  },
  [SessionMetric.AVG_EVENTS_PER_SESSION]: {
    partsOf: ([visits = 0, , , events = 0]) => [events, visits],
    measure: ratio,
  },
};

/** Throws invalid_argument. All metrics that ask for the same visits have the same statement. */
export function planSessions(question: Question): ValuesPlan {
  checkPoints(question, question.buckets.length);
  const read = readVisits(question);
  const { partsOf, measure } = metrics[question.spec.session?.metric ?? SessionMetric.UNSPECIFIED];
  const { groupLimit, buckets } = question;
  return {
    sql: planSql(question, read),
    maxRows: Math.max(groupLimit + 1, buckets.length) + maxReasons,
    read: (rows) => {
      const groups = readGroups(question, rows);
      return {
        series: [
          {
            kind: '',
            eventIndex: 0,
            groups: groups.map((group) => valuesOf(group, measure, partsOf)),
          },
        ],
        total: totalOf(groups, measure, partsOf),
        leftOut: readLeftOut(rows, groups),
      };
    },
  };
}

/** Each visit is in one group, so that the groups add up. */
function totalOf(
  groups: readonly Group[],
  measure: Measure,
  partsOf: VisitMetric['partsOf'],
): number {
  const parts = groups.flatMap(({ cells }) => [...cells.values()].map(partsOf));
  const [a, b] = parts.reduce(([oneA, oneB], [a, b]) => [oneA + a, oneB + b], [0, 0]);
  return cellValue(measure, a, b);
}

function planSql(question: Question, read: VisitRead): string {
  const width = question.breakdowns.length;
  const stored = storedVisits(question, read);
  const need: Need = {
    ...{ count: 'visits', of: read.someEvent, edge: read.edgeEvent, groups: question.breakdowns },
    isOfVisitTables: stored !== undefined,
  };
  const isStored = sourceOf(question, need) === 'visits';
  const write =
    isStored && stored ? stored : (days: VisitDays) => rawCellsSql(question, read, days);
  const sql = withKeptVisits(question, need, width, write);
  const added = sumColumns.map((column) => `toFloat64(sum(one.${column}))`);
  const ungrouped = { from: `(${sql}) AS one GROUP BY bucket`, bucket: 'toInt64(bucket)' };
  const groups = { sql, groups: width, limit: question.groupLimit, measure: sum };
  const rows =
    width === 0
      ? cellRowsSql(onlyPart, { ...ungrouped, numbers: added })
      : groupsRowsSql(
          onlyPart,
          rankedGroupsSql({ ...groups, numbers: sumColumns, weight: 'visits' }),
        );
  // All events that may be part of a visit.
  const around = { ...question, everyEvent: every, ...visitWindow(question) };
  const leftOut = leftOutSql(around, [{ condition: every, countsUsers: false }]);
  return groupedRowsSql([rows], leftOut, sumColumns.length);
}
