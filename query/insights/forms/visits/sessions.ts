// Questions about visits, as TRENDS and as SEGMENTATION: how many, how long, how many see one page only.

import { dayMs } from '../../../../platform/clock.ts';
import { SessionMetric } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { every } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { keepCells } from '../../sources/day-cells.ts';
import { mayKeepDays, type Need, sourceOf } from '../../sources/ladder.ts';
import { rawCellsSql } from '../../sources/visits/raw-visits.ts';
import { storedVisits } from '../../sources/visits/stored-visits.ts';
import {
  readVisits,
  sumColumns,
  type VisitMetric,
  type VisitRead,
  visitWindow,
} from '../../sources/visits/visit.ts';
import { type VisitDays, visitDays, visitDaysToKeep } from '../../sources/visits/visit-days.ts';
import { cellValue } from '../../sql/aggregation.ts';
import { added, rankedGroupsSql } from '../../sql/ranked-groups.ts';
import { bucketSql, groupColumns } from '../../sql/read-events.ts';
import {
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
import { averagedSeries } from '../series/moving-average.ts';

/** Throws invalid_argument. All metrics that ask for the same visits have the same statement. */
export function planSessions(question: Question): ValuesPlan {
  checkPoints(question, question.buckets.length);
  const read = readVisits(question);
  const { measure, partsOf } = read.metric;
  return {
    sql: planSql(question, read),
    maxRows: question.groupLimit + 1 + maxReasons,
    overMs: overMs(question),
    read: (rows) => {
      const groups = readGroups(question, rows);
      const values = groups.map((group) => valuesOf(group, measure, partsOf));
      return {
        series: averagedSeries(question, [{ kind: '', eventIndex: 0, groups: values }]),
        total: totalOf(groups, read.metric),
        leftOut: readLeftOut(rows, groups),
      };
    },
  };
}

/** Visits that began in a bucket may go on until the end of the next UTC day; their number alone is known before. */
function overMs({ spec, everyEvent }: Question): (endMs: number) => number {
  const { metric, scope } = spec.session ?? {};
  const isCount = metric === SessionMetric.SESSIONS && scope === undefined;
  if (isCount && everyEvent.kind === 'every') return (endMs) => endMs;
  return (endMs) => (Math.ceil(endMs / dayMs) + 1) * dayMs;
}

/** Each visit is in one group, so that the groups add up. */
function totalOf(groups: readonly Group[], { measure, partsOf }: VisitMetric): number {
  const parts = groups.flatMap(({ cells }) => [...cells.values()].map(partsOf));
  const [a, b] = parts.reduce(([oneA, oneB], [a, b]) => [oneA + a, oneB + b], [0, 0]);
  return cellValue(measure, a, b);
}

function planSql(question: Question, read: VisitRead): string {
  const stored = storedVisits(question, read);
  const need: Need = {
    ...{ count: 'visits', of: read.someEvent, edge: read.edgeEvent, groups: question.breakdowns },
    isOfVisitTables: stored !== undefined,
  };
  const isStored = sourceOf(question, need) === 'visits';
  const raw = (days: VisitDays): string => rawCellsSql(question, read, days);
  const sql = cellsSql(question, need, isStored && stored ? stored : raw);
  const ranked = rankedGroupsSql({
    ...{ sql, groups: question.breakdowns.length, limit: question.groupLimit, measure: added },
    ...{
      numbers: sumColumns,
      shown: sumColumns.map((sum) => `toFloat64(${sum})`),
      weight: 'visits',
    },
  });
  // All events that may be part of a visit.
  const around = { ...question, everyEvent: every, ...visitWindow(question) };
  const leftOut = leftOutSql(around, [{ condition: every, countsUsers: false }]);
  return groupedRowsSql([groupsRowsSql(onlyPart, ranked)], leftOut);
}

/**
 * The cells of the question's range. `write` is SQL of the columns of its breakdowns, and cellColumns of Int64. Past
 * days may be kept: a visit depends on the day on which it begins, on the day before it and on the day after it.
 */
function cellsSql(question: Question, need: Need, write: (days: VisitDays) => string): string {
  if (!mayKeepDays(question, need)) return write(visitDays(question, { unkept: false }));
  const by = [...groupColumns(question.breakdowns.length), 'bucket'].join(', ');
  // A group may have several rows: its visits may end with events of several kinds.
  const ofDays = `SELECT ${by}, toFloat64(sum(visits)) AS a, toFloat64(sum(duration_ms)) AS b,
      toFloat64(sum(bounces)) AS c, toFloat64(sum(events)) AS d
    FROM (${write(visitDaysToKeep)}) GROUP BY ${by}`;
  const kept = keepCells(question, ofDays, {
    ...{ width: question.breakdowns.length, reachDays: 1 },
    bucket: bucketSql(question, question.buckets, 'moment_ms'),
  });
  return `${write(visitDays(question, { unkept: true }))}
    UNION ALL SELECT ${by}, toInt64(a) AS visits, toInt64(b) AS duration_ms, toInt64(c) AS bounces, toInt64(d) AS events
    FROM (${kept})`;
}
