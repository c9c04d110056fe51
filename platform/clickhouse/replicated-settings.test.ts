// What a client of replicated tables says with each statement, on a real engine, which takes all of it.

import { Int64, Table, tableToIPC, vectorFromArray } from 'apache-arrow';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { createLog } from '../log.ts';
import { createClickHouse, type DatabaseClient, insertArrow } from './clickhouse.ts';
import { collectRows } from './select-rows.ts';

const engine = useEngine();
const log = createLog('silent');
let client: DatabaseClient;
beforeAll(async () => {
  client = createClickHouse(engine.url, { log, maxConnections: 8, isReplicated: true });
  await client.command({
    query: `CREATE TABLE numbers (n Int64) ENGINE = MergeTree ORDER BY n
      SETTINGS non_replicated_deduplication_window = 100`,
  });
});
afterAll(() => client.close());

const names = ['insert_quorum', 'insert_quorum_parallel', 'select_sequential_consistency'];
const sql = `SELECT ${names.map((name) => `toString(getSetting('${name}'))`).join()}`;

it('inserts ask for a quorum one by one, and reads for all that was acknowledged', async () => {
  const result = await client.query({ query: sql, format: 'JSONCompactEachRow' });
  expect(await result.json()).toEqual([['auto', 'false', '1']]);
  const signal = AbortSignal.timeout(60_000);
  const read = { sql, params: {}, settings: {}, signal };
  expect((await collectRows(client, read, 1_024)).rows[0]?.[2]).toBe('1');
});

it('inserts of a client run one after the other, and a failed one holds up none', async () => {
  const sleeping = (seconds: number): string =>
    `INSERT INTO numbers SELECT sleep(${seconds}) + 1 SETTINGS function_sleep_max_microseconds_per_block = 3000000`;
  const ended: string[] = [];
  const note = (name: string, work: Promise<unknown>): Promise<void> =>
    work.then(
      () => void ended.push(name),
      () => void ended.push(`${name} failed`),
    );
  const arrow = tableToIPC(new Table({ n: vectorFromArray([2n], new Int64()) }), 'stream');
  await Promise.all([
    note('slow', client.command({ query: sleeping(0.5) })),
    note('wrong', client.command({ query: 'INSERT INTO nothing SELECT 1' })),
    note('arrow', insertArrow(client, 'numbers', arrow, 'a')),
    note('rows', client.insert({ table: 'numbers', values: [{ n: 3 }], format: 'JSONEachRow' })),
    note('read', client.query({ query: 'SELECT 1' })),
  ]);
  expect(ended).toEqual(['read', 'slow', 'wrong failed', 'arrow', 'rows']);
});
