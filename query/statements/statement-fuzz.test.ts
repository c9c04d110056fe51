// Statements by a grammar, thousands of them: what the judge lets through reads the views of the project alone, as the
// engine itself resolves the statement's tables, and no answer has another project's rows, a file's text or our names.
// And without any judge the engine answers no other project's rows.
// Takes some 110 seconds.

import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../platform/log.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import type { Vocabulary } from '../../test/harness/statements/hostile-pieces.ts';
import { StatementGrammar } from '../../test/harness/statements/statement-grammar.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';
import { sqlAtOnce } from '../calls/turn-bounds.ts';
import { inTurn } from '../in-turn.ts';
import { readAsked } from './dialect/statement-request.ts';
import { type JudgedStatement, Statements } from './run/run-statement.ts';
import { statementFailure } from './run/statement-failure.ts';
import { ViewsOfProjects } from './views/project-views.ts';

/** `MILLRACE_STATEMENTS` runs more, `MILLRACE_FIRST_SEED` others. */
const count = Number(process.env['MILLRACE_STATEMENTS'] ?? 2_000);
const firstSeed = Number(process.env['MILLRACE_FIRST_SEED'] ?? 1);
const pieces = 20;
/** Whether a text was answered. A third of 20,000 texts come again, over the same rows: each is tried once. */
const tried = new Map<string, Promise<boolean>>();
const triedBare = new Map<string, Promise<void>>();

const engine = useEngine();
const own = randomUUID();
const other = randomUUID();
const foreign = 'foreignrow';
const secret = 'the signing key';
const directory = mkdtempSync(join(tmpdir(), 'millrace-statements-'));
const secretFile = join(directory, 'secret.txt');
const newFile = join(directory, 'new.txt');
const limits = { seconds: 5, rows: 10_000, bytes: 16_777_216, memoryBytes: 128 * 1_048_576 };
const log = createLog('silent');
let clickhouse: DatabaseClient;
let statements: Statements;
let views: ViewsOfProjects;
let words: Vocabulary;
let listener: Server;
let port = 0;
let connections = 0;

beforeAll(async () => {
  writeFileSync(secretFile, secret);
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 4 });
  for (const [projectId, name] of [
    [own, 'ownrow'],
    [other, foreign],
  ] as const) {
    await storeRows(
      clickhouse,
      Array.from({ length: 3 }, (_, n) =>
        storedRow({
          ...{ projectId, kind: n === 0 ? name : 'page_view', distinctId: `${name}-${n}` },
          ...{ strings: { plan: name }, columns: { browser: name, url: name } },
        }),
      ),
    );
    await storeProfiles(clickhouse, [
      { projectId, distinctId: `${name}-0`, traits: { plan: name } },
    ]);
  }
  statements = new Statements(clickhouse, limits);
  views = new ViewsOfProjects(clickhouse, []);
  await new Statements(clickhouse, limits).judge(other, askedOf('SELECT 1'), never);
  words = await vocabulary();
  listener = createServer((socket) => {
    connections++;
    socket.destroy();
  });
  port = await new Promise((resolve) => {
    listener.listen(0, '127.0.0.1', () => {
      const address = listener.address();
      resolve(typeof address === 'object' && address !== null ? address.port : 0);
    });
  });
});
afterAll(async () => {
  listener.close();
  await clickhouse.close();
  rmSync(directory, { recursive: true });
});

const never = new AbortController().signal;

function askedOf(sql: string) {
  return readAsked('param_a=x&param_t=profile_days', {}, sql, limits);
}

async function vocabulary(): Promise<Vocabulary> {
  const names = async (sql: string): Promise<string[]> => {
    const result = await clickhouse.query({ query: sql, format: 'JSONCompactEachRow' });
    return (await result.json<[string]>()).map(([name]) => name);
  };
  return {
    functions: await names('SELECT name FROM system.functions ORDER BY name'),
    tableFunctions: await names('SELECT name FROM system.table_functions ORDER BY name'),
    systemTables: await names(
      "SELECT name FROM system.tables WHERE database = 'system' ORDER BY name",
    ),
    settings: await names('SELECT name FROM system.settings ORDER BY name'),
    tables: await names(
      'SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY name',
    ),
  };
}

const tables = /table_name: ([^,]+)/g;

