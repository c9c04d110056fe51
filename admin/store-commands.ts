// The operator's commands that reach ClickHouse. Reading the command line is admin.ts's.

import { resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { cloneTables } from '../backup/cloned-rows.ts';
import { freezeTables } from '../backup/frozen-parts.ts';
import { type TakenBackup, takeBackup } from '../backup/take-backup.ts';
import { connectBroker, followConnection, type NatsConnection } from '../platform/broker/nats.ts';
import { createClickHouse } from '../platform/clickhouse/clickhouse.ts';
import { openStore } from '../platform/clickhouse/replica-client.ts';
import { splitGroups } from '../platform/clickhouse/store-urls.ts';
import { systemClock } from '../platform/clock.ts';
import type { Config } from '../platform/config.ts';
import type { Log } from '../platform/log.ts';
import { checkTables, type Difference, maxDifferences } from '../sql/check/compare-tables.ts';
import { reachEngines, requireOneServer } from './reach-engines.ts';

/** Of a statement that goes through all rows. */
const requestTimeoutMs = 3_600_000;
const shownDifferences = 20;

/** Prints each table as it is done. Throws one sentence where one differs from the raw rows. */
export async function checkCommand(config: Config, log: Log): Promise<string> {
  const reach = reachEngines(config, log);
  try {
    const groups = splitGroups((await reach.store()).url);
    const different: string[] = [];
    for (const [place, urls] of groups.entries()) {
      const name = groups.length === 1 ? '' : `group ${place + 1}, `;
      different.push(...(await checkGroup(config, urls, name, log)));
    }
    if (different.length === 0) return 'every derived table is what the raw rows say';
    throw new Error(`other rows than the raw ones say: ${different.join(', ')}`);
  } finally {
    await reach.stop();
  }
}

/** The names of the tables that differ, after the group's. */
async function checkGroup(
  { clickhouseReplicated: isReplicated }: Config,
  urls: readonly string[],
  name: string,
  log: Log,
): Promise<string[]> {
  const options = { log, maxConnections: 1, requestTimeoutMs, isReplicated };
  const clickhouse = await openStore(urls, options);
  const different: string[] = [];
  try {
    for await (const { table, differences } of checkTables(clickhouse, delay)) {
      process.stdout.write(tableText(`${name}${table}`, differences));
      if (differences.length > 0) different.push(`${name}${table}`);
    }
  } finally {
    await clickhouse.close();
  }
  return different;
}

function tableText(table: string, differences: readonly Difference[]): string {
  if (differences.length === 0) return `${table}: as the raw rows say\n`;
  const more = differences.length === maxDifferences ? ' or more' : '';
  const shown = differences.slice(0, shownDifferences).map(lineOf).join('');
  return `${table}: ${differences.length}${more} different rows\n${shown}`;
}

function lineOf({ in: side, row }: Difference): string {
  return `  ${side === 'derived' ? 'only there' : 'missing'}: ${row}\n`;
}

/** Takes a backup into `directory`, of an instance that runs or does not. */
export async function backupCommand(config: Config, log: Log, directory: string): Promise<string> {
  requireOneServer(config);
  const reach = reachEngines(config, log);
  try {
    const broker = await reach.broker('operator');
    const store = await reach.store();
    const connection = await connectBroker(broker.url, log);
    const clickhouse = createClickHouse(store.url, { log, maxConnections: 2, requestTimeoutMs });
    try {
      const taken =
        store.directory === undefined
          ? cloneTables(clickhouse)
          : freezeTables(clickhouse, store.directory);
      const { dataDir } = config;
      const nowMs = systemClock.nowMs();
      const options = { connection, clickhouse, taken, dataDir, directory, nowMs };
      const backup = await Promise.race([takeBackup(options), lossOf(connection)]).catch(named);
      return backupText(backup, resolve(directory));
    } finally {
      await clickhouse.close();
      await connection.close();
    }
  } finally {
    await reach.stop();
  }
}

const codesOfLoss = new Set<unknown>(['DISCONNECT', 'ECONNREFUSED', 'ECONNRESET', 'EPIPE']);

/** Which of several parts noticed first that an engine is gone says nothing to the operator. */
function named(error: unknown): never {
  const field = (name: string): unknown =>
    error instanceof Error ? Reflect.get(error, name) : undefined;
  // The engine's socket is a file.
  const isGone = codesOfLoss.has(field('code')) || field('syscall') === 'connect';
  throw isGone
    ? new Error('an engine is gone: run the same command again', { cause: error })
    : error;
}

/** Rejects where the broker is gone: the client would wait for it for ever. */
function lossOf(connection: NatsConnection): Promise<never> {
  return new Promise((_, reject) => {
    followConnection(connection).onChange((connected) => {
      if (!connected) reject(new Error('an engine is gone: run the same command again'));
    });
  });
}

function backupText(
  { manifest, newParts, stoodMs, hasAllDeliveries }: TakenBackup,
  directory: string,
): string {
  const { streams, store, keys } = manifest;
  const messages = streams.reduce((sum, stream) => sum + stream.messages, 0);
  const rows = store.tables.reduce((sum, table) => sum + table.rows, 0);
  const parts = store.tables.reduce((sum, table) => sum + table.parts.length, 0);
  const warning = hasAllDeliveries
    ? ''
    : '\nwebhooks were delivered all the time: a delivery that moved meanwhile may be missing';
  return (
    `${streams.length} streams and buckets with ${messages} messages, ${store.tables.length} tables with ${rows} rows in ` +
    `${parts} parts, ${newParts} of them new, and ${Object.keys(keys).length} keys are in ${directory}; ` +
    `the writers stood still for ${stoodMs} ms${warning}`
  );
}
