// A read of the log that took too long: because it asked for too much, or because the machine is starved.

import { ConnectError } from '@connectrpc/connect';
import { expect, it } from 'vitest';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import { createLog } from '../../platform/log.ts';
import { createBoundedReads } from './bounded-reads.ts';

/** `counters`: seconds of all statements, on the processor and ready to run. */
async function failureWith(counters: number[]) {
  const clickhouse: RowReader = {
    select: ({ sql, signal }, onRow) =>
      new Promise((resolve, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
        if (!sql.includes('system.processes')) return;
        onRow(JSON.stringify(counters));
        resolve();
      }),
  };
  const { run } = createBoundedReads({ clickhouse, log: createLog('silent'), readMs: 500 });
  const statement = { sql: 'SELECT 1', params: {}, maxCharacters: 1 };
  const error = await run('org', (rowsOf) => rowsOf(statement)).catch(ConnectError.from);
  if (!(error instanceof ConnectError)) throw new Error('it has rows');
  return [error.rawMessage, error.metadata.get('retry-after')];
}

it('is told to ask for less where it had the processor, and else to ask again', async () => {
  const tooLarge = ['the read took too long: ask for a shorter range', null];
  expect(await failureWith([10, 9, 1])).toEqual(tooLarge);
  const busy = 'the service is busy, the read is not too large: ask again in 5 seconds';
  expect(await failureWith([10, 1, 9])).toEqual([busy, '5']);
});
