// Whoever changes tables has the shards meanwhile, on a real broker. Each pause of a process is ended by the test.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import { shardsOwnerKey } from '../../platform/broker/streams.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { createLog } from '../../platform/log.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { StepwisePauses } from '../../test/harness/stepwise-pauses.ts';
import { createLease, type LeaseOptions, unchangedLooks } from './lease.ts';
import { takeForMigrations } from './migration-term.ts';
import { openOwnerBucket } from './owner-record.ts';

const broker = useBroker();
const log = createLog('silent');
let nats: NatsConnection;
let bucket: Awaited<ReturnType<typeof openOwnerBucket>>;

beforeAll(async () => {
  nats = await connectBroker(broker.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 64 * 1_048_576, shards: 1 });
  bucket = await openOwnerBucket(nats);
});
afterAll(() => nats.close());

function optionsOf(owner: string): { options: LeaseOptions; pauses: StepwisePauses } {
  const pauses = new StepwisePauses();
  const pause: LeaseOptions['pause'] = (ms, signal) => pauses.pause(ms, signal);
  return { pauses, options: { bucket, owner, migrations: 1, log, pause } };
}

const never = new AbortController().signal;

it('waits for a process that has the shards, until that one has ended or has changed the tables', async () => {
  await bucket.kv.delete(shardsOwnerKey);
  const first = optionsOf('first');
  const term = await createLease(first.options).take({ stop: never, onWait() {} });
  const missing = [true, true, false];
  const second = optionsOf('second');
  const asked: boolean[] = [];
  const isMissing = async (): Promise<boolean> => {
    const answer = missing.shift() ?? false;
    asked.push(answer);
    return answer;
  };
  const taken = takeForMigrations(second.options, isMissing);
  for (let look = 0; look < 2; look++) await second.pauses.next();
  expect(await taken).toBeUndefined();
  expect(asked).toEqual([true, true, false]);
  await term.requireHeld();
  await term.end();
  const next = await takeForMigrations(optionsOf('third').options, async () => true);
  await next?.requireHeld();
  expect(await bucket.get(shardsOwnerKey)).toMatchObject({ record: { owner: 'third' } });
  await next?.end();
});

it('changes nothing any more once another process has taken the shards', async () => {
  await bucket.kv.delete(shardsOwnerKey);
  // Its pauses are not ended: a process that is frozen.
  const term = await takeForMigrations(optionsOf('frozen').options, async () => true);
  await term?.requireHeld();
  const next = optionsOf('next');
  const taken = createLease(next.options).take({ stop: never, onWait() {} });
  for (let look = 0; look < unchangedLooks; look++) await next.pauses.next();
  const held = await taken;
  await expect(term?.requireHeld()).rejects.toThrow('another process has the shards');
  await held.requireHeld();
  await held.end();
});
