// A batch's rows under the writer's verdict: rows without a session get theirs, dropped rows leave, the rest become one
// Arrow stream. It changes the columns and does not empty them.

import { createHash } from 'node:crypto';
import type { Int32Buffer } from '../columns/column-buffers.ts';
import { countPartitions } from '../columns/partitions.ts';
import type { EventColumns } from '../columns/record-batch.ts';
import type { BuiltRows, Verdict } from './thread-messages.ts';

/** Rows, and the number of each in its batch: verdicts name rows by it. */
export interface NumberedRows {
  readonly columns: EventColumns;
  readonly numbers: Int32Buffer;
}

/**
 * Undefined where no row is left. `sessionless` has the numbers of the rows without a session, ascending. Throws where
 * the verdict has not exactly one session for each of them.
 */
export function buildRows(
  { columns, numbers }: NumberedRows,
  sessionless: Int32Array,
  { dropped, sessions }: Verdict,
): BuiltRows | undefined {
  if ((sessions?.length ?? 0) !== sessionless.length * 16) {
    throw new Error('build-batch: a verdict must have a session for each row without one');
  }
  const words = new Uint32Array(sessions?.buffer ?? new ArrayBuffer(0));
  const numberOf = numbers.view();
  putSessions(columns, numberOf, sessionless, words);
  if (dropped !== undefined) columns.keep(keptRows(numberOf, dropped));
  const { rows } = columns;
  if (rows === 0) return undefined;
  const partitions = countPartitions(columns.occurTimes);
  return { rows, partitions, idsHash: hashIds(columns), arrow: columns.toArrowStream() };
}

/** `sessions` has four words for each of the `sessionless` rows of the whole batch, in row order. */
function putSessions(
  columns: EventColumns,
  numbers: Int32Array,
  sessionless: Int32Array,
  sessions: Uint32Array,
): void {
  let at = 0;
  for (let row = 0; row < numbers.length; row++) {
    const number = numbers[row] ?? 0;
    while ((sessionless[at] ?? number) < number) at++;
    if (sessionless[at] === number) columns.putSession(row, sessions, at * 4);
  }
}

/** The indices of the rows that the verdict does not drop. */
function keptRows(numbers: Int32Array, dropped: Uint8Array): Uint32Array {
  const kept = new Uint32Array(numbers.length);
  let count = 0;
  for (let row = 0; row < numbers.length; row++) {
    const number = numbers[row] ?? 0;
    if (((dropped[number >>> 3] ?? 0) & (1 << (number & 7))) === 0) kept[count++] = row;
  }
  return kept.subarray(0, count);
}

function hashIds(columns: EventColumns): string {
  const hash = createHash('sha256');
  columns.updateHash(hash);
  return hash.digest('hex').slice(0, 32);
}
