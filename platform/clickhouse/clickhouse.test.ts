import { setMaxListeners } from 'node:events';
import { Int64, Table, tableToIPC, vectorFromArray } from 'apache-arrow';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ownPort } from '../../test/harness/listen.ts';
import { inDatabase } from '../../test/harness/servers/engine.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { createLog } from '../log.ts';
import { createClickHouse, type DatabaseClient, failureOf, insertArrow } from './clickhouse.ts';
import { collectRows } from './select-rows.ts';

const log = createLog('silent');
const engine = useEngine({ migrated: false });
let client: DatabaseClient;
beforeAll(async () => {
  client = createClickHouse(inDatabase(engine.url, 'default'), { log, maxConnections: 4 });
});
afterAll(async () => {
  await client.close();
});

async function failureOfCall(call: Promise<unknown>): Promise<{ code: string; meaning: string }> {
  try {
    await call;
  } catch (error) {
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : '';
    return { code: String(code), meaning: failureOf(error) };
  }
  throw new Error('the call did not fail');
}

const command = (query: string): Promise<unknown> => client.command({ query });
const numbers = (values: bigint[]): Uint8Array =>
  tableToIPC(new Table({ n: vectorFromArray(values, new Int64()) }), 'stream');

it('gives up a statement that sends nothing within the timeout', async () => {
  const options = { log, maxConnections: 1, requestTimeoutMs: 100 };
  const impatient = createClickHouse(inDatabase(engine.url, 'default'), options);
  await expect(impatient.command({ query: 'SELECT sleep(1)' })).rejects.toThrow('Timeout');
  await impatient.close();
});

describe('a failure', () => {
  it.each([
    ['broken syntax', 'SELEC', '62'],
    ['an unknown column', 'SELECT nope', '47'],
    ['an unknown setting', 'SELECT 1 SETTINGS nope = 1', '115'],
    ['text that is no number', "SELECT toInt64('x')", '6'],
    ['an unsupported statement', 'SET a = 1', '48'],
  ])('by %s is to be rejected', async (_, query, code) => {
    expect(await failureOfCall(command(query))).toEqual({ code, meaning: 'reject' });
  });

  it('of rows for more partitions than one statement may have is to be rejected', async () => {
    await command('CREATE TABLE split (n Int64) ENGINE = MergeTree PARTITION BY n ORDER BY n');
    const values = Array.from({ length: 150 }, (_, n) => BigInt(n));
    const insert = command('INSERT INTO split SELECT number FROM numbers(150)');
    expect(await failureOfCall(insert)).toEqual({ code: '252', meaning: 'reject' });
    // An insert of the pipeline may have as many as it has rows.
    await insertArrow(client, 'split', numbers(values), 'a');
  });

  it('of a table with too many parts, which has the same code, is to be retried', async () => {
    await command(`CREATE TABLE busy (n Int64) ENGINE = MergeTree ORDER BY n
      SETTINGS parts_to_throw_insert = 1, parts_to_delay_insert = 1, max_delay_to_insert = 1`);
    await command('SYSTEM STOP MERGES busy');
    await insertArrow(client, 'busy', numbers([1n]), 'a');
    await insertArrow(client, 'busy', numbers([2n]), 'b').catch(() => {});
    const call = insertArrow(client, 'busy', numbers([3n]), 'c');
    expect(await failureOfCall(call)).toEqual({ code: '252', meaning: 'retry' });
  });

  it('of a table that is not there yet is to be retried', async () => {
    const call = insertArrow(client, 'later', numbers([1n]), 'a');
    expect(await failureOfCall(call)).toEqual({ code: '60', meaning: 'retry' });
  });

  it('of a statement that needs too much memory or time is to be retried', async () => {
    const greedy = 'SELECT length(groupArray(number)) FROM numbers(1000000000)';
    expect(await failureOfCall(command(greedy))).toEqual({ code: '241', meaning: 'retry' });
    const slow = 'SELECT sleepEachRow(1) FROM numbers(3) SETTINGS max_execution_time = 0.1';
    expect(await failureOfCall(command(slow))).toEqual({ code: '159', meaning: 'retry' });
  });

  it('of a server that is not there is to be retried', async () => {
    const url = `http://127.0.0.1:${await ownPort()}/x`;
    const nobody = createClickHouse(url, { log, maxConnections: 1 });
    const call = nobody.command({ query: 'SELECT 1' });
    expect(await failureOfCall(call)).toEqual({ code: 'ECONNREFUSED', meaning: 'retry' });
    expect(await nobody.isReady()).toBe(false);
    await nobody.close();
  });

  it('of anything else is to be retried', () => {
    expect(failureOf(new Error('Timeout error.'))).toBe('retry');
    expect(failureOf('what')).toBe('retry');
  });
});

describe('readiness', () => {
  it('is true when the database answers, false when there is none or no answer', async () => {
    await expect.poll(() => client.isReady()).toBe(true);
    const elsewhere = createClickHouse(engine.url, { log, maxConnections: 1 });
    expect(elsewhere.database).toBe('millrace');
    expect(await elsewhere.isReady()).toBe(false);
    await elsewhere.close();
    engine.pause();
    expect(await client.isReady()).toBe(false);
    engine.resume();
    await expect.poll(() => client.isReady()).toBe(true);
  });

  it('does not wait for reads, however many there are and however long they take', async () => {
    const busy = createClickHouse(inDatabase(engine.url, 'default'), { log, maxConnections: 64 });
    await expect.poll(() => client.isReady()).toBe(true);
    const ending = new AbortController();
    const { signal } = ending;
    const longReads = 32;
    // One listener of each read.
    setMaxListeners(longReads + 1, signal);
    const sql = 'SELECT sleepEachRow(0.1) FROM numbers(100) SETTINGS max_block_size = 1';
    let begun = (): void => {};
    const hasBegun = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const reads = Array.from({ length: longReads }, () =>
      busy.select({ sql, params: {}, settings: {}, signal }, () => {
        begun();
        return true;
      }),
    );
    await hasBegun;
    const small = { sql: 'SELECT 1', params: {}, settings: {}, signal };
    let isRead = false;
    const another = collectRows(busy, small, 1_000).then(() => {
      isRead = true;
    });
    // Each look has two seconds, which a busy machine may take.
    await expect.poll(() => client.isReady()).toBe(true);
    expect(isRead).toBe(false);
    ending.abort();
    await Promise.allSettled([...reads, another]);
    await busy.close();
  });
});
