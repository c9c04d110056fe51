// Trends and segmentation: values of series and their groups, bucket by bucket or over the whole range.

import type { EventQuery, Question } from '../questions/question.ts';
import type { Part } from './part.ts';
import { matches } from './statement/conditions.ts';
import { formulaValue } from './statement/formulas.ts';
import { groupOf, othersCount, rankTables, readGroup } from './statement/groups.ts';
import { incompleteFrom } from './statement/incomplete.ts';
import {
  bucketKey,
  bucketTables,
  isInRange,
  presentEvents,
  rangeMs,
} from './statement/selection.ts';
import { isPersonBased, measured, readValue, valueSql } from './statement/values.ts';
import type { Row, Tables } from './tables.ts';

/** The common table `own`: each matching event with its group. */
function ownEvents(question: Question, series: EventQuery): string {
  const { aggregation, aggregationProperty } = series;
  const isPersons = isPersonBased(aggregation);
  const group = groupOf(question);
  return `${presentEvents(question)},
    matching AS (SELECT id, ts, usr, ${group} AS g, ${measured(aggregation, aggregationProperty)} AS v,
      ${bucketKey(question, 'ts')} AS key
      FROM ev WHERE ${isInRange(question)} AND ${matches(question, series.event)}
      ${isPersons ? 'AND usr IS NOT NULL' : ''}),
    touched AS (SELECT usr, first(g ORDER BY ts, id) AS g FROM matching GROUP BY usr),
    own AS (${
      isPersons && question.touch !== 'EVERY'
        ? 'SELECT m.* REPLACE (t.g AS g) FROM matching m JOIN touched t ON t.usr = m.usr'
        : 'SELECT * FROM matching'
    })`;
}

function weightsSql({ aggregation }: EventQuery): string {
  return `SELECT g, ${isPersonBased(aggregation) ? 'count(DISTINCT usr)' : 'count(*)'} AS weight FROM own GROUP BY g`;
}

/** The same, and `grouped` with the group's slot: with formulas, all series have the same groups. */
function groupedEvents(question: Question, series: EventQuery): string {
  const { formulas = [], events = [] } = question;
  const each = events.map((one) => `(WITH ${ownEvents(question, one)} ${weightsSql(one)})`);
  const weights =
    formulas.length === 0
      ? weightsSql(series)
      : `SELECT g, sum(weight) AS weight FROM (${each.map((one) => `SELECT * FROM ${one}`).join(' UNION ALL ')}) GROUP BY g`;
  return `${ownEvents(question, series)},
    ${rankTables(question, weights)},
    grouped AS (SELECT own.*, slot FROM own JOIN slots_of ON slots_of.g = own.g)`;
}

/** What is counted over more than each bucket, one look for each; undefined where the series has none. */
function windowRows(question: Question, series: EventQuery) {
  const { event, aggregation = 'TOTAL', rollingDays = 0 } = series;
  const days = rollingDays || question.rollingDays || 1;
  const isOfUsers = aggregation === 'UNIQUE_USERS';
  const addsUp = isOfUsers || aggregation === 'TOTAL' || aggregation === 'SUM';
  const isWindow = question.cumulative === true ? addsUp : isOfUsers && days > 1;
  if (!isWindow) return undefined;
  const number = measured(aggregation, series.aggregationProperty);
  const value = isOfUsers
    ? 'count(DISTINCT usr)'
    : aggregation === 'SUM'
      ? `list(${number}) FILTER (WHERE ${number} IS NOT NULL)`
      : 'count(*)::DOUBLE';
  const { from, to } = rangeMs(question);
  const first = question.cumulative
    ? `${from}`
    : `(SELECT o.start FROM numbered o WHERE o.n = b.n - ${days - 1})`;
  return `WITH ${presentEvents(question)}, ${bucketTables(question, days)},
    numbered AS (SELECT row_number() OVER (ORDER BY start) AS n, start, stop FROM all_buckets)
    SELECT 1 AS slot, []::VARCHAR[] AS g, b.start AS start, (SELECT ${value} FROM ev
      WHERE ${matches(question, event)} AND ts >= ${first} AND ts < least(b.stop, ${to})) AS value
    FROM numbered b WHERE b.stop > ${from} AND b.start < ${to} ORDER BY b.start`;
}

