// The whole product after its broker has lost messages that are done, as a cut of the power can make it.

import { afterEach, expect, it } from 'vitest';
import type { LedgerRecord } from '../pipeline/write/ledger-record.ts';
import { buckets } from '../platform/broker/buckets.ts';
import { connectBroker } from '../platform/broker/nats.ts';
import { eventsLedgerKey } from '../platform/broker/streams.ts';
import { createLog } from '../platform/log.ts';
import { batchCreate, eventually, newEvent, rows } from './harness/clients/client.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

let stack: Stack;
afterEach(() => stack.stop());

/** Sends an event; resolves once so many are stored. */
async function store(count: number): Promise<void> {
  expect((await batchCreate(stack, [newEvent()])).status).toBe(200);
  await eventually(
    () => rows<{ events: number }>(stack.clickhouseUrl, 'SELECT count() AS events FROM events'),
    ([row]) => Number(row?.events) === count,
  );
}

it('stores what is sent after the loss, and says that messages are lost', async () => {
  stack = await startStack();
  await store(1);
  const nats = await connectBroker(stack.natsUrl, createLog('silent'));
  const ledger = await nats.jetstream().views.kv(buckets.ledger, { bindOnly: true });
  // A batch's rows can be read before the ledger has it done: a mark behind a promise is no ledger's.
  const done = await eventually(
    async () => (await ledger.get(eventsLedgerKey(0)))?.json<LedgerRecord>(),
    (record) => record?.hwm === 1 && record.pending === undefined,
  );
  // The same as a stream that has lost its last messages.
  await ledger.put(eventsLedgerKey(0), JSON.stringify({ ...done, hwm: 1_000 }));
  await nats.close();
  stack.kill9('service');
  stack = await stack.restart();
  await expect.poll(() => stack.log()).toContain('the broker has lost messages');
  await store(2);
});
