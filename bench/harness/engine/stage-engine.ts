// The engine's part of the stages: the same batches go into the events table and into a twin without the view and
// without merges. The difference is the cost of views and merges.

import { setTimeout as delay } from 'node:timers/promises';
import type { BuiltRows } from '../../../pipeline/build/thread-messages.ts';
import { type DatabaseClient, insertArrow } from '../../../platform/clickhouse/clickhouse.ts';
import { check } from '../../bench.ts';
import { cpuMsOf } from '../usage.ts';
import { openMigratedEngine } from './migrated-engine.ts';

/** CPU milliseconds. */
interface Inserted {
  /** CPU of this process: the client and the upload. */
  clientMs: number;
  insertMs: number;
  viewsAndMergesMs: number;
}

export interface StageEngine {
  /** Inserts all batches into both tables; throws where the table has not gained `events` rows. */
  insert(batches: readonly BuiltRows[], events: number): Promise<Inserted>;
  stop(): Promise<void>;
}

const twin = 'events_alone';
const pollMs = 100;
/** Merges that last longer are counted up to this time. */
const maxPolls = 100;

export async function openStageEngine(): Promise<StageEngine> {
  const { engine, client, close } = await openMigratedEngine();
  await client.command({ query: `CREATE TABLE ${twin} AS events` });
  await client.command({ query: `SYSTEM STOP MERGES ${twin}` });
  let stored = 0;
  return {
    async insert(batches, events) {
      await client.command({ query: `TRUNCATE TABLE ${twin}` });
      const alone = await insertAll(client, engine.pid, twin, batches);
      const whole = await insertAll(client, engine.pid, 'events', batches);
      stored += events;
      const rows = await countOf(client, 'SELECT count() FROM events');
      check(rows === stored, `${stored} rows are stored, and not ${rows}`);
      const viewsAndMergesMs = Math.max(0, whole.engineMs - alone.engineMs);
      return { clientMs: whole.clientMs, insertMs: alone.engineMs, viewsAndMergesMs };
    },
    stop: close,
  };
}

let tokens = 0;

async function insertAll(
  client: DatabaseClient,
  pid: number,
  table: string,
  batches: readonly BuiltRows[],
): Promise<{ clientMs: number; engineMs: number }> {
  const engineBefore = cpuMsOf(pid);
  const before = process.cpuUsage();
  for (const { arrow } of batches) await insertArrow(client, table, arrow, `stage-${tokens++}`);
  const { user, system } = process.cpuUsage(before);
  for (let poll = 0; poll < maxPolls; poll++) {
    if ((await countOf(client, 'SELECT count() FROM system.merges')) === 0) break;
    await delay(pollMs);
  }
  return { clientMs: (user + system) / 1_000, engineMs: cpuMsOf(pid) - engineBefore };
}

async function countOf(client: DatabaseClient, query: string): Promise<number> {
  const { stream } = await client.exec({ query: `${query} FORMAT TabSeparated` });
  let text = '';
  for await (const chunk of stream) text += chunk;
  return Number(text);
}
