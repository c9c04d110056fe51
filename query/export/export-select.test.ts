// What the engine's threads are to the system while an export runs.

import { readdirSync, readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../platform/log.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { readExport } from './export-request.ts';
import { selectWith } from './export-select.ts';

const engine = useEngine();
let clickhouse: DatabaseClient;

beforeAll(() => {
  clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 1 });
});
afterAll(() => clickhouse.close());

/** CAP_SYS_NICE, of capabilities(7). */
const sysNice = 1n << 23n;
const [, capabilities = '0'] =
  /^CapEff:\s+([0-9a-f]+)/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
const mayBeNice = (BigInt(`0x${capabilities}`) & sysNice) !== 0n;

/** Of the engine's threads; proc(5) has it behind the name, which may have spaces. */
function niceValues(): number[] {
  const tasks = `/proc/${engine.pid()}/task`;
  return readdirSync(tasks).map((id) => {
    const stat = readFileSync(`${tasks}/${id}/stat`, 'utf8');
    return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]);
  });
}

it('yields to inserts where all cores are busy: the system gives its threads less', async () => {
  const ending = new AbortController();
  // A row a second, each in a block of its own: it runs until it is ended.
  const statement = { sql: 'SELECT sleepEachRow(1) FROM numbers(120)', params: {} };
  const select = selectWith(statement, readExport('format=ndjson'), ending.signal);
  const settings = { ...select.settings, max_block_size: 1 };
  const bytes = clickhouse.stream({ ...select, settings }, 'JSONEachRow');
  const first = bytes.next().catch((error: unknown) => error);
  try {
    // Merges have 10.
    await expect.poll(niceValues).toContain(mayBeNice ? 12 : 0);
  } finally {
    ending.abort();
    await first;
  }
});
