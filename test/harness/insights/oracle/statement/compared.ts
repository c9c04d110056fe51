// The range before, with which a question is compared.

import type { Question } from '../../questions/question.ts';
import type { Tables } from '../tables.ts';
import { text } from './literals.ts';
import { rangeMs } from './selection.ts';

const hourMs = 3_600_000;

/** The same question for the range before. The question's range is over. */
export async function questionBefore(tables: Tables, question: Question): Promise<Question> {
  const {
    compare = 'PREVIOUS_PERIOD',
    timezone = 'UTC',
    fromNanos: _,
    toNanos: __,
    ...same
  } = question;
  const { from, to } = rangeMs(question);
  const wall = (ms: number): string =>
    `timezone(${text(timezone)}, timezone('UTC', epoch_ms(CAST(${ms} AS BIGINT))))`;
  const moment = (local: string): string => `epoch_ms(timezone(${text(timezone)}, ${local}))`;
  const intervals = {
    PREVIOUS_PERIOD: '',
    PREVIOUS_WEEK: 'INTERVAL 7 DAY',
    PREVIOUS_MONTH: 'INTERVAL 1 MONTH',
    PREVIOUS_YEAR: 'INTERVAL 1 YEAR',
  };
  const of = { ...same, ...(question.timezone === undefined ? {} : { timezone }) };
  if (compare === 'PREVIOUS_PERIOD') {
    const [row = {}] =
      await tables.rows(`WITH ends AS (SELECT ${wall(from)} AS first, ${wall(to)} AS next)
      SELECT date_trunc('day', first) = first AND date_trunc('day', next) = next AS whole,
        ${moment(`first - to_days(CAST(date_diff('day', first, next) AS INTEGER))`)} AS start FROM ends`);
    const start = row['whole'] === true ? Number(row['start']) : from - (to - from);
    return { ...of, fromMs: start, toMs: from };
  }
  const interval = intervals[compare];
  const [row = {}] = await tables.rows(`SELECT ${moment(`${wall(from)} - ${interval}`)} AS start,
    ${moment(`${wall(to - 1)} - ${interval}`)} + 1 AS stop`);
  const [start, stop] = [Number(row['start']), Number(row['stop'])];
  if (stop <= start) return { ...of, fromMs: start, toMs: start + (to - from) };
  const days = Math.ceil((to - from - hourMs) / (24 * hourMs));
  if (stop - start <= (24 * days + 1) * hourMs) return { ...of, fromMs: start, toMs: stop };
  const [last = {}] = await tables.rows(
    `SELECT ${moment(`${wall(start)} + to_days(${days})`)} AS stop`,
  );
  return { ...of, fromMs: start, toMs: Number(last['stop']) };
}
