// Inserts records of attempts into webhook_attempts, as one block where the engine takes it. A row that the engine
// refuses for its content is found by halves and left out: no record blocks those behind it.

import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { ClickHouseClient } from '@clickhouse/client';
import { failureOf } from '../../platform/clickhouse/clickhouse.ts';
import type { AttemptRecord } from '../../platform/webhooks/attempt-record.ts';
import { rowOf } from './attempt-row.ts';

type Engine = Pick<ClickHouseClient, 'exec'>;

/**
 * Resolves once the rows are on disk, with the records that the engine refused. Throws the client's errors for all
 * other failures; then some rows may be there, and the same call inserts none of them twice.
 */
export async function insertAttempts(
  clickhouse: Engine,
  records: readonly AttemptRecord[],
): Promise<AttemptRecord[]> {
  if (records.length === 0) return [];
  try {
    await insertBlock(clickhouse, records);
    return [];
  } catch (error) {
    if (failureOf(error) !== 'reject') throw error;
    if (records.length === 1) return [...records];
    const middle = records.length >> 1;
    const first = await insertAttempts(clickhouse, records.slice(0, middle));
    return [...first, ...(await insertAttempts(clickhouse, records.slice(middle)))];
  }
}

async function insertBlock(clickhouse: Engine, records: readonly AttemptRecord[]): Promise<void> {
  const { stream } = await clickhouse.exec({
    query: 'INSERT INTO webhook_attempts FORMAT JSONEachRow',
    values: Readable.from([Buffer.from(records.map(rowOf).join('\n'))]),
    clickhouse_settings: {
      async_insert: 0,
      insert_deduplicate: 1,
      insert_deduplication_token: tokenOf(records),
      input_format_parallel_parsing: 0,
      wait_end_of_query: 1,
    },
  });
  let answer = '';
  for await (const chunk of stream) answer += chunk;
  if (answer !== '') throw new Error('ClickHouse answered an insert with more than its status');
}

/** The same for the same records in the same order: a try that was through and not answered is not repeated. */
function tokenOf(records: readonly AttemptRecord[]): string {
  const hash = createHash('sha256');
  for (const { attemptId } of records) hash.update(`${attemptId.length}:`).update(attemptId);
  return hash.digest('hex').slice(0, 32);
}
