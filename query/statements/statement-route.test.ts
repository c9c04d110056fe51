// POST /sql on a real engine: who may ask, what the three views have, what is refused, and how answers look.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../platform/log.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import {
  type StatementServer,
  serveStatements,
} from '../../test/harness/statements/serve-statements.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';

const engine = useEngine();
const projectId = randomUUID();
const startMs = Date.UTC(2026, 9, 10, 12);
let clickhouse: DatabaseClient;
let server: StatementServer;

beforeAll(async () => {
  clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 4 });
  server = await serveStatements(clickhouse);
  await storeRows(clickhouse, [
    ...Array.from({ length: 6 }, (_, n) =>
      storedRow({
        ...{
          projectId,
          kind: n % 2 === 0 ? 'page_view' : 'purchase',
          distinctId: `person-${n % 3}`,
        },
        ...{ occurTimeMs: startMs + n * 60_000, columns: { browser: 'Firefox', country: 'DE' } },
        ints: { seats: 9_007_199_254_740_993n },
      }),
    ),
    storedRow({ projectId: randomUUID(), distinctId: 'foreign' }),
  ]);
});
afterAll(async () => {
  await server.close();
  await clickhouse.close();
});

const ask = (sql: string, params?: Record<string, string>) => server.ask(projectId, sql, params);

describe('a statement', () => {
  it('reads the events of its project alone', async () => {
    const answer = await ask(
      'SELECT kind, count() AS events FROM events GROUP BY kind ORDER BY kind',
    );
    expect(answer.text).toBe('page_view\t3\npurchase\t3\n');
    expect(answer).toMatchObject({ status: 200, code: 0 });
    expect(answer.headers.get('x-clickhouse-format')).toBe('TabSeparated');
    const others = await ask("SELECT count() FROM events WHERE distinct_id = 'foreign'");
    expect(others.text).toBe('0\n');
  });

  it('has every column of every view', async () => {
    for (const table of ['events', 'profiles', 'sessions']) {
      const answer = await ask(`SELECT * FROM ${table} FORMAT JSON`);
      expect(answer.text).toContain('"rows"');
      expect(answer.status, answer.text).toBe(200);
      const described = await ask(`DESCRIBE TABLE millrace.${table}`);
      const meta: { name: string; type: string }[] = JSON.parse(answer.text).meta;
      const columns = described.text
        .trim()
        .split('\n')
        .map((line) => line.split('\t')[0]);
      expect(meta.map(({ name }) => name)).toEqual(columns);
    }
  });
});
