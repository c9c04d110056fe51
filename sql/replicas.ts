// The servers of one group at a start: each takes part in the group's database, and all show the same tables. How
// ClickHouse keeps them equal is replicated-form.ts's.

import { setTimeout as delay } from 'node:timers/promises';
import { ClickHouseError } from '@clickhouse/client';
import { createClickHouse, type DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { hasId, oneId } from '../platform/clickhouse/store-identity.ts';
import type { Log } from '../platform/log.ts';
import { createDatabase } from './migrate.ts';

/** A server that has just come takes over tables and functions meanwhile. */
const catchUpMs = 30_000;
const lookEveryMs = 200;

/** A server that does not answer now gets its database at a later start. Throws what a server answers instead. */
export async function createReplicatedDatabases(
  urls: readonly string[],
  place: number,
  log: Log,
): Promise<void> {
  await withEach(urls, log, async (client, number) => {
    try {
      await createDatabase(client, place);
    } catch (error) {
      if (!isOfNetwork(error)) throw error;
      log.warn({ server: number, group: place + 1 }, 'a server of ClickHouse does not answer');
    }
  });
}

/**
 * Throws one sentence where a server of several has not the tables and functions of the others within 30 s: whoever
 * asked it would get answers from another store. One that does not answer is passed over.
 */
export async function requireSameTables(
  urls: readonly string[],
  name: string,
  log: Log,
  waitMs = catchUpMs,
): Promise<void> {
  if (urls.length === 1) return;
  const ids: string[] = [];
  await withEach(urls, log, async (client) => {
    if (await client.isReady()) ids.push(...[await oneId(client)].flatMap((id) => id ?? []));
  });
  const storeId = ids[0] ?? '';
  await withEach(urls, log, async (client, number) => {
    const untilMs = performance.now() + waitMs;
    while (await answersWithout(client, storeId)) {
      if (performance.now() > untilMs) {
        throw new Error(
          `server ${number} of ${name} has not the tables and functions of the others: servers of a group must replicate ` +
            'them (MILLRACE_CLICKHOUSE_REPLICATED), those of several groups have a semicolon between them',
        );
      }
      await delay(lookEveryMs);
    }
  });
}

async function answersWithout(client: DatabaseClient, storeId: string): Promise<boolean> {
  try {
    return !((await hasId(client, storeId)) && (await hasFunctions(client)));
  } catch (error) {
    if (isOfNetwork(error)) return false;
    throw error;
  }
}

async function hasFunctions(client: DatabaseClient): Promise<boolean> {
  const result = await client.query({
    query: "SELECT 1 FROM system.functions WHERE name = 'millraceProfileHash'",
    format: 'JSONEachRow',
  });
  return (await result.json()).length > 0;
}

async function withEach(
  urls: readonly string[],
  log: Log,
  work: (client: DatabaseClient, number: number) => Promise<void>,
): Promise<void> {
  for (const [index, url] of urls.entries()) {
    const client = createClickHouse(url, { log, maxConnections: 1 });
    await work(client, index + 1).finally(() => client.close());
  }
}

function isOfNetwork(error: unknown): boolean {
  return !(error instanceof ClickHouseError);
}
