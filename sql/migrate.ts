// Brings a database to the schema of this version: applies the files of sql/migrations in order and records each with
// its checksum. Statements say IF NOT EXISTS, so a crash in the middle, or two processes at once, end in the same
// schema.

import { createHash, randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { databaseHeader } from '../platform/clickhouse/select-rows.ts';
import { tokenize } from '../platform/clickhouse/statement-tokens.ts';
import { type Clock, steadyClock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import { createDayLog, type TellDay } from './day-log.ts';
import { type RemakeOptions, readRemake, remakeTable } from './remake-table.ts';
import { replicatedDatabase, replicatedForm } from './replicated-form.ts';

/** The first version whose Arrow reader takes UUIDs as 16 bytes (ClickHouse pull request 99521). */
const oldestServer = { major: 26, minor: 4 };

const ownDirectory = join(import.meta.dirname, 'migrations');

export interface MigrateOptions extends RemakeOptions {
  /** By default the one beside this file. */
  directory?: string;
  /** Names of the files that are applied; the others are left for a start. All unless given. */
  only?: ReadonlySet<string>;
  /**
   * Called before the first file that is not applied yet; with none, never. Once it resolves nobody else may write to
   * the tables, or another process has applied all files: `isMissing` says whether one is left.
   */
  onBegin?(isMissing: () => Promise<boolean>): Promise<void>;
  /** Called before each statement of a file; throws where this process may change nothing any more. */
  beforeStatement?(): Promise<void>;
  /** By which the log tells how far a migration is; the process's steady one unless given. */
  clock?: Clock;
}

const createMigrations = `CREATE TABLE IF NOT EXISTS schema_migrations
  (name String, checksum String, applied_at DateTime64(3, 'UTC')) ENGINE = ReplacingMergeTree(applied_at) ORDER BY name`;

interface Migration {
  name: string;
  checksum: string;
  text: string;
}

/**
 * Applies the files that are not applied yet; nobody may write to the tables meanwhile. Creates the client's database
 * where it is missing. Throws where a file was changed after it was applied, where the database is ahead of this
 * version, and where the server is older than 26.4. The timeout of `clickhouse` must be long enough for a statement
 * that fills a table anew.
 */
export async function migrate(
  clickhouse: DatabaseClient,
  log: Log,
  options: MigrateOptions = {},
): Promise<void> {
  const known = readMigrations(options.directory ?? ownDirectory);
  const isReplicated = options.replicatedPlace !== undefined;
  await createDatabase(clickhouse, options.replicatedPlace);
  refuseOldServer(await readVersion(clickhouse));
  await refuseOtherForm(clickhouse, isReplicated);
  await clickhouse.command({ query: formOf(createMigrations, options) });
  const readMissing = async () => missingOf(known, await readApplied(clickhouse), options);
  if ((await readMissing()).length === 0) return;
  await options.onBegin?.(async () => (await readMissing()).length > 0);
  const missing = await readMissing();
  if (missing.length === 0) return;
  if (!isReplicated) await attachViews(clickhouse);
  for (const migration of missing) {
    log.info({ migration: migration.name }, 'a migration begins');
    await apply(clickhouse, migration, log, options);
    // Before the last one is recorded: whoever is interrupted here applies it again. Replicated views are not detached.
    if (migration === missing.at(-1) && !isReplicated) await reloadViews(clickhouse, options);
    await record(clickhouse, migration);
    log.info({ migration: migration.name }, 'applied a migration');
  }
}

function formOf(statement: string, { replicatedPlace }: MigrateOptions): string {
  return replicatedPlace === undefined ? statement : replicatedForm(statement);
}

function missingOf(
  known: readonly Migration[],
  applied: ReadonlyMap<string, string>,
  { only }: MigrateOptions,
): Migration[] {
  refuseUnknown(applied, known);
  return known.filter(({ name, checksum }) => {
    if (only?.has(name) === false) return false;
    const recorded = applied.get(name);
    if (recorded !== undefined && recorded !== checksum) {
      throw new Error(
        `sql/migrations/${name} was changed after it was applied: restore it and put the change into a new file`,
      );
    }
    return recorded === undefined;
  });
}

async function apply(
  clickhouse: DatabaseClient,
  { name, text }: Migration,
  log: Log,
  options: MigrateOptions,
): Promise<void> {
  const tellDay = createDayLog(log, name, options.clock ?? steadyClock);
  for (const statement of splitStatements(text)) {
    await options.beforeStatement?.();
    const remake = readRemake(statement);
    if (remake !== undefined) await remakeTable(clickhouse, remake, { ...options, tellDay });
    else await runStatement(clickhouse, formOf(statement, options), tellDay);
  }
}

async function runStatement(
  clickhouse: DatabaseClient,
  statement: string,
  tellDay: TellDay,
): Promise<void> {
  const all = await dayByDay(clickhouse, statement);
  for (const [done, { day, query }] of all.entries()) {
    if (day !== undefined) tellDay({ day, done, of: all.length });
    await clickhouse.command({ query, clickhouse_settings: { max_execution_time: 0 } });
  }
}

/**
 * Has the server load all views again. A view that was changed knows inserts by other names until it is loaded: one
 * that is repeated after that would count twice. What is inserted meanwhile misses views.
 */
export async function reloadViews(
  clickhouse: DatabaseClient,
  { beforeStatement }: Pick<MigrateOptions, 'beforeStatement'> = {},
): Promise<void> {
  const result = await clickhouse.query({
    query: `SELECT name FROM system.tables WHERE database = currentDatabase() AND engine = 'MaterializedView'`,
    format: 'JSONEachRow',
  });
  for (const { name } of await result.json<{ name: string }>()) {
    await beforeStatement?.();
    await clickhouse.command({
      query: 'DETACH TABLE {name:Identifier} SYNC',
      query_params: { name },
    });
    await attach(clickhouse, name);
  }
}

/** Whoever was interrupted while it loaded a view again has left it detached: nothing would be inserted into it. */
async function attachViews(clickhouse: DatabaseClient): Promise<void> {
  const result = await clickhouse.query({
    query: 'SELECT table AS name FROM system.detached_tables WHERE database = currentDatabase()',
    format: 'JSONEachRow',
  });
  for (const { name } of await result.json<{ name: string }>()) await attach(clickhouse, name);
}

async function attach(clickhouse: DatabaseClient, name: string): Promise<void> {
  const query = 'ATTACH TABLE IF NOT EXISTS {name:Identifier}';
  await clickhouse.command({ query, query_params: { name } });
}

/** A statement with `{day}` is run for each UTC day that has events: all at once may need more memory than there is. */
export async function dayByDay(
  clickhouse: DatabaseClient,
  statement: string,
): Promise<{ query: string; day?: string }[]> {
  if (!statement.includes('{day}')) return [{ query: statement }];
  const result = await clickhouse.query({
    query: 'SELECT DISTINCT toString(toDate(occur_time)) AS day FROM events ORDER BY day',
    format: 'JSONEachRow',
  });
  const days = await result.json<{ day: string }>();
  return days.map(({ day }) => ({ day, query: statement.replaceAll('{day}', day) }));
}

/** The migrations that this version knows. A newer version knows more, because none is ever removed. */
export function countMigrations(): number {
  return readMigrations(ownDirectory).length;
}

function readMigrations(directory: string): Migration[] {
  const names = readdirSync(directory).filter((name) => name.endsWith('.sql'));
  return names.sort().map((name) => {
    const text = readFileSync(join(directory, name), 'utf8');
    return { name, text, checksum: createHash('sha256').update(text).digest('hex') };
  });
}

/** Asks before: an engine that names what is missing in an error keeps 20 MB for such texts. */
export async function createDatabase(
  clickhouse: DatabaseClient,
  replicatedPlace?: number,
): Promise<void> {
  const named = {
    query_params: { name: clickhouse.database },
    http_headers: { [databaseHeader]: 'default' },
  };
  const found = await clickhouse.query({ query: 'EXISTS DATABASE {name:Identifier}', ...named });
  const { data } = await found.json<{ result: number }>();
  if (data[0]?.result === 1) return;
  const query =
    replicatedPlace === undefined
      ? 'CREATE DATABASE IF NOT EXISTS {name:Identifier}'
      : replicatedDatabase(clickhouse.database, replicatedPlace);
  await clickhouse.command({ query, ...named });
}

/** Throws one sentence where the tables are there in the other form: old and new ones would differ. */
async function refuseOtherForm(clickhouse: DatabaseClient, isReplicated: boolean): Promise<void> {
  const result = await clickhouse.query({
    query: `SELECT engine FROM system.tables
      WHERE database = currentDatabase() AND name = 'schema_migrations'`,
    format: 'JSONEachRow',
  });
  const [found] = await result.json<{ engine: string }>();
  if (found === undefined || found.engine.startsWith('Replicated') === isReplicated) return;
  const { database } = clickhouse;
  throw new Error(
    isReplicated
      ? `the tables of the database ${database} are one server's own, and MILLRACE_CLICKHOUSE_REPLICATED is 1: name a ` +
          'database that is not there yet, or unset it'
      : `the tables of the database ${database} are replicated: set MILLRACE_CLICKHOUSE_REPLICATED to 1`,
  );
}

async function readVersion(clickhouse: DatabaseClient): Promise<string> {
  const result = await clickhouse.query({ query: 'SELECT version() AS version' });
  const { data } = await result.json<{ version: string }>();
  return data[0]?.version ?? '';
}

/** Throws where `version`, for example 26.7.2.1, is too old for our inserts. */
export function refuseOldServer(version: string): void {
  const [major = 0, minor = 0] = version.split('.', 2).map(Number);
  const { major: wantedMajor, minor: wantedMinor } = oldestServer;
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return;
  throw new Error(
    `ClickHouse ${wantedMajor}.${wantedMinor} or newer is needed, this is ${version}: ` +
      'older ones do not read UUIDs in Arrow',
  );
}

async function readApplied(clickhouse: DatabaseClient): Promise<Map<string, string>> {
  const result = await clickhouse.query({
    query:
      'SELECT name, argMax(checksum, applied_at) AS checksum FROM schema_migrations GROUP BY name',
    format: 'JSONEachRow',
  });
  const rows = await result.json<{ name: string; checksum: string }>();
  return new Map(rows.map(({ name, checksum }) => [name, checksum]));
}

function refuseUnknown(applied: ReadonlyMap<string, string>, known: readonly Migration[]): void {
  const unknown = [...applied.keys()].filter((name) => !known.some((one) => one.name === name));
  if (unknown.length === 0) return;
  throw new Error(
    `the database has migrations that this version does not know (${unknown.join(', ')}): run a newer version`,
  );
}

async function record(clickhouse: DatabaseClient, { name, checksum }: Migration): Promise<void> {
  await clickhouse.command({
    query: 'INSERT INTO schema_migrations SELECT {name:String}, {checksum:String}, now64(3)',
    query_params: { name, checksum },
  });
}

/** The statements of a file; each `{random}` becomes a different unsigned 64-bit number, in decimal. */
export function splitStatements(text: string): string[] {
  const statements: string[] = [];
  let start = 0;
  const tokens = tokenize(text);
  const take = (end: number): void => {
    const hasWords = tokens.some((token) => token.start >= start && token.end <= end);
    if (hasWords)
      statements.push(text.slice(start, end).trim().replaceAll('{random}', randomUInt64));
  };
  for (const token of tokens) {
    if (token.value !== ';') continue;
    take(token.start);
    start = token.end;
  }
  take(text.length);
  return statements;
}

function randomUInt64(): string {
  return randomBytes(8).readBigUInt64LE().toString();
}
