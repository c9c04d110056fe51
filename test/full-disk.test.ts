// The whole product on a small disk that somebody fills: it refuses new events in time, and where the disk is full all
// the same, it goes on by itself once there is room, with every acknowledged event stored once.

import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, expect, it } from 'vitest';
import { batchCreate, eventually, newEvent, rows } from './harness/clients/client.ts';
import { hasSmallDisks, mountSmallDisk, type SmallDisk } from './harness/servers/small-disk.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

const rounds = Number(process.env['MILLRACE_FULL_DISK_ROUNDS'] ?? 0);
const MiB = 1_048_576;
const batchEvents = 50;
/** Longer than the broker may be silent. */
const fullForMs = 25_000;

let disk: SmallDisk;
let stack: Stack;
afterEach(async () => {
  if (!hasSmallDisks) return;
  await stack.stop();
  await disk.close();
});

async function start(env: Record<string, string>, args: readonly string[] = []): Promise<void> {
  acknowledged.clear();
  sent.clear();
  disk = await mountSmallDisk(256);
  const dataDir = join(disk.inside, 'data');
  stack = await startStack({ disk, dataDir, args, env: { MILLRACE_EVENTS_MAX_MIB: '64', ...env } });
}

const acknowledged = new Set<string>();
const sent = new Set<string>();

/** Sends one batch; its ids are acknowledged or may be stored. */
async function send(): Promise<number> {
  const batch = Array.from({ length: batchEvents }, () => newEvent());
  for (const { eventId } of batch) sent.add(eventId);
  // A connection of its own each time, so that every process gets some.
  const headers = { connection: 'close' };
  const { status } = await batchCreate(stack, batch, { headers }).catch(() => ({ status: 0 }));
  if (status === 200) for (const { eventId } of batch) acknowledged.add(eventId);
  return status;
}

const ready = async (): Promise<number> => (await fetch(`${stack.baseUrl}/readyz`)).status;

async function expectStoredOnce(): Promise<void> {
  const [counted] = await eventually(
    () =>
      rows<{ events: number; ids: number; views: number }>(
        stack.clickhouseUrl,
        `SELECT count() AS events, uniqExact(event_id) AS ids,
          (SELECT sum(total_events) FROM profile_activity) AS views FROM events`,
      ),
    ([row]) => row !== undefined && row.ids >= acknowledged.size && row.views >= row.events,
  );
  expect(counted?.events).toBe(counted?.ids);
  expect(counted?.views).toBe(counted?.events);
  const stored = await rows<{ event_id: string }>(
    stack.clickhouseUrl,
    'SELECT event_id FROM events',
  );
  const ids = new Set(stored.map(({ event_id }) => event_id));
  expect([...acknowledged].filter((id) => !ids.has(id))).toEqual([]);
  expect([...ids].filter((id) => !sent.has(id))).toEqual([]);
}

it.runIf(hasSmallDisks)('refuses events in every process before the disk is full', async () => {
  await start({}, ['--ingest', '2']);
  expect(await send()).toBe(200);
  expect(await ready()).toBe(200);
  disk.fill(8 * MiB);
  await eventually(
    async () => [await send(), await send(), await send(), await send()],
    (statuses) => statuses.every((status) => status === 429),
  );
  // Each process looks at the disk by itself, once a second.
  await eventually(ready, (status) => status === 503);
  await expectStoredOnce();
  disk.free();
  await eventually(
    async () => [await send(), await send(), await send(), await send()],
    (statuses) => statuses.every((status) => status === 200),
  );
  await eventually(ready, (status) => status === 200);
  await expectStoredOnce();
});

it.runIf(hasSmallDisks && rounds > 0)(
  `goes on by itself after a disk that was full ${rounds} times`,
  { timeout: 600_000 + rounds * 240_000 },
  async () => {
    await start({ MILLRACE_DISK_RESERVE_MIB: '0' });
    for (let round = 0; round < rounds; round++) {
      const hung = stack.pids().broker;
      let healing = true;
      const senders = Array.from({ length: 4 }, async () => {
        while (healing) {
          await send();
          await delay(20);
        }
      });
      // The broker hangs, or answers every frame with an error: which of the two is chance.
      const fullUntilMs = performance.now() + fullForMs;
      while (performance.now() < fullUntilMs && [hung, 0].includes(stack.pids().broker)) {
        disk.fill();
        await delay(200);
      }
      disk.free();
      await eventually(send, (status) => status === 200, 150_000);
      healing = false;
      await Promise.all(senders);
      await eventually(ready, (status) => status === 200);
      await expectStoredOnce();
    }
  },
);
