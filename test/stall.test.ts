// The engine stands still under load, for 3 s or MILLRACE_STALL_SECONDS: requests go on being acknowledged, nothing is
// lost or stored twice, memory stays within its bound, and the backlog is gone afterwards.

import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchCreate, eventually, newEvent, rows } from './harness/clients/client.ts';
import { memoryKiB } from './harness/servers/process-memory.ts';
import { type Stack, signalProcess, startStack } from './harness/servers/stack.ts';

const stallMs = 1_000 * Number(process.env['MILLRACE_STALL_SECONDS'] ?? 3);
const senders = 4;
const batchEvents = 250;
/**
 * All senders together send at most 50,000 events/s: half of a project's limit, and few enough for the engine to count
 * distinct ids.
 */
const pauseMs = 20;
/** Two batches with their columns, the queued part of a third, and the garbage between collections. */
const mayGrowKiB = 512 * 1_024;

let stack: Stack;
beforeAll(async () => {
  // A slow acknowledgement is no failure here; a refusal is.
  stack = await startStack({ env: { MILLRACE_PUBLISH_DEADLINE_MS: '60000' } });
});
afterAll(async () => {
  signalProcess(stack.pids().engine, 'SIGCONT');
  await stack.stop();
});

interface Load {
  readonly acknowledged: ReadonlySet<string>;
  readonly refused: readonly number[];
  stop(): Promise<void>;
}

/** Sends batches one after the other on each of a few connections, none of them twice. */
function startLoad(): Load {
  const acknowledged = new Set<string>();
  const refused: number[] = [];
  let stopping = false;
  const sender = async (index: number): Promise<void> => {
    const distinctId = `visitor-${index}`;
    while (!stopping) {
      const events = Array.from({ length: batchEvents }, () => newEvent({ distinctId }));
      const { status } = await batchCreate(stack, events);
      if (status !== 200) refused.push(status);
      else for (const { eventId } of events) acknowledged.add(eventId);
      await delay(pauseMs);
    }
  };
  const running = Promise.all(Array.from({ length: senders }, (_, index) => sender(index)));
  return {
    acknowledged,
    refused,
    async stop() {
      stopping = true;
      await running;
    },
  };
}

it(`a stall of the engine of ${stallMs / 1_000} s costs nothing but time`, {
  timeout: 600_000 + 10 * stallMs,
}, async () => {
  const load = startLoad();
  await eventually(stored, ({ count }) => count > 0);
  const { engine, service } = stack.pids();
  const beforeKiB = memoryKiB(service);
  signalProcess(engine, 'SIGSTOP');
  const atStall = load.acknowledged.size;
  await delay(stallMs);
  // The broker alone has answered requests so far.
  await eventually(
    async () => load.acknowledged.size,
    (size) => size >= atStall + senders * batchEvents,
  );
  const grownKiB = memoryKiB(service) - beforeKiB;
  signalProcess(engine, 'SIGCONT');
  await load.stop();

  expect(load.refused).toEqual([]);
  expect(grownKiB).toBeLessThan(mayGrowKiB);
  const ids = load.acknowledged.size;
  const found = await eventually(stored, ({ count }) => count >= ids, 120_000);
  expect(found).toEqual({ count: ids, ids });
  // A block is in its table a moment before it is in the view.
  expect(await eventually(summed, (events) => events >= ids)).toBe(ids);
  expect(stack.pids().engine).toBe(engine);
});

async function stored(): Promise<{ count: number; ids: number }> {
  const query = 'SELECT count() AS count, uniqExact(event_id) AS ids FROM events';
  const [row = { count: 0, ids: 0 }] = await rows<{ count: number; ids: number }>(
    stack.clickhouseUrl,
    query,
  );
  return row;
}

async function summed(): Promise<number> {
  const query = 'SELECT sum(total_events) AS events FROM profile_activity';
  const [row] = await rows<{ events: number }>(stack.clickhouseUrl, query);
  return row?.events ?? 0;
}
