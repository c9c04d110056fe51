// A batch's rows, month by month, under the writer's verdict: rows without a session get theirs, dropped rows leave,
// the rest become one Arrow stream a month. It changes the months' columns and does not empty them.

import { createHash } from 'node:crypto';
import type { Int32Buffer } from '../columns/column-buffers.ts';
import type { Months } from '../columns/months.ts';
import type { MonthColumns } from '../columns/record-batch.ts';
import type { BuiltMonth, Verdict } from './thread-messages.ts';

/**
 * The months that have rows left, ascending. `sessionless` has the numbers of the rows without a session, ascending.
 * Throws where the verdict has not exactly one session for each of them.
 */
export function buildMonths(
  months: Months,
  sessionless: Int32Array,
  { dropped, sessions }: Verdict,
): BuiltMonth[] {
  if ((sessions?.length ?? 0) !== sessionless.length * 16) {
    throw new Error('build-batch: a verdict must have a session for each row without one');
  }
  const words = new Uint32Array(sessions?.buffer ?? new ArrayBuffer(0));
  const built: BuiltMonth[] = [];
  for (const [month, { columns, numbers }] of months.ascending()) {
    putSessions(columns, numbers, sessionless, words);
    if (dropped !== undefined) columns.keep(keptRows(numbers, dropped));
    const rows = columns.rows;
    if (rows === 0) continue;
    built.push({ month, rows, idsHash: hashIds(columns), arrow: columns.toArrowStream() });
  }
  return built;
}

/** `sessions` has four words for each of the `sessionless` rows of the whole batch, in row order. */
function putSessions(
  columns: MonthColumns,
  numbers: Int32Buffer,
  sessionless: Int32Array,
  sessions: Uint32Array,
): void {
  let at = 0;
  for (let row = 0; row < numbers.length; row++) {
    const number = numbers.array[row] ?? 0;
    while ((sessionless[at] ?? number) < number) at++;
    if (sessionless[at] === number) columns.putSession(row, sessions, at * 4);
  }
}

/** The indices, within their month, of the rows that the verdict does not drop. */
function keptRows(numbers: Int32Buffer, dropped: Uint8Array): Uint32Array {
  const kept = new Uint32Array(numbers.length);
  let count = 0;
  for (let row = 0; row < numbers.length; row++) {
    const number = numbers.array[row] ?? 0;
    if (((dropped[number >>> 3] ?? 0) & (1 << (number & 7))) === 0) kept[count++] = row;
  }
  return kept.subarray(0, count);
}

function hashIds(columns: MonthColumns): string {
  const hash = createHash('sha256');
  columns.updateHash(hash);
  return hash.digest('hex').slice(0, 32);
}
