// What a project keeps no longer is in no answer of POST /sql and in no export, whatever a statement asks.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../../platform/clickhouse/groups.ts';
import { type HttpServer, startHttp } from '../../platform/http/http.ts';
import { createLog } from '../../platform/log.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import {
  type StatementServer,
  serveStatements,
} from '../../test/harness/statements/serve-statements.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { createExportRoute } from '../export/export-route.ts';

const engine = useEngine();
const log = createLog('silent');
const boundaryMs = Date.UTC(2026, 9, 21);
const projectId = randomUUID();
/** One that keeps its events for ever. */
const other = randomUUID();
let clickhouse: DatabaseClient;
let statements: StatementServer;
let exports: HttpServer;

beforeAll(async () => {
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 4 });
  const retainedFrom = (id: string) => (id === projectId ? boundaryMs : undefined);
  statements = await serveStatements(clickhouse, { retainedFrom });
  const route = createExportRoute({
    ...{ clickhouse: oneGroup(clickhouse), log, retainedFrom },
    completeUntilMs: async () => boundaryMs,
    authenticate: (_, { apiKey = '' }) => ({
      kind: 'ok',
      principal: {
        ...{ projectId: apiKey, keyId: apiKey, credential: 'private', organizationId: 'org' },
      },
    }),
  });
  exports = await startHttp({
    ...{ host: '127.0.0.1', port: 0, nodeHttpRoutes: [route], serviceAliases: new Map() },
    connect: { routes: () => {} },
  });
  const sessionId = randomUUID();
  for (const id of [projectId, other]) {
    await storeRows(
      clickhouse,
      [-86_400_000, -60_000, -1, 0, 60_000].map((ms) =>
        storedRow({ projectId: id, sessionId, occurTimeMs: boundaryMs + ms, kind: `at${ms}` }),
      ),
    );
  }
});
afterAll(async () => {
  await statements.close();
  await exports.close(0);
  await clickhouse.close();
});

it.each([
  ['SELECT count(), min(occur_time) FROM events', '2\t2026-10-21 00:00:00.000\n', '5'],
  ['SELECT count() FROM (SELECT e.kind FROM events AS e) AS events', '2\n', '5'],
  ["SELECT count() FROM events WHERE occur_time < '2026-10-21' OR 1", '2\n', '5'],
  ['SELECT count() FROM events AS a JOIN events AS b USING event_id', '2\n', '5'],
  ['SELECT sum(events), min(start_time) FROM sessions', '2\t2026-10-21 00:00:00.000\n', '5'],
])('%s', async (sql, kept, all) => {
  expect((await statements.ask(projectId, sql)).text).toBe(kept);
  expect((await statements.ask(other, sql)).text.split(/\s/)[0]).toBe(all);
});

it('is in no export either', async () => {
  const lines = async (id: string): Promise<number> => {
    const url = `http://127.0.0.1:${exports.port}/export?format=ndjson`;
    const answer = await fetch(url, { headers: { 'x-api-key': id } });
    return (await answer.text()).split('\n').filter(Boolean).length;
  };
  expect(await lines(projectId)).toBe(2);
  expect(await lines(other)).toBe(5);
});
