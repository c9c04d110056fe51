// Top K: the greatest groups by property value, kind or user.

import type { Question } from '../questions/question.ts';
import type { Part } from './part.ts';
import { breakdownText, matches } from './statement/conditions.ts';
import { text } from './statement/literals.ts';
import { isInRange, presentEvents } from './statement/selection.ts';
import { isPersonBased, measured, readValue, valueSql } from './statement/values.ts';
import type { Row, Tables } from './tables.ts';

export async function topAnswer(tables: Tables, question: Question): Promise<Part> {
  const top = question.topK ?? { dimension: 'EVENT_KIND' };
  const dimension = {
    PROPERTY: () => breakdownText(question, top.property ?? ''),
    EVENT_KIND: () => 'kind',
    USER: () => 'person_id',
  }[top.dimension]();
  const needsUser = top.dimension === 'USER' || isPersonBased(top.metric);
  const limit = top.limit || 10;
  const own = `WITH ${presentEvents(question)},
    own AS (SELECT ${dimension} AS d, usr, ${measured(top.metric, top.metricProperty)} AS v FROM ev
      WHERE ${isInRange(question)} AND ${matches(question, top.scope)} ${needsUser ? 'AND usr IS NOT NULL' : ''})`;
  const value = (row: Row | undefined): number => readValue(row?.['value'], top.metric);
  const groups = await tables.rows(`${own} SELECT d, ${valueSql(top.metric)} AS value FROM own
    GROUP BY d ORDER BY d NULLS FIRST`);
  // The sort leaves equal values in the order of their names.
  const ranked = groups.toSorted((one, other) => compare(value(other), value(one)));
  const rows = ranked.slice(0, limit).map((row) => readRow(row['d'], value(row)));
  const others = ranked.slice(limit).map(({ d }) => d);
  if (others.length > 0 && top.omitOthers !== true) {
    const names = others.flatMap((d) => (d === null ? [] : [text(String(d))]));
    const isOther = `(d IN (${names.join(', ') || 'NULL'})${others.includes(null) ? ' OR d IS NULL' : ''})`;
    const [row] = await tables.rows(
      `${own} SELECT ${valueSql(top.metric)} AS value FROM own WHERE ${isOther}`,
    );
    rows.push({ dimensionValue: '', value: value(row), isOthers: true, isAbsent: false });
  }
  return { result: { topK: { rows } }, leftOut: { GROUPS_IN_OTHERS: others.length } };
}

function readRow(d: unknown, value: number) {
  const isAbsent = d === null;
  return { dimensionValue: isAbsent ? '' : String(d), value, isOthers: false, isAbsent };
}

/** Equal infinities, too. */
function compare(one: number, other: number): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}
