// Which buckets of an answer were not over when it was given.

import { dayMs } from '../../../../../platform/clock.ts';
import type { Question } from '../../questions/question.ts';
import type { Tables } from '../tables.ts';
import { bucketTables } from './selection.ts';

export interface Bucket {
  start: number;
  stop: number;
}

/** The moment before which all is known. */
export function knownMs({ asOfMs }: Question, untilMs: number): number {
  return Math.min(untilMs, asOfMs ?? untilMs);
}

export async function bucketsOf(tables: Tables, question: Question): Promise<Bucket[]> {
  const rows = await tables.rows(
    `WITH ${bucketTables(question)} SELECT start, stop FROM buckets ORDER BY start`,
  );
  return rows.map(({ start, stop }) => ({ start: Number(start), stop: Number(stop) }));
}

/** When the first bucket begins that was not over; undefined where all were. */
export async function incompleteFrom(
  tables: Tables,
  question: Question,
  untilMs: number,
): Promise<number | undefined> {
  const buckets = await bucketsOf(tables, question);
  const known = knownMs(question, untilMs);
  return buckets.find(({ stop }) => !isOver(question, stop, known))?.start;
}

/** A visit that began before `stop` goes on at most to the end of the UTC day after. */
function isOver(
  { session, filterGroups = [], segments = [], notInSegments = [] }: Question,
  stop: number,
  known: number,
): boolean {
  const isEarly =
    session === undefined ||
    (session.metric === 'SESSIONS' &&
      session.scope === undefined &&
      filterGroups.length + segments.length + notInSegments.length === 0);
  if (isEarly) return stop <= known;
  const lastDay = Math.floor((stop - 1) / dayMs) + 1;
  return (lastDay + 1) * dayMs <= known;
}
