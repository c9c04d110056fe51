// Trends and segmentation: values of series and their groups, bucket by bucket or over the whole range.

import type { EventQuery, Question } from '../questions/question.ts';
import type { Part } from './part.ts';
import { matches } from './statement/conditions.ts';
import { groupOf, othersCount, rankTables, readGroup } from './statement/groups.ts';
import { bucketKey, bucketTables, isInRange, presentEvents } from './statement/selection.ts';
import { isPersonBased, measured, readValue, valueSql } from './statement/values.ts';
import type { Row, Tables } from './tables.ts';

/** The common tables `own` (each matching event with its group) and `grouped` (with the group's slot). */
function groupedEvents(question: Question, series: EventQuery): string {
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
      isPersons
        ? 'SELECT m.* REPLACE (t.g AS g) FROM matching m JOIN touched t ON t.usr = m.usr'
        : 'SELECT * FROM matching'
    }),
    ${rankTables(question, `SELECT g, ${isPersons ? 'count(DISTINCT usr)' : 'count(*)'} AS weight FROM own GROUP BY g`)},
    grouped AS (SELECT own.*, slot FROM own JOIN slots_of ON slots_of.g = own.g)`;
}

async function seriesOf(
  tables: Tables,
  question: Question,
  series: EventQuery,
): Promise<{ rows: Row[]; groups: number }> {
  const isBroken = (question.breakdowns ?? []).length > 0;
  const slots = isBroken
    ? 'SELECT slot, first(g) AS g FROM slots_of GROUP BY slot'
    : 'SELECT 1 AS slot, []::VARCHAR[] AS g';
  const value = valueSql(series.aggregation);
  const head = `WITH ${groupedEvents(question, series)}`;
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

export async function trendsAnswer(tables: Tables, question: Question): Promise<Part> {
  const series: Record<string, unknown>[] = [];
  let others = 0;
  for (const [eventIndex, query] of (question.events ?? []).entries()) {
    const { rows, groups } = await seriesOf(tables, question, query);
    others += othersCount(question, groups);
    for (const slotRows of bySlot(rows)) {
      series.push({
        eventKind: query.event?.kind ?? '',
        eventIndex,
        ...readGroup(question, slotRows[0] ?? {}),
        points: slotRows.map(({ start, value }) => [
          Number(start),
          readValue(value, query.aggregation),
        ]),
      });
    }
  }
  return { result: { trends: { series } }, leftOut: { GROUPS_IN_OTHERS: others } };
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
  const series: Record<string, unknown>[] = [];
  let others = 0;
  const events = question.events ?? [];
  for (const [eventIndex, query] of events.entries()) {
    const { rows, groups } = await seriesOf(tables, question, query);
    others += othersCount(question, groups);
    for (const row of rows) {
      series.push({
        eventKind: query.event?.kind ?? '',
        eventIndex,
        ...readGroup(question, row),
        value: readValue(row['value'], query.aggregation),
      });
    }
  }
  const whole = { ...question, breakdowns: [] };
  const [first = {}] = events;
  const { rows } = await seriesOf(tables, whole, first);
  return {
    result: { segmentation: { total: readValue(rows[0]?.['value'], first.aggregation), series } },
    leftOut: { GROUPS_IN_OTHERS: others },
  };
}
