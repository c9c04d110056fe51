// Moving averages, by their definition: the same question with as many buckets before, of whose points each is the mean
// of those that end with it. Formulas are made of the means.

import type { Question } from '../../questions/question.ts';
import type { Part } from '../part.ts';
import type { Tables } from '../tables.ts';
import { formulaValue } from './formulas.ts';
import { bucketTables, rangeMs } from './selection.ts';

type Point = [start: number, value: number | undefined];

interface Series {
  points: Point[];
  incompleteFrom?: number | undefined;
  eventIndex: number;
  formulaIndex?: number;
  breakdown: unknown;
  isOthers: unknown;
  currency?: unknown;
}

const hourMs = 3_600_000;
/** No bucket is longer. */
const longestMs = {
  ...{ MINUTE: 60_000, HOUR: hourMs, DAY: 25 * hourMs },
  ...{ WEEK: 7 * 25 * hourMs, MONTH: 31 * 25 * hourMs },
};

/** `answerOf` answers questions without averages. */
export async function averagedAnswer(
  tables: Tables,
  question: Question,
  answerOf: (asked: Question) => Promise<Part>,
): Promise<Part> {
  const { movingAverage: count = 0, ...own } = question;
  const { from } = rangeMs(question);
  const moreMs = count * longestMs[question.granularity ?? 'DAY'];
  const starts = await tables.rows(`WITH ${bucketTables(own, 1, moreMs)}
    SELECT start FROM all_buckets WHERE start <= ${from} ORDER BY start DESC LIMIT ${count}`);
  if (starts.length !== count) throw new Error('the oracle lacks buckets before the range');
  const fromMs = Number(starts.at(-1)?.['start']);
  const { result, leftOut } = await answerOf({ ...own, fromMs, fromNanos: 0, askedFromMs: from });
  const averaged = Object.entries(result).map(([form, value]) => [
    form,
    { series: ofMeans(question, seriesIn(value), count) },
  ]);
  return { result: Object.fromEntries(averaged), leftOut };
}

function seriesIn(value: unknown): Series[] {
  if (typeof value !== 'object' || value === null || !('series' in value)) return [];
  const { series } = value;
  return Array.isArray(series) ? series : [];
}

function ofMeans({ formulas = [] }: Question, all: Series[], count: number): Series[] {
  const shown = all.map((series) => {
    const points = series.points.slice(count - 1).map(([start], place): Point => {
      const window = series.points.slice(place, place + count);
      return [start, window.reduce((sum, [, value = 0]) => sum + value, 0) / count];
    });
    const [first] = points;
    const { incompleteFrom: since } = series;
    const incompleteFrom = since === undefined ? since : Math.max(since, first?.[0] ?? 0);
    return { ...series, points, incompleteFrom };
  });
  const groupOf = ({ breakdown, isOthers, currency }: Series): string =>
    JSON.stringify([breakdown, isOthers, currency]);
  return shown.map((series) => {
    const { formulaIndex: place } = series;
    if (place === undefined) return series;
    const parts = shown.filter(
      (one) => one.formulaIndex === undefined && groupOf(one) === groupOf(series),
    );
    const at = (index: number, point: number): number =>
      parts.find((one) => one.eventIndex === index)?.points[point]?.[1] ?? 0;
    const letters = Array.from({ length: 10 }, (_, index) => index);
    const points = series.points.map(([start], point): Point => {
      const values = letters.map((index) => at(index, point));
      return [start, formulaValue(formulas[place]?.expression ?? '', values)];
    });
    return { ...series, points };
  });
}