async function seriesOf(
  tables: Tables,
  question: Question,
  series: EventQuery,
): Promise<{ rows: Row[]; groups: number }> {
  const isBroken = (question.breakdowns ?? []).length > 0;
  const slots = isBroken
    ? 'SELECT slot, first(g) AS g FROM grouped GROUP BY slot'
    : 'SELECT 1 AS slot, []::VARCHAR[] AS g';
  const value = valueSql(series.aggregation);
  const head = `WITH ${groupedEvents(question, series)}`;
  const window = windowRows(question, series);
  if (window !== undefined) return { rows: await tables.rows(window), groups: 0 };
  const statement =
    question.type === 'TRENDS'
      ? `${head}, ${bucketTables(question)}, places AS (${slots}),
          counted AS (SELECT slot, key, ${value} AS value FROM grouped GROUP BY slot, key)
        SELECT places.slot, g, start, value, (SELECT count(*) FROM ranked) AS groups
        FROM places CROSS JOIN buckets
        LEFT JOIN counted ON counted.slot = places.slot AND counted.key = buckets.key
        ORDER BY places.slot, start`
      : `${head}, places AS (${slots}),
          counted AS (SELECT slot, ${value} AS value FROM grouped GROUP BY slot)
        SELECT places.slot, g, value, (SELECT count(*) FROM ranked) AS groups
        FROM places LEFT JOIN counted ON counted.slot = places.slot ORDER BY places.slot`;
  const rows = await tables.rows(statement);
  return { rows, groups: Number(rows[0]?.['groups'] ?? 0) };
}

/** One of each series and group; a segmentation has one point, which has no start. */
interface Answered {
  series: AnsweredGroup[];
  others: number;
}

interface AnsweredGroup {
  head: Record<string, unknown>;
  slot: number;
  points: [start: number, value: number | undefined][];
}

async function answered(tables: Tables, question: Question): Promise<Answered> {
  const { events = [], formulas = [] } = question;
  const series: AnsweredGroup[][] = [];
  const others: number[] = [];
  for (const [eventIndex, query] of events.entries()) {
    const { rows, groups } = await seriesOf(tables, question, query);
    others.push(othersCount(question, groups));
    series.push(
      bySlot(rows).map((slotRows) => ({
        head: {
          ...{ eventKind: query.event?.kind ?? '', eventIndex },
          ...readGroup(question, slotRows[0] ?? {}),
        },
        slot: Number(slotRows[0]?.['slot']),
        points: slotRows.map(({ start, value }) => [
          Number(start ?? 0),
          readValue(value, query.aggregation),
        ]),
      })),
    );
  }
  const made = formulas.map((formula, index) => formulaGroups(formula, index, series));
  return {
    series: [...series, ...made].flat(),
    others: formulas.length === 0 ? others.reduce((sum, one) => sum + one, 0) : Math.max(...others),
  };
}

function formulaGroups(
  { expression }: { expression: string },
  formulaIndex: number,
  series: readonly (readonly AnsweredGroup[])[],
): AnsweredGroup[] {
  const slots = new Map(series.flat().map((group) => [group.slot, group]));
  return [...slots.values()]
    .toSorted((one, other) => one.slot - other.slot)
    .map(({ slot, head, points }) => ({
      slot,
      head: { ...head, eventKind: '', eventIndex: 0, formulaIndex },
      points: points.map(([start], place) => [
        start,
        formulaValue(
          expression,
          series.map((groups) => groups.find((one) => one.slot === slot)?.points[place]?.[1] ?? 0),
        ),
      ]),
    }));
}

export async function trendsAnswer(
  tables: Tables,
  question: Question,
  untilMs: number,
): Promise<Part> {
  const { series, others } = await answered(tables, question);
  const incomplete = await incompleteFrom(tables, question, untilMs);
  const shown = series.map(({ head, points }) => ({ ...head, points, incompleteFrom: incomplete }));
  return { result: { trends: { series: shown } }, leftOut: { GROUPS_IN_OTHERS: others } };
}

export function bySlot(rows: readonly Row[]): Row[][] {
  const slots = new Map<number, Row[]>();
  for (const row of rows) {
    const slot = Number(row['slot']);
    slots.set(slot, [...(slots.get(slot) ?? []), row]);
  }
  return [...slots.values()];
}

export async function segmentationAnswer(tables: Tables, question: Question): Promise<Part> {
  const { series: all, others } = await answered(tables, question);
  const series = all.map(({ head, points }) => ({ ...head, value: points[0]?.[1] }));
  const whole = { ...question, breakdowns: [] };
  const [first = {}] = question.events ?? [];
  const { rows } = await seriesOf(tables, whole, first);
  return {
    result: { segmentation: { total: readValue(rows[0]?.['value'], first.aggregation), series } },
    leftOut: { GROUPS_IN_OTHERS: others },
  };
}
