// The rows of a statement over held days: who was merged or deleted, and what the days that are not held have.

import { keyBytesSql } from '../../identity/identity-sql.ts';
import { deletedSql, mergedIdsSql } from '../events/persons.ts';
import type { Question } from '../question/question.ts';
import { packPairsSql, packSql } from './packed-words.ts';

/** As the texts of packed-words.ts. */
export interface Identities {
  /** Pairs of the key of a merged profile, each once, and of its root, whose own events stay with it. */
  merged: string;
  /** Keys of deleted persons: who is merged into one is nobody, too. */
  deleted: string;
}

/** The parts of these rows. No other row of a statement has one below the first of them. */
const othersPart = -1_001;
const mergedPart = -1_002;
const deletedPart = -1_003;

/** How the rows of a statement carry a text. */
export interface TextRows {
  /** SQL of all columns after the part, over the column text. */
  columns: string;
  textOf(row: readonly unknown[]): unknown;
}

/** SELECTs of one row each; `others` is one of the packed text of what is not held. */
export function heldRowsSql(
  { project, hasDeletions }: Pick<Question, 'project' | 'hasDeletions'>,
  others: string,
  { columns }: TextRows,
): string[] {
  const [key, root] = [keyBytesSql('profile_id'), keyBytesSql('root_id')];
  const texts = [
    { part: othersPart, sql: others },
    { part: mergedPart, sql: `SELECT ${packPairsSql(key, root)} AS text ${mergedIdsSql(project)}` },
    ...(hasDeletions
      ? [{ part: deletedPart, sql: `SELECT ${packSql(key)} AS text FROM ${deletedSql(project)}` }]
      : []),
  ];
  return texts.map(({ part, sql }) => `SELECT toInt32(${part}) AS part, ${columns} FROM (${sql})`);
}

export interface HeldRows {
  others: string;
  identities: Identities;
  /** All other rows. */
  rest: unknown[][];
}

/** Of rows that begin with their part. */
export function readHeldRows(rows: readonly unknown[][], { textOf }: TextRows): HeldRows {
  const texts = new Map<number, string>();
  const rest: unknown[][] = [];
  for (const row of rows) {
    const part = Number(row[0]);
    if (part > othersPart) rest.push(row);
    else texts.set(part, String(textOf(row)));
  }
  const text = (part: number): string => texts.get(part) ?? '';
  const identities = { merged: text(mergedPart), deleted: text(deletedPart) };
  return { others: text(othersPart), identities, rest };
}
