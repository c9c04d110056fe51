// The statements that this reader has run in this project: in this browser alone, the newest first.

import { keepText, keptText } from '../browser/kept-text.ts';

export interface PastStatement {
  sql: string;
  atMs: number;
  /** Of its newest answer; null where it was a file. */
  rows: number | null;
}

const maxKept = 50;
/** A longer one is run and not kept: the browser keeps some millions of characters for all. */
const maxCharacters = 20_000;

/** Each statement stands once. */
export function withStatement(
  past: readonly PastStatement[],
  newest: PastStatement,
): readonly PastStatement[] {
  if (newest.sql.length > maxCharacters) return past;
  return [newest, ...past.filter(({ sql }) => sql !== newest.sql)].slice(0, maxKept);
}

/** Of a text that `JSON.stringify` made of them; none where it is anything else. */
export function readPast(text: string | null): readonly PastStatement[] {
  try {
    const list: unknown = JSON.parse(text ?? '[]');
    return Array.isArray(list) ? list.filter(isPast).slice(0, maxKept) : [];
  } catch {
    return [];
  }
}

function isPast(one: unknown): one is PastStatement {
  if (typeof one !== 'object' || one === null) return false;
  const { sql, atMs, rows }: Partial<Record<keyof PastStatement, unknown>> = one;
  return (
    typeof sql === 'string' &&
    typeof atMs === 'number' &&
    (rows === null || typeof rows === 'number')
  );
}

/** Of this reader in this project: others who use the browser see none of them. */
export function historyKey(personId: string, projectId: string): string {
  return `millrace-sql ${personId} ${projectId}`;
}

export function loadPast(key: string): readonly PastStatement[] {
  return readPast(keptText(key));
}

export function keepPast(key: string, past: readonly PastStatement[]): void {
  keepText(key, past.length === 0 ? undefined : JSON.stringify(past));
}
