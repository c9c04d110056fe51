// Top K: the greatest groups by property value, kind or user.

import type { Question } from '../questions/question.ts';
import type { Part } from './answer.ts';
import { breakdownText, matches } from './statement/conditions.ts';
import { isInRange, presentEvents } from './statement/selection.ts';
import type { Row, Tables } from './tables.ts';
import { isPersonBased, measured, valueSql } from './trends.ts';

export async function topAnswer(tables: Tables, question: Question): Promise<Part> {
  const top = question.topK ?? { dimension: 'EVENT_KIND' };
  const dimension = {
    PROPERTY: () => breakdownText(top.property ?? ''),
    EVENT_KIND: () => 'kind',
    USER: () => 'person_id',
  }[top.dimension]();
  const needsUser = top.dimension === 'USER' || isPersonBased(top.metric);
  const limit = top.limit || 10;
  const rows = await tables.rows(`WITH ${presentEvents(question)},
    own AS (SELECT ${dimension} AS d, usr, ${measured(top.metric, top.metricProperty)} AS v FROM ev
      WHERE ${isInRange(question)} AND ${matches(question, top.scope)} ${needsUser ? 'AND usr IS NOT NULL' : ''}),
    groups AS (SELECT d, ${valueSql(top.metric)} AS value FROM own GROUP BY d),
    ranked AS (SELECT *, row_number() OVER (ORDER BY value DESC, d NULLS FIRST) AS place FROM groups),
    slotted AS (SELECT own.*, least(place, ${limit + 1}) AS slot FROM own
      JOIN ranked ON ranked.d IS NOT DISTINCT FROM own.d)
    SELECT slot, first(d) AS d, ${valueSql(top.metric)} AS value, (SELECT count(*) FROM ranked) AS groups
    FROM slotted GROUP BY slot ORDER BY slot`);
  const folded = Math.max(0, Number(rows[0]?.['groups'] ?? 0) - limit);
  const kept = rows.filter(({ slot }) => Number(slot) <= limit || top.omitOthers !== true);
  return {
    result: { topK: { rows: kept.map((row) => readRow(row, limit)) } },
    leftOut: { GROUPS_IN_OTHERS: folded },
  };
}

function readRow({ slot, d, value }: Row, limit: number): Record<string, unknown> {
  const isOthers = Number(slot) > limit;
  return {
    dimensionValue: isOthers || d === null ? '' : String(d),
    value: Number(value),
    isOthers,
    isAbsent: !isOthers && d === null,
  };
}
