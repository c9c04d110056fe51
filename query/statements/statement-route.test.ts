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
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';
import { systemTimer } from '../timer.ts';
import { defaultTurnBounds, StatementTurns } from './run/statement-turns.ts';

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

describe('persons', () => {
  const ofPersons = randomUUID();
  beforeAll(async () => {
    await storeProfiles(clickhouse, [
      { projectId: ofPersons, distinctId: 'ada', traits: { plan: 'pro' } },
      {
        ...{ projectId: ofPersons, distinctId: 'anon-1', named: false, wasClaimed: true },
        ...{ owner: 'ada', root: 'ada' },
      },
      { projectId: ofPersons, distinctId: 'gone', deleted: true, traits: { plan: 'hidden' } },
      {
        ...{ projectId: ofPersons, distinctId: 'anon-gone', named: false, wasClaimed: true },
        ...{ owner: 'gone', root: 'gone' },
      },
    ]);
    const ids = ['ada', 'anon-1', 'gone', 'anon-gone', 'stranger'];
    await storeRows(clickhouse, [
      ...ids.map((distinctId) => storedRow({ projectId: ofPersons, distinctId })),
      storedRow({ projectId: ofPersons, distinctId: 'of-the-day', cookieless: true }),
    ]);
  });

  it('are one where they were merged, and hidden ones are nowhere', async () => {
    const rows = async (sql: string): Promise<unknown> =>
      JSON.parse((await server.ask(ofPersons, `${sql} FORMAT JSONCompact`)).text).data;
    const seen = [['ada'], ['anon-1'], ['of-the-day'], ['stranger']];
    expect(await rows('SELECT distinct_id FROM events ORDER BY 1')).toEqual(seen);
    expect(await rows('SELECT distinct_id FROM sessions ORDER BY 1')).toEqual(seen);
    const persons = 'SELECT uniqExact(profile_id), countIf(profile_id IS NULL) FROM';
    expect(await rows(`${persons} events`)).toEqual([['2', '1']]);
    expect(await rows(`${persons} sessions`)).toEqual([['2', '1']]);
    expect(
      await rows('SELECT external_id, anonymous, total_events FROM profiles ORDER BY 1 NULLS LAST'),
    ).toEqual([
      ['ada', 0, '2'],
      [null, 1, '1'],
    ]);
    const joined = `SELECT e.distinct_id FROM events e JOIN profiles p ON e.profile_id = p.profile_id
      WHERE p.traits['plan'] = '"pro"' ORDER BY 1`;
    expect(await rows(joined)).toEqual([['ada'], ['anon-1']]);
    expect(JSON.stringify(await rows('SELECT * FROM profiles'))).not.toContain('hidden');
  });
});

describe('the bounds', () => {
  it('of time, memory and rows are told without a code that drivers retry', async () => {
    const brief = await serveStatements(clickhouse, { limits: { seconds: 1 } });
    const narrow = await serveStatements(clickhouse, { limits: { rows: 10 } });
    try {
      const long =
        'SELECT count() FROM numbers(10000000) AS a CROSS JOIN numbers(100000) AS b WHERE a.number * b.number = 7';
      const slow = await brief.ask(projectId, long, { max_execution_time: '900' });
      expect([slow.code, slow.status], slow.text).toEqual([201, 400]);
      expect(slow.text).toContain('took too long');
      const rows = await narrow.ask(projectId, 'SELECT number FROM numbers(100)');
      expect([rows.code, rows.status], rows.text).toEqual([396, 400]);
      const large = await narrow.ask(projectId, 'SELECT arrayJoin(range(100000000))');
      expect([large.code, large.status], large.text).toEqual([201, 400]);
      expect(large.text).toContain('takes too much memory');
    } finally {
      await brief.close();
      await narrow.close();
    }
  });

  it('of places hold back a second statement of a key, not one of another', async () => {
    const bounds = { ...defaultTurnBounds, running: 3, waiting: 0 };
    const turns = new StatementTurns(bounds, systemTimer);
    const crowded = await serveStatements(clickhouse, { turns });
    try {
      const keyId = `${projectId}:a`;
      const give = await turns.take({ projectId, keyId }, new AbortController().signal);
      const held = await crowded.ask(keyId, 'SELECT 1');
      expect([held.code, held.status], held.text).toEqual([201, 400]);
      expect((await crowded.ask(`${projectId}:b`, 'SELECT 1')).text).toBe('1\n');
      give();
      expect((await crowded.ask(keyId, 'SELECT 1')).text).toBe('1\n');
    } finally {
      await crowded.close();
    }
  });
});

describe('beside statements', () => {
  it('the newest ones are listed to their project alone', async () => {
    await ask('SELECT 41 + 1', { query_id: 'mine' });
    await ask('SELECT nothing FROM events');
    const log = async (id: string): Promise<Record<string, unknown>[]> => {
      const headers = { 'x-api-key': id };
      const response = await fetch(`${server.url}/sql/log`, { headers });
      const body: { statements: Record<string, unknown>[] } = JSON.parse(await response.text());
      return body.statements;
    };
    const [newest, before] = await log(projectId);
    expect(newest).toMatchObject({ statement: 'SELECT nothing FROM events', code: 47 });
    expect(before).toMatchObject({
      statement: 'SELECT 41 + 1',
      code: 0,
      queryId: 'mine',
      bytes: 3,
    });
    expect(await log(randomUUID())).toEqual([]);
  });

  it('the views are made again where they were lost', async () => {
    expect((await ask('SELECT count() FROM events')).text).toBe('6\n');
    for (const lost of [`VIEW \`sql_${projectId}\`.events`, `DATABASE \`sql_${projectId}\``]) {
      await clickhouse.command({ query: `DROP ${lost}` });
      expect((await ask('SELECT count() FROM events')).text, lost).toBe('6\n');
    }
  });

  it('no sentence names our tables or databases', async () => {
    for (const sql of [
      'SELECT intDiv(1, length(browser) - 7) FROM events',
      "SELECT toDate('x') FROM events WHERE profile_id != ''",
      'SELECT * FROM events JOIN profiles USING (nothing)',
      'SELECT sum(kind) FROM sessions',
      'SELECT * FROM nothing',
      // The engine shows the rest of the text, cut off somewhere in what it has put behind it.
      ...["SELECT 'x", 'SELECT `x', 'SELECT ‘x', 'SELECT#! 1', 'SELECT 1 +', 'SELECT kind FROM'],
      ...[0, 20, 60, 90, 110, 125, 140, 150].map((length) => `SELECT ( ${'x'.repeat(length)}`),
    ]) {
      const { text, status } = await ask(sql);
      expect(status, text).toBe(400);
      expect(text).not.toMatch(
        /sql_|sipHash|profiles_by_root|project_id|sys_|APPEND|\.pipe|requests/,
      );
    }
    const { text } = await ask('SELECT kind\nFROM (');
    expect(text).toContain('Syntax error: failed at ( (line 2, col 6). Unmatched parentheses: (');
  });
});
