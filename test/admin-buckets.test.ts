// The operator's command line beside a broker that runs by itself: the built command. test/admin-command.test.ts has it
// beside a running instance, and without one.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buckets } from '../platform/broker/buckets.ts';
import { readInstance } from '../platform/broker/instance.ts';
import { connectBroker, type NatsConnection } from '../platform/broker/nats.ts';
import { openBucket } from '../platform/broker/record-bucket.ts';
import { ensureTopology } from '../platform/broker/topology.ts';
import { createLog } from '../platform/log.ts';
import { asOperator } from './harness/servers/broker.ts';
import { useBroker } from './harness/servers/use-servers.ts';
import { root } from './harness/source-tree.ts';

const options = { eventsMaxBytes: 16 * 1_048_576, shards: 1 };
const directory = mkdtempSync(join(tmpdir(), 'millrace-new-buckets-'));
const broker = useBroker();
let connection: NatsConnection;

beforeAll(async () => {
  connection = await connectBroker(broker.url, createLog('silent'));
  await ensureTopology(connection, options);
});
afterAll(async () => {
  await connection.close();
  rmSync(directory, { recursive: true });
});

function admin(...words: string[]) {
  const command = join(root, 'dist', 'admin.js');
  const env = { ...process.env, NATS_URL: broker.url };
  return spawnSync(process.execPath, [command, '--data', directory, ...words], {
    encoding: 'utf8',
    env,
    // For a command that never ends: its status is null then.
    timeout: 300_000,
  });
}

const createCustomer = ['create-customer', '--email', 'op@example.com'];

it('makes buckets that an update brought, and none that was there and is lost', async () => {
  const fresh = `KV_${buckets.dashboardLists}`;
  await asOperator(broker, ({ streams }) => streams.delete(fresh));
  expect(admin(...createCustomer)).toMatchObject({ status: 1 });
  await expect(ensureTopology(connection, options)).rejects.toThrow(`has lost the stream ${fresh}`);

  const instance = await openBucket(connection, buckets.instance, readInstance);
  const found = await instance.get('shards');
  if (found.kind !== 'found') throw new Error(found.kind);
  const made = found.record.made.filter((one) => one !== fresh);
  await instance.update('shards', { ...found.record, made }, found.revision);
  expect(admin(...createCustomer)).toMatchObject({ status: 0, stderr: '' });
  await ensureTopology(connection, options);
});

it('ends with its connection, where a bucket was left open', () => {
  const modules = ['broker/nats', 'broker/record-bucket', 'broker/watched-bucket', 'log'];
  const [nats, bucket, watched, log] = modules.map((name) =>
    JSON.stringify(join(root, 'dist', 'platform', `${name}.js`)),
  );
  const program = `
    import { connectBroker } from ${nats};
    import { openBucket } from ${bucket};
    import { watchBucket } from ${watched};
    import { createLog } from ${log};
    const log = createLog('silent');
    const connection = await connectBroker('${broker.url}', log);
    const bucket = await openBucket(connection, '${buckets.customers}', (value) => value);
    await watchBucket(connection, bucket, { log });
    await connection.close();`;
  const ended = spawnSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
    timeout: 300_000,
  });
  expect(ended).toMatchObject({ status: 0, stderr: '' });
});

it('ends with its reason where it refuses to drop the old key', () => {
  expect(admin('rotate-instance-key', '--prepare')).toMatchObject({ status: 0, stderr: '' });
  const refused = admin('rotate-instance-key', '--drop-old');
  expect(refused).toMatchObject({ status: 1 });
  expect(refused.stderr).toContain('the next instance key waits');
  const twice = admin('rotate-instance-key', '--prepare', '--drop-old');
  expect(twice.stderr).toContain('no such command');
});
