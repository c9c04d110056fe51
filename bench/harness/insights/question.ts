// A question as the bench of insights asks it three times: of InsightsService.Query, and as hand-written SQL of one of
// two layouts. All three give the same rows.

import type { JsonObject } from '../../../platform/json.ts';
import type { Layout } from './layout.ts';

/** The time of a question; moments in milliseconds. */
export interface Asked {
  fromMs: number;
  toMs: number;
  timezone: string;
}

/** A row of an answer, each column as text; a number as JavaScript writes it. */
export type AnswerRow = readonly string[];

export interface Question {
  name: string;
  /** Past days of it are kept, or summed up as events come in; others are counted from rows of events each time. */
  daysAreKept: boolean;
  /** Of the 60 days, the last so many. */
  days: number;
  /** Calls of Query whose answers together are the answer: granularity and spec of each. */
  queries: readonly { granularity: string; spec: JsonObject }[];
  /** The answer is a page of the persons behind the number of its only query that `point` names. */
  persons?: { point(asked: Asked): JsonObject; pageSize: number };
  /** The plainest statement for the same answer. */
  sql(layout: Layout, asked: Asked): string;
  /** The rows of the answers of `queries`, in any order. */
  rowsOf(answers: readonly JsonObject[]): AnswerRow[];
}

/** The condition on time and project. */
export function within(layout: Layout, { fromMs, toMs }: Pick<Asked, 'fromMs' | 'toMs'>): string {
  const { ofProject, time } = layout;
  return `${ofProject} AND ${time} >= fromUnixTimestamp64Milli(${fromMs}) AND ${time} < fromUnixTimestamp64Milli(${toMs})`;
}

/** The bucket of a day as seconds since the epoch. */
export function dayOf(layout: Layout, { timezone }: Asked): string {
  return `toUnixTimestamp(toStartOfDay(${layout.time}, '${timezone}'))`;
}
