// Lets one process at a time make tables anew, of all that work on one server: a table stands for the lock, because
// the server makes it for one of them only. Whoever has it says so every few seconds; a lock that nobody renews any
// more was left by a process that was killed, and is taken away.

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { ClickHouseError } from '@clickhouse/client';
import type { DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { replicatedForm } from './replicated-form.ts';

const lock = 'remake_lock';
const renewEveryMs = 5_000;
/** A statement of the process that has the lock may hold up its renewals: it has one connection. */
const staleMs = 180_000;
const lookEveryMs = 200;
const tableExists = '57';

interface RemakeLockOptions {
  /** Nobody else works on this server: a lock that is there was left by a killed process. */
  isAlone: boolean;
  /** Whether the servers of the group replicate their tables. */
  isReplicated: boolean;
}

/** Runs `work` once nobody else runs any. Rejects with the errors of the work and of the server. */
export async function withRemakeLock(
  clickhouse: DatabaseClient,
  { isAlone, isReplicated }: RemakeLockOptions,
  work: () => Promise<void>,
): Promise<void> {
  while (!(await made(clickhouse, isReplicated))) {
    if (isAlone || (await ageMs(clickhouse)) > staleMs) await takeAway(clickhouse);
    else await delay(lookEveryMs);
  }
  // A renewal that fails is made up for by the next one.
  const renewing = setInterval(() => void renew(clickhouse).catch(() => {}), renewEveryMs);
  try {
    await work();
    await clickhouse.command({ query: `DROP TABLE IF EXISTS ${lock} SYNC` });
  } catch (error) {
    // Work that failed has ended: the next process need not wait. A server that is gone keeps the lock.
    await clickhouse.command({ query: `DROP TABLE IF EXISTS ${lock} SYNC` }).catch(() => {});
    throw error;
  } finally {
    clearInterval(renewing);
  }
}

/** False where the lock is somebody's. */
async function made(clickhouse: DatabaseClient, isReplicated: boolean): Promise<boolean> {
  const query = `CREATE TABLE ${lock} (renewed DateTime64(3, 'UTC')) ENGINE = MergeTree ORDER BY renewed`;
  try {
    await clickhouse.command({ query: isReplicated ? replicatedForm(query) : query });
    await renew(clickhouse);
    return true;
  } catch (error) {
    if (error instanceof ClickHouseError && error.code === tableExists) return false;
    throw error;
  }
}

async function renew(clickhouse: DatabaseClient): Promise<void> {
  await clickhouse.command({ query: `INSERT INTO ${lock} SELECT now64(3)` });
}

/** Since the last renewal, by the server's clock; 0 where the lock is gone. */
async function ageMs(clickhouse: DatabaseClient): Promise<number> {
  const result = await clickhouse.query({
    query: `SELECT dateDiff('millisecond', metadata_modification_time, now64(3)) AS made,
        (SELECT max(modification_time) FROM system.parts
          WHERE database = currentDatabase() AND table = '${lock}') AS renewed,
        dateDiff('millisecond', renewed, now64(3)) AS since
      FROM system.tables WHERE database = currentDatabase() AND name = '${lock}'`,
    format: 'JSONCompactEachRow',
  });
  const [row] = await result.json<[string, string, string]>();
  return row === undefined ? 0 : Math.min(Number(row[0]), Number(row[2]));
}

/** Of several that take it away, one does: a table is renamed once. */
async function takeAway(clickhouse: DatabaseClient): Promise<void> {
  const left = `${lock}_${randomUUID().replaceAll('-', '')}`;
  try {
    await clickhouse.command({ query: `RENAME TABLE ${lock} TO ${left}` });
  } catch (error) {
    if (error instanceof ClickHouseError) return;
    throw error;
  }
  await clickhouse.command({ query: `DROP TABLE IF EXISTS ${left} SYNC` });
}
