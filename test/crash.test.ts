// SIGKILL of the service, the broker and the engine at random moments under load: every acknowledged event is stored
// once, nothing twice, and all that views make of them equals a recount. Each batch has events of many months.
// MILLRACE_CRASH_ROUNDS sets the rounds.

import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectBroker } from '../platform/broker/nats.ts';
import { createClickHouse } from '../platform/clickhouse/clickhouse.ts';
import { createLog } from '../platform/log.ts';
import { batchCreate, eventually, newEvent, rows, type Sent } from './harness/clients/client.ts';
import { type Part, type Stack, startStack } from './harness/servers/stack.ts';
import { expectRollupsOfEvents } from './harness/tables/rollups.ts';

const rounds = Number(process.env['MILLRACE_CRASH_ROUNDS'] ?? 5);
const seed = Number(process.env['MILLRACE_CRASH_SEED'] ?? Date.now() % 100_000);
const senders = 4;
const batchEvents = 50;
const distinctIds = 40;
const pastMonths = 300;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(async () => {
  await stack.stop();
});

/** mulberry32: small, seeded, good enough to choose a part to kill and a moment. */
function random(state: number): () => number {
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

interface Load {
  acknowledged: Set<string>;
  sent: Set<string>;
  /** The latest acknowledged batch of each sender. */
  latest: Map<number, readonly Sent[]>;
  stop(): Promise<void>;
}

/** Sends batches without end; a batch without an acknowledgement is sent again, ids unchanged, until it has one. */
function startLoad(): Load {
  const acknowledged = new Set<string>();
  const sent = new Set<string>();
  const latest: Load['latest'] = new Map();
  let stopping = false;
  const sender = async (number: number): Promise<void> => {
    for (let turn = 0; !stopping; turn++) {
      const batch = Array.from({ length: batchEvents }, (_, index): Sent => {
        const distinctId = `visitor-${(turn + index) % distinctIds}`;
        const past = new Date(Date.UTC(2000, (turn * batchEvents + index) % pastMonths, 9));
        return newEvent({
          distinctId,
          kind: index % 2 === 0 ? 'page_view' : 'custom.thing',
          ...(index % 3 === 0 && { occurTime: past.toISOString() }),
        });
      });
      for (const event of batch) sent.add(event.eventId);
      while (!(await acknowledge(batch))) await delay(50);
      for (const event of batch) acknowledged.add(event.eventId);
      latest.set(number, batch);
      await delay(5);
    }
  };
  const running = Promise.all(Array.from({ length: senders }, (_, number) => sender(number)));
  return {
    acknowledged,
    sent,
    latest,
    async stop() {
      stopping = true;
      await running;
    },
  };
}

async function acknowledge(batch: readonly Sent[]): Promise<boolean> {
  try {
    // Times of long ago are for private keys.
    const { status, body } = await batchCreate(stack, batch, { key: stack.privateKey });
    if (status === 200) return body['accepted'] === batch.length;
    if (status === 400) throw new TypeError(`refused: ${JSON.stringify(body)}`);
    return false;
  } catch (error) {
    if (error instanceof TypeError && error.message.startsWith('refused')) throw error;
    return false;
  }
}

/** Asks the part itself: what the service says of it is another test's. */
async function answers(part: 'broker' | 'engine'): Promise<boolean> {
  try {
    if (part === 'engine') await rows(stack.clickhouseUrl, 'SELECT 1');
    else await (await connectBroker(stack.natsUrl, createLog('silent'))).close();
    return true;
  } catch {
    return false;
  }
}

async function killAndRecover(part: Part, { latest }: Load): Promise<void> {
  const killed = stack.pids()[part];
  stack.kill9(part);
  if (part === 'service') {
    // Stored ids are still being loaded when the service is killed again, and when events are repeated.
    stack = await stack.restart();
    stack.kill9('service');
    stack = await stack.restart();
    for (const batch of latest.values()) await acknowledge(batch);
    return;
  }
  await eventually(
    async () => stack.pids()[part],
    (pid) => pid > 0 && pid !== killed,
  );
  await eventually(() => answers(part), Boolean);
  await eventually(
    () =>
      fetch(`${stack.baseUrl}/readyz`).then(
        (response) => response.status,
        () => 0,
      ),
    (status) => status === 200,
  );
}

it(`loses and doubles nothing in ${rounds} kills (seed ${seed})`, {
  timeout: 600_000 + rounds * 120_000,
}, async () => {
  const next = random(seed);
  const parts: Part[] = ['service', 'broker', 'engine'];
  const load = startLoad();
  for (let round = 0; round < rounds; round++) {
    await delay(300 + next() * 1_500);
    // Each part is killed at least once in any three rounds, in a drawn order.
    if (round % 3 === 0) parts.sort(() => next() - 0.5);
    await killAndRecover(parts[round % 3] ?? 'service', load);
  }
  await delay(500);
  await load.stop();
  expect(load.acknowledged.size).toBeGreaterThan(rounds * batchEvents);
  expect(load.acknowledged.size).toBe(load.sent.size);

  const counted = await eventually(
    () =>
      rows<{ count: number; ids: number }>(
        stack.clickhouseUrl,
        'SELECT count() AS count, uniqExact(event_id) AS ids FROM events',
      ),
    ([row]) => (row?.ids ?? 0) >= load.acknowledged.size,
  );
  expect(counted).toEqual([{ count: load.sent.size, ids: load.sent.size }]);
  const stored = await rows<{ event_id: string }>(
    stack.clickhouseUrl,
    'SELECT event_id FROM events',
  );
  expect(stored.every((row) => load.sent.has(row.event_id))).toBe(true);
  // The views of the last insert are stored after its rows.
  await eventually(
    () => rows(stack.clickhouseUrl, activityDiffersFromRecount),
    (different) => different.length === 0,
  );
  const clickhouse = createClickHouse(stack.clickhouseUrl, {
    log: createLog('silent'),
    maxConnections: 1,
  });
  await expectRollupsOfEvents(clickhouse).finally(() => clickhouse.close());
});

const activityDiffersFromRecount = `
  WITH
    summed AS (
      SELECT project_id, profile_id, sum(total_events) AS events, sum(pageviews) AS views,
        uniqExactMerge(sessions) AS visits, min(first_seen) AS first, max(last_seen) AS last
      FROM profile_activity GROUP BY project_id, profile_id),
    recounted AS (
      SELECT project_id, millraceProfileHash(project_id, distinct_id) AS profile_id, count() AS events,
        countIf(kind = 'page_view') AS views, uniqExact(session_id) AS visits,
        min(occur_time) AS first, max(occur_time) AS last
      FROM events GROUP BY project_id, profile_id)
  SELECT hex(profile_id) AS profile FROM (SELECT * FROM summed EXCEPT SELECT * FROM recounted)
  UNION ALL
  SELECT hex(profile_id) AS profile FROM (SELECT * FROM recounted EXCEPT SELECT * FROM summed)`;
