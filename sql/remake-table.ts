// Makes a table anew under another partition key, which ClickHouse cannot change. `REMAKE TABLE t PARTITION BY key` in
// a migration is no statement of ClickHouse: it makes a copy beside the table, fills it, exchanges both and drops the
// old one. Until the exchange, which is atomic, readers have the old table as it is; views find both by name.
//
// Whoever is killed at any step ends in the same table the next time: each step looks first how far the work is, and
// repeats nothing. Of several processes one works at a time (remake-lock.ts): two that exchange both tables at once
// would exchange them back. What the table is being given meanwhile would be lost: no writer may run. copied-rows.ts
// fills the copy.
//
// The copy does not know the tokens of the inserts that the table had: one that is repeated would count twice. So
// `beforeRemake` has to finish the batches that are promised.

import type { DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { copyRows } from './copied-rows.ts';
import type { TellDay } from './day-log.ts';
import { withRemakeLock } from './remake-lock.ts';
import { windowOf, withoutKeeperPath } from './replicated-form.ts';

export interface RemakeOptions {
  /** Finishes every batch that may be repeated. Called before each table. */
  beforeRemake?(): Promise<void>;
  /** Whether no other process can work on the server. */
  isAlone?: boolean;
  /** The place of a group whose servers replicate their tables; absent, tables are a server's own. */
  replicatedPlace?: number;
  /** Free bytes on the disk of the tables; without it the server is asked, which need not tell. */
  freeBytes?(): Promise<number>;
  /** Called before some days of a table are copied. */
  tellDay?: TellDay;
}

/** Fresh parts are a tenth larger than merged ones, and merges need room too. */
const roomFactor = 1.5;
/** Tokens that a copy knows while it is filled: all of them, so that whatever is repeated adds nothing. */
const copyWindow = 10_000_000;
const MiB = 1_048_576;

/** The table and the key of such a statement; undefined for every other one. */
export function readRemake(statement: string): { table: string; key: string } | undefined {
  const [, table, key] = /^(?:--.*\n)*REMAKE TABLE (\w+) PARTITION BY (.+)$/.exec(statement) ?? [];
  return table === undefined || key === undefined ? undefined : { table, key };
}

/** Throws one sentence where the disk has too little room, and where the copy has not the rows of the table. */
export async function remakeTable(
  clickhouse: DatabaseClient,
  { table, key }: { table: string; key: string },
  options: RemakeOptions = {},
): Promise<void> {
  const remake = { table, key, copy: `${table}_remade` };
  if (await isDone(clickhouse, remake)) return;
  await withRemakeLock(clickhouse, lockOptions(options), async () => {
    const found = await findTable(clickhouse, table);
    if (found === undefined) throw new Error(`the table ${table} is missing`);
    if (found.key !== key) {
      await options.beforeRemake?.();
      await requireRoom(clickhouse, table, options);
      await exchangeForCopy(clickhouse, remake, found, options.tellDay);
    }
    await run(clickhouse, `DROP TABLE IF EXISTS ${remake.copy} SYNC`);
  });
}

function lockOptions({ isAlone = false, replicatedPlace }: RemakeOptions) {
  return { isAlone, isReplicated: replicatedPlace !== undefined };
}

/** Whether the table has the key, and nothing is left beside it. */
async function isDone(clickhouse: DatabaseClient, { table, copy, key }: Remake): Promise<boolean> {
  const found = await findTable(clickhouse, table);
  return found?.key === key && (await findTable(clickhouse, copy)) === undefined;
}

interface Remake {
  table: string;
  copy: string;
  key: string;
}

async function exchangeForCopy(
  clickhouse: DatabaseClient,
  { table, copy, key }: Remake,
  old: FoundTable,
  tellDay: TellDay | undefined,
): Promise<void> {
  const engine = withoutKeeperPath(old.engine).replace(
    ` PARTITION BY ${old.key} `,
    ` PARTITION BY ${key} `,
  );
  const window = windowOf(engine);
  const filling =
    window === undefined
      ? engine
      : engine.replace(`${window.name} = ${window.tokens}`, `${window.name} = ${copyWindow}`);
  await run(clickhouse, `CREATE TABLE IF NOT EXISTS ${copy} AS ${table} ENGINE = ${filling}`);
  if (!(await copyRows(clickhouse, { from: table, to: copy, key: old.key }, tellDay))) {
    await run(clickhouse, `DROP TABLE IF EXISTS ${copy} SYNC`);
    throw new Error(`the copy of ${table} differs from it: stop whoever writes, and start again`);
  }
  if (window !== undefined) {
    const setting = `${window.name} = ${window.tokens}`;
    await run(clickhouse, `ALTER TABLE ${copy} MODIFY SETTING ${setting}`);
  }
  await run(clickhouse, `EXCHANGE TABLES ${table} AND ${copy}`);
}

interface FoundTable {
  /** The partition key as the server writes it. */
  key: string;
  /** The engine with all of its clauses. */
  engine: string;
  bytes: number;
}

async function findTable(
  clickhouse: DatabaseClient,
  name: string,
): Promise<FoundTable | undefined> {
  const result = await clickhouse.query({
    query: `SELECT partition_key, engine_full, total_bytes FROM system.tables
      WHERE database = currentDatabase() AND name = {name:String}`,
    query_params: { name },
    format: 'JSONCompactEachRow',
  });
  const [row] = await result.json<[string, string, string]>();
  if (row === undefined) return undefined;
  const [key, engine, bytes] = row;
  return { key, engine, bytes: Number(bytes) };
}

async function requireRoom(
  clickhouse: DatabaseClient,
  table: string,
  { freeBytes = () => freeOnServer(clickhouse) }: RemakeOptions,
): Promise<void> {
  const needed = roomFactor * ((await findTable(clickhouse, table))?.bytes ?? 0);
  const free = await freeBytes();
  if (free >= needed) return;
  throw new Error(
    `the table ${table} is copied once, into partitions of years, and needs ${Math.ceil(needed / MiB)} MiB on the disk ` +
      `of ClickHouse for it, which has ${Math.floor(free / MiB)} free: make room and start again`,
  );
}

/** Endless where the server does not tell. */
async function freeOnServer(clickhouse: DatabaseClient): Promise<number> {
  try {
    const result = await clickhouse.query({
      query: 'SELECT max(unreserved_space) FROM system.disks',
      format: 'JSONCompactEachRow',
    });
    const [row] = await result.json<[string]>();
    return Number(row?.[0] ?? Number.POSITIVE_INFINITY);
  } catch {
    return Number.POSITIVE_INFINITY;
  }
}

async function run(clickhouse: DatabaseClient, query: string): Promise<void> {
  await clickhouse.command({ query, clickhouse_settings: { max_execution_time: 0 } });
}
