// Questions about visits, as TRENDS and as SEGMENTATION: how many, how long, how many see one page only.

import { create } from '@bufbuild/protobuf';
import {
  SegmentationResultSchema,
  SessionMetric,
  TrendsResultSchema,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { every } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { numberOf } from '../../read/rows.ts';
import { sourceOf } from '../../sources/ladder.ts';
import { cellValue } from '../../sql/aggregation.ts';
import type { Measure } from '../../sql/ranked-groups.ts';
import { groupColumn } from '../../sql/read-events.ts';
import { leftOutPart, readLeftOut, rowsOfPart } from '../grouped-rows.ts';
import { leftOutSql } from '../left-out.ts';
import type { LeftOutCount, Plan } from '../plan.ts';
import { checkPoints, readGroups, type SeriesGroup } from '../series/series.ts';
import { pointsOf } from '../series/trends.ts';
import { withKeptVisits } from './kept-visits.ts';
import { rawVisitsSql } from './raw-visits.ts';
import { storedVisits, visitsNeed } from './stored-visits.ts';
import { readVisits, type VisitRead, visitWindow } from './visit.ts';
import { type VisitDays, visitDays } from './visit-days.ts';
import { cellType, type VisitCells, visitGroupsSql } from './visit-groups.ts';

/** The parts of a cell, in the order of cellColumns. */
interface CellParts {
  visits: number;
  durationMs: number;
  bounces: number;
  events: number;
}

/** What a metric makes of a cell: a number, or one divided by another. */
interface VisitMetric {
  a: (parts: CellParts) => number;
  b: (parts: CellParts) => number;
  measure: Measure;
}

const visitsOf = ({ visits }: CellParts): number => visits;
const count: VisitMetric = {
  a: visitsOf,
  b: () => 0,
  measure: { combine: 'sum', isRatio: false },
};
const ratio: Measure = { combine: 'sum', isRatio: true };

const metrics: Readonly<Record<SessionMetric, VisitMetric>> = {
  [SessionMetric.UNSPECIFIED]: count,
  [SessionMetric.SESSIONS]: count,
  [SessionMetric.ENTRY]: count,
  [SessionMetric.EXIT]: count,
  [SessionMetric.AVG_DURATION]: {
    a: ({ durationMs }) => durationMs,
    b: ({ visits }) => 1_000 * visits,
    measure: ratio,
  },
  [SessionMetric.BOUNCE_RATE]: { a: ({ bounces }) => bounces, b: visitsOf, measure: ratio },
  [SessionMetric.AVG_EVENTS_PER_SESSION]: {
    a: ({ events }) => events,
    b: visitsOf,
    measure: ratio,
  },
};

/** Throws invalid_argument. */
export function planSessions(question: Question, form: 'trends' | 'segmentation'): Plan {
  checkPoints(question, question.buckets.length);
  const read = readVisits(question);
  const metric = metrics[question.spec.session?.metric ?? SessionMetric.UNSPECIFIED];
  const stored = storedVisits(question, read);
  const { cells, parts, part, ...joint } = stored ?? {
    cells: { sql: rawCells(question, read), groups: question.breakdowns.length },
    ...{ part: 0, parts: 1 },
  };
  return {
    sql: planSql(question, cells),
    // Only one part has no groups.
    maxRows: Math.max(parts * (question.groupLimit + 1), question.buckets.length) + 2,
    ...joint,
    read: (rows) => {
      const { groups, total, leftOut } = readRows(question, metric, part, rows);
      return { result: resultOf(question, form, groups, total), leftOut };
    },
  };
}

/** The same for all metrics that ask for the same visits: questions asked at once are one statement. */
function planSql(question: Question, cells: Pick<VisitCells, 'sql' | 'groups'>): string {
  const groups = visitGroupsSql({ ...cells, limit: question.groupLimit });
  const counted = [{ condition: every, countsUsers: false }];
  const leftOut = leftOutSql(everythingAround(question), counted).map(
    (
      sql,
    ) => `SELECT toInt32(${leftOutPart}) AS part, toUInt64(reason) AS place, emptyArrayString() AS values,
      CAST([], 'Array(${cellType})') AS cells, toUInt64(left_out) AS folded FROM (${sql})`,
  );
  return [groups, ...leftOut].join(' UNION ALL ');
}

function rawCells(question: Question, read: VisitRead): string {
  const cells = (days: VisitDays): string => rawCellsSql(question, read, days);
  const need = visitsNeed(question, read, undefined);
  if (sourceOf({}, need) !== 'kept_cells') return cells(visitDays(question));
  const width = question.breakdowns.length;
  return withKeptVisits(question, { width, series: [{ width, sql: cells }], sql: cells });
}

function rawCellsSql(question: Question, read: VisitRead, days: VisitDays): string {
  const by = [...question.breakdowns.map((_, index) => groupColumn(index)), 'bucket'].join(', ');
  return `SELECT 0 AS part, ${by}, toInt64(count()) AS visits,
      sum(toUnixTimestamp64Milli(last_time) - toUnixTimestamp64Milli(occur_time)) AS duration_ms,
      toInt64(countIf(visit.is_bounce)) AS bounces, toInt64(sum(visit.events)) AS events
    FROM (SELECT *, ${days.bucket} AS bucket FROM (${rawVisitsSql(question, read, days)})) AS visit GROUP BY ${by}`;
}

/** All events that may be part of a visit. */
function everythingAround(question: Question): Question {
  return {
    ...question,
    everyEvent: every,
    ...visitWindow(question),
  };
}

function readRows(
  question: Question,
  { a, b, measure }: VisitMetric,
  part: number,
  rows: readonly unknown[][],
): { groups: SeriesGroup[]; total: number; leftOut: LeftOutCount[] } {
  // Each visit is in one group, so that the groups add up.
  let [wholeA, wholeB] = [0, 0];
  const measured = rowsOfPart(rows, part).map(([place, values, cells, folded]) => {
    const read = readCells(cells).map(({ bucket, parts }) => {
      const cell = [bucket, a(parts), b(parts)] as const;
      wholeA += cell[1];
      wholeB += cell[2];
      return cell;
    });
    return [place, values, read, folded];
  });
  const groups = readGroups(question, { aggregation: { measure } }, measured);
  return {
    groups,
    total: cellValue(measure, wholeA, wholeB),
    leftOut: readLeftOut(rows, groups),
  };
}

function readCells(cells: unknown): { bucket: unknown; parts: CellParts }[] {
  if (!Array.isArray(cells)) return [];
  return cells.map(([bucket, visits, durationMs, bounces, events]) => ({
    bucket,
    parts: {
      visits: numberOf(visits),
      durationMs: numberOf(durationMs),
      bounces: numberOf(bounces),
      events: numberOf(events),
    },
  }));
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
