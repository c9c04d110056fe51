// Changes of profiles that are waited for, on a real broker that refuses a request while its configuration denies it.
// The test plays the writer of profiles.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { operatorUrl } from '../../../test/harness/servers/broker.ts';
import { useBroker } from '../../../test/harness/servers/use-servers.ts';
import { systemClock } from '../../clock.ts';
import { createLog } from '../../log.ts';
import { buckets } from '../buckets.ts';
import { connectBroker, type KV, type NatsConnection } from '../nats.ts';
import { profilesLedgerKey, profilesStream } from '../streams.ts';
import { ensureTopology } from '../topology.ts';
import { createProfileQueue } from './profile-queue.ts';

const broker = useBroker();
const log = createLog('silent');
/** Its user may do everything at any time. */
let operator: NatsConnection;
let nats: NatsConnection;
let ledger: KV;
beforeAll(async () => {
  operator = await connectBroker(operatorUrl(broker), log);
  nats = await connectBroker(broker.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 64 * 1_048_576, shards: 1 });
  ledger = await operator.jetstream().views.kv(buckets.ledger, { bindOnly: true });
});
afterAll(async () => {
  await nats.close();
  await operator.close();
});

const remove = { kind: 'delete', distinctId: 'a' } as const;
const never = new AbortController().signal;
const openingSubject = '$JS.API.INFO';
const readingSubject = `$JS.API.STREAM.MSG.GET.KV_${buckets.ledger}`;

async function queued(): Promise<number> {
  const manager = await operator.jetstreamManager();
  return (await manager.streams.info(profilesStream(0))).state.messages;
}

/** Does the writer's part: says that every change up to `hwm` is in force. */
async function applyUpTo(hwm: number): Promise<void> {
  await ledger.put(profilesLedgerKey(0), JSON.stringify({ hwm }));
}

/** A busy broker may not answer in time: then nothing is known. */
async function isDenied(subject: string): Promise<boolean | undefined> {
  try {
    await nats.request(subject, undefined, { timeout: 60_000 });
    return false;
  } catch (error) {
    return String(error).includes('Permissions Violation') ? true : undefined;
  }
}

/** Makes the broker refuse the service's requests on these subjects, and no others. */
async function deny(...subjects: string[]): Promise<void> {
  const file = join(broker.dir, 'nats.conf');
  const configuration = JSON.parse(readFileSync(file, 'utf8'));
  configuration.authorization.users[0].permissions.publish.deny = subjects;
  writeFileSync(file, JSON.stringify(configuration));
  process.kill(broker.pid(), 'SIGHUP');
  for (const subject of [openingSubject, readingSubject]) {
    await expect.poll(() => isDenied(subject)).toBe(subjects.includes(subject));
  }
}

it('waits until the writer has applied the change', async () => {
  const queue = createProfileQueue({ nats, shards: 1, clock: systemClock, log });
  let isDone = false;
  const change = queue.change('p', remove, never).then(() => {
    isDone = true;
  });
  await expect.poll(queued).toBe(1);
  await applyUpTo(0);
  expect(isDone).toBe(false);
  await applyUpTo(1);
  await change;
});

it('is done where only changes of other projects before it are not', async () => {
  const queue = createProfileQueue({ nats, shards: 1, clock: systemClock, log });
  const seq = (await queued()) + 1;
  const change = queue.change('p', remove, never);
  await expect.poll(queued).toBe(seq);
  const ahead = [[seq, seq + 1]];
  await ledger.put(profilesLedgerKey(0), JSON.stringify({ hwm: 0, ahead }));
  await change;
});

it('queues nothing while the ledger cannot be opened, and works once it can', async () => {
  const queue = createProfileQueue({ nats, shards: 1, clock: systemClock, log });
  await deny(openingSubject);
  await expect(queue.change('p', remove, never)).rejects.toMatchObject({ code: Code.Unavailable });
  expect(await queued()).toBe(2);
  await deny();
  await applyUpTo(3);
  await queue.change('p', remove, never);
  expect(await queued()).toBe(3);
});

it('does not know what became of a change where the ledger cannot be read afterwards', async () => {
  const queue = createProfileQueue({ nats, shards: 1, clock: systemClock, log });
  await deny(readingSubject);
  await expect(queue.change('p', remove, never)).rejects.toMatchObject({ code: Code.Unavailable });
  expect(await queued()).toBe(4);
});