/** The tables and table functions of a statement that was let through, as the engine resolves them. */
async function resolved({ sql, views: { database }, params }: JudgedStatement): Promise<string[]> {
  const found: string[] = [];
  const text = sql.replace(/^DESCRIBE TABLE /, '');
  const select = { sql: `EXPLAIN QUERY TREE run_passes = 1\n${text}`, params, database };
  await clickhouse.select({ ...select, settings: {}, signal: never }, (line) => {
    const [row]: string[] = JSON.parse(line);
    if (/^\s*TABLE id: /.test(row ?? '')) {
      found.push(...[...(row ?? '').matchAll(tables)].map(([, name = '']) => name.trim()));
    } else if (/^\s*TABLE_FUNCTION id: /.test(row ?? '')) {
      found.push(
        ...[...(row ?? '').matchAll(/table_function_name: (\w+)/g)].map(([, name = '']) => name),
      );
    }
    return true;
  });
  return found;
}

function once<T>(known: Map<string, Promise<T>>, sql: string, work: () => Promise<T>): Promise<T> {
  const done = known.get(sql) ?? work();
  known.set(sql, done);
  return done;
}

async function textOf(bytes: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of bytes) chunks.push(chunk);
  return Buffer.concat(chunks).toString('latin1');
}

/** What the caller of POST /sql would read, and whether it was let through. */
async function outcomeOf(
  sql: string,
): Promise<{ text: string; judged?: JudgedStatement; code: number }> {
  let judged: JudgedStatement | undefined;
  try {
    judged = await statements.judge(own, askedOf(sql), never);
    return { text: await textOf(statements.run(judged, never)), judged, code: 0 };
  } catch (error) {
    const { code, message } = statementFailure(error, `sql_${own}`, log);
    return { text: message, code, ...(judged && { judged }) };
  }
}

it.each(Array.from({ length: pieces }, (_, piece) => piece))(
  'no statement of a grammar reads what is not its project’s, part %i',
  async (piece) => {
    const { database } = clickhouse;
    const prey = {
      database,
      otherViews: `sql_${other}`,
      otherProject: other,
      secretFile,
      newFile,
      port,
    };
    const { rowFilters } = await views.of(own);
    const tryOne = async (seed: number, sql: string): Promise<boolean> => {
      const { text, judged, code } = await outcomeOf(sql);
      const shown = `seed ${seed}: ${sql}`;
      expect(text, shown).not.toContain(foreign);
      expect(text, shown).not.toContain(secret);
      expect(text, shown).not.toContain('requests/reader');
      // Drivers ask again after these.
      expect([159, 164, 202, 241, 279], shown).not.toContain(code);
      if (judged !== undefined && code === 0) {
        const reached = (await resolved(judged)).filter(
          (name) => !name.startsWith(`sql_${own}.`) && name !== 'system.one' && name !== 'numbers',
        );
        expect(reached, shown).toEqual([]);
      }
      return code === 0;
    };
    // Judge or not: the engine's own guards alone.
    const tryBare = async (seed: number, sql: string): Promise<void> => {
      const settings = {
        additional_table_filters: rowFilters,
        max_execution_time: 5,
        readonly: 1,
      };
      const bare = { sql, params: { a: 'x', t: 'events' }, settings, signal: never };
      const unjudged = await textOf(
        clickhouse.stream({ ...bare, database: clickhouse.database }, 'TabSeparated'),
      ).catch((error: unknown) => (error instanceof Error ? error.message : ''));
      const shown = `seed ${seed}: ${sql}`;
      expect(unjudged, shown).not.toContain(foreign);
      expect(unjudged, shown).not.toContain(secret);
    };
    const seeds = Array.from(
      { length: Math.ceil((count - piece) / pieces) },
      (_, n) => firstSeed + piece + n * pieces,
    );
    const answered = await inTurn(seeds, sqlAtOnce, async (seed) => {
      const sql = new StatementGrammar(seed, words, prey).statement();
      const isAnswered = await once(tried, sql, () => tryOne(seed, sql));
      if (seed % 5 === 0) await once(triedBare, sql, () => tryBare(seed, sql));
      return isAnswered;
    });
    // The grammar still makes statements that are answered.
    expect(answered.filter((is) => is).length).toBeGreaterThan(count / pieces / 20);
    expect(connections).toBe(0);
    expect(existsSync(newFile)).toBe(false);
    const rows = await clickhouse.query({
      query: 'SELECT count() FROM events',
      format: 'JSONCompactEachRow',
    });
    expect(await rows.json()).toEqual([['6']]);
  },
);
