// The replicated form of every statement of every migration, as the real engine reads it. It has no Keeper, so it makes
// no such table: it names the lack of one only after it has read engine and settings.

import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { createLog } from '../platform/log.ts';
import { inDatabase } from '../test/harness/servers/engine.ts';
import { useEngine } from '../test/harness/servers/use-servers.ts';
import { root } from '../test/harness/source-tree.ts';
import { migrate, splitStatements } from './migrate.ts';
import { readRemake } from './remake-table.ts';
import { createReplicatedDatabases, requireSameTables } from './replicas.ts';
import {
  replicatedDatabase,
  replicatedForm,
  windowOf,
  withoutKeeperPath,
} from './replicated-form.ts';

const engine = useEngine();
const other = useEngine();
const log = createLog('silent');
let clickhouse: DatabaseClient;
beforeAll(() => {
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 2 });
});
afterAll(() => clickhouse.close());

const directory = join(root, 'sql', 'migrations');
const statements = readdirSync(directory)
  .filter((name) => name.endsWith('.sql'))
  .flatMap((name) => splitStatements(readFileSync(join(directory, name), 'utf8')))
  .filter((statement) => readRemake(statement) === undefined)
  .map((statement) => statement.replaceAll('{day}', '2026-01-01'));
const tables = statements.filter((statement) => /\bENGINE = /.test(statement));
const noKeeper = /without ZooKeeper/;

const failureOf = (query: string): Promise<string> =>
  clickhouse.command({ query, query_params: { name: 'replicated' } }).then(
    () => '',
    (error: unknown) => String(error),
  );

it('the engine reads every statement of every migration in its replicated form', async () => {
  expect(statements.length).toBeGreaterThan(60);
  // The engine explains no functions, and these are the same in both forms.
  const read = statements.filter((statement) => !/^CREATE FUNCTION/m.test(statement));
  expect(statements.length - read.length).toBe(3);
  for (const statement of read) {
    const query = `EXPLAIN AST ${replicatedForm(statement)}`;
    expect(await failureOf(query), statement).toBe('');
  }
  const broken = replicatedForm('CREATE TABLE t (n Int8) ENGINE = MergeTree ORDER n');
  expect(await failureOf(`EXPLAIN AST ${broken}`)).toContain('Syntax error');
});

it('every table has a replicated engine, and as many tokens as the plain one', async () => {
  expect(tables.length).toBeGreaterThan(15);
  for (const [index, statement] of tables.entries()) {
    const form = replicatedForm(statement);
    const [, plain = ''] = /ENGINE = (\w+)/.exec(statement) ?? [];
    expect(form).toContain(`ENGINE = Replicated${plain}`);
    const before = windowOf(statement);
    expect(windowOf(form)?.tokens, statement).toBe(before?.tokens ?? '0');
    expect(windowOf(form)?.name).toBe('replicated_deduplication_window');
    // Under a name that is not there, and with a path, which a database that is not replicated needs.
    const query = form
      .replace(/IF NOT EXISTS \w+/, `nowhere_${index}`)
      .replace(/(ENGINE = \w+)\(?/, (_, name: string) => `${name}('/path', 'replica'`)
      .replace(/('replica')(?=\w)/, '$1, ')
      .replace(/('replica')(?=\s)/, '$1)');
    expect(await failureOf(query), query).toMatch(noKeeper);
  }
  const unknown = tables[0]?.replace('SETTINGS ', 'SETTINGS replicated_no_such_window = 1, ') ?? '';
  expect(await failureOf(unknown.replace('IF NOT EXISTS events', 'x'))).toMatch(/no_such_window/);
});

it('what makes no table stays as it is', () => {
  const others = statements.filter((statement) => !tables.includes(statement));
  expect(others.length).toBeGreaterThan(40);
  for (const statement of others) expect(replicatedForm(statement)).toBe(statement);
});

it('a group has a database of its own', async () => {
  const [first, second] = [replicatedDatabase('millrace', 0), replicatedDatabase('millrace', 1)];
  expect(first).toContain("Replicated('/millrace/millrace/group_1', 'millrace', '{replica}')");
  expect(second).toContain('group_2');
  expect(await failureOf(first)).toContain("No macro 'replica'");
  expect(await failureOf(first.replace('{replica}', 'r'))).toMatch(noKeeper);
});

it('a table that is made anew names no place in Keeper, and keeps its tokens', () => {
  const full = "ReplicatedReplacingMergeTree('/t/{uuid}/{shard}', '{replica}', version) ORDER BY a";
  expect(withoutKeeperPath(full)).toBe('ReplicatedReplacingMergeTree(version) ORDER BY a');
  expect(withoutKeeperPath("ReplicatedMergeTree('/t', '{replica}') ORDER BY a")).toBe(
    'ReplicatedMergeTree() ORDER BY a',
  );
  expect(withoutKeeperPath('MergeTree ORDER BY a')).toBe('MergeTree ORDER BY a');
  const seconds = 'MergeTree SETTINGS replicated_deduplication_window_seconds = 5';
  expect(windowOf(seconds)).toBeUndefined();
});

describe('a start', () => {
  it('has tables in one form', async () => {
    await expect(migrate(clickhouse, log, { replicatedPlace: 0 })).rejects.toThrow(
      "the tables of the database millrace are one server's own, and MILLRACE_CLICKHOUSE_REPLICATED is 1: ",
    );
    const fresh = createClickHouse(inDatabase(engine.url, 'fresh'), { log, maxConnections: 1 });
    const noMacro = "No macro 'replica'";
    await expect(migrate(fresh, log, { replicatedPlace: 0 })).rejects.toThrow(noMacro);
    await expect(
      createReplicatedDatabases([inDatabase(engine.url, 'fresh')], 0, log),
    ).rejects.toThrow(noMacro);
    await fresh.close();
  });

  it('refuses servers of one group that hold different tables, and passes over one that is away', async () => {
    await clickhouse.command({ query: "INSERT INTO store_identity VALUES ('a', now64(3))" });
    const away = inDatabase(engine.url.replace('engine.sock', 'nobody.sock'), 'millrace');
    await requireSameTables([away, engine.url, engine.url], 'ClickHouse', log);
    await expect(requireSameTables([engine.url, other.url], 'group 2', log, 0)).rejects.toThrow(
      'server 2 of group 2 has not the tables and functions of the others: ',
    );
  });
});
