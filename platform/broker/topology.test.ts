import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { operatorUrl, startBroker } from '../../test/harness/servers/broker.ts';
import type { ChildServer } from '../../test/harness/servers/child-server.ts';
import { createLog } from '../log.ts';
import {
  connectBroker,
  type JetStreamManager,
  type NatsConnection,
  publishOutcome,
} from './nats.ts';
import {
  deadLetterStream,
  deadLetterSubject,
  eventsStream,
  eventsSubject,
  writerConsumer,
} from './streams.ts';
import { ensureTopology, shardOf } from './topology.ts';

const log = createLog('silent');
const MiB = 1_048_576;
let broker: ChildServer;
let connection: NatsConnection;
let operator: NatsConnection;
let manager: JetStreamManager;

async function start(options: Parameters<typeof startBroker>[0] = {}): Promise<void> {
  broker = await startBroker(options);
  connection = await connectBroker(broker.url, log);
  operator = await connectBroker(operatorUrl(broker), log);
  manager = await operator.jetstreamManager();
}

beforeEach(() => start());

afterEach(async () => {
  await connection.close();
  await operator.close();
  await broker.stop();
});

async function fill(subject: string, bytes: number): Promise<number> {
  const js = connection.jetstream();
  for (let stored = 0; ; stored++) {
    const reply = await js.publish(subject, new Uint8Array(bytes)).catch((error: Error) => error);
    if (!(reply instanceof Error)) continue;
    expect(publishOutcome(reply)).toEqual({ kind: 'full' });
    return stored;
  }
}

it('drops the earlier revisions that buckets once kept, and no record', async () => {
  const kv = await operator.jetstream().views.kv('projects', { history: 5 });
  for (let revision = 1; revision <= 5; revision++) await kv.put('p', `${revision}`);
  await kv.put('q', 'other');
  await ensureTopology(connection, { eventsMaxBytes: 200 * MiB, shards: 1 });
  const { config, state } = await manager.streams.info('KV_projects');
  expect(config.max_msgs_per_subject).toBe(1);
  expect(state.messages).toBe(2);
  expect((await kv.get('p'))?.string()).toBe('5');
  expect((await kv.get('q'))?.string()).toBe('other');
});

it('makes a work queue for each shard, its writer, the dead letters and the buckets', async () => {
  const made = await ensureTopology(connection, { eventsMaxBytes: 200 * MiB, shards: 2 });
  expect(made.maxBytesPerShard).toBe(100 * MiB);
  for (const shard of [0, 1]) {
    const { config } = await manager.streams.info(eventsStream(shard));
    expect(config).toMatchObject({
      subjects: [`events.${shard}`],
      retention: 'workqueue',
      storage: 'file',
      discard: 'new',
      max_bytes: 100 * MiB,
      max_age: 0,
    });
    const writer = await manager.consumers.info(eventsStream(shard), writerConsumer);
    expect(writer.config).toMatchObject({
      durable_name: 'writer',
      ack_policy: 'explicit',
      ack_wait: 60e9,
      max_ack_pending: 20_000,
      max_deliver: -1,
    });
    expect(writer.config.deliver_subject).toBeUndefined();
  }
  const { config } = await manager.streams.info(deadLetterStream);
  expect(config).toMatchObject({ retention: 'limits', discard: 'new', max_bytes: 25 * MiB });
  expect(config.max_age).toBe(30 * 86_400e9);
  await connection.jetstream().publish(deadLetterSubject(1), 'x');
  for (const bucket of ['instance', 'orgs', 'projects', 'ledger']) {
    const { config: kept } = await manager.streams.info(`KV_${bucket}`);
    expect(kept.max_bytes).toBeGreaterThan(0);
    expect(kept.discard).toBe('new');
  }
});

it('keeps requests of erasure for two years, also in a bucket of before', async () => {
  const age = async () => (await manager.streams.info('KV_erasures')).config.max_age;
  const options = { eventsMaxBytes: MiB, shards: 1 };
  await ensureTopology(connection, options);
  expect(await age()).toBe(730 * 86_400e9);
  await manager.streams.update('KV_erasures', { max_age: 0 });
  expect(await age()).toBe(0);
  await ensureTopology(connection, options);
  expect(await age()).toBe(730 * 86_400e9);
});

it('is the same at the second call, and from many processes at once that saw different free disks', async () => {
  const others = await Promise.all([1, 2, 3].map(() => connectBroker(broker.url, log)));
  const made = await Promise.all(
    others.map((other, index) =>
      ensureTopology(other, { eventsMaxBytes: (50 + index) * MiB, shards: 3 }),
    ),
  );
  await connection.jetstream().publish(eventsSubject(2), 'kept');
  made.push(await ensureTopology(connection, { eventsMaxBytes: 50 * MiB, shards: 3 }));
  expect(new Set(made.map(({ instanceId }) => instanceId)).size).toBe(1);
  expect((await manager.streams.info(eventsStream(2))).state.messages).toBe(1);
  for (const other of others) await other.close();
});

it('survives many races of the same creation, in which the broker may call a stream an overlap of itself', async () => {
  const others = await Promise.all([1, 2, 3].map(() => connectBroker(broker.url, log)));
  for (let round = 0; round < 20; round++) {
    const made = await Promise.all(
      others.map((other) => ensureTopology(other, { eventsMaxBytes: MiB, shards: 3 })),
    );
    expect(new Set(made.map(({ instanceId }) => instanceId)).size).toBe(1);
    for await (const { config } of manager.streams.list())
      await manager.streams.delete(config.name);
  }
  for (const other of others) await other.close();
});

it('has another instance id where the broker has other data', async () => {
  const options = { eventsMaxBytes: MiB, shards: 1 };
  const first = await ensureTopology(connection, options);
  await manager.streams.delete('KV_instance');
  const second = await ensureTopology(connection, options);
  expect(second.instanceId).not.toBe(first.instanceId);
});

it('refuses another number of shards, and names the first', async () => {
  await ensureTopology(connection, { eventsMaxBytes: MiB, shards: 2 });
  await expect(ensureTopology(connection, { eventsMaxBytes: MiB, shards: 3 })).rejects.toThrow(
    'the number of shards is fixed at the first start: it is 2 and cannot become 3',
  );
  await expect(manager.streams.info(eventsStream(2))).rejects.toThrow('stream not found');
});

describe('the limit in bytes', () => {
  const options = { shards: 1, eventsMaxBytes: 100_000 };

  it('refuses further messages instead of dropping stored ones', async () => {
    await ensureTopology(connection, options);
    const stored = await fill(eventsSubject(0), 1_000);
    expect(stored).toBeGreaterThan(90);
    expect((await manager.streams.info(eventsStream(0))).state.messages).toBe(stored);
  });

  it('is raised, and lowered again once there is room', async () => {
    await ensureTopology(connection, options);
    await fill(eventsSubject(0), 1_000);
    const raised = await ensureTopology(connection, { ...options, eventsMaxBytes: 200_000 });
    expect(raised.maxBytesPerShard).toBe(200_000);
    expect(publishOutcome(await storedReply())).toMatchObject({ kind: 'stored' });

    await manager.streams.purge(eventsStream(0));
    await ensureTopology(connection, options);
    expect((await manager.streams.info(eventsStream(0))).config.max_bytes).toBe(100_000);
  });

  it('is not lowered below the stored bytes: no acknowledged message is dropped', async () => {
    await ensureTopology(connection, options);
    const stored = await fill(eventsSubject(0), 1_000);
    const kept = await ensureTopology(connection, { ...options, eventsMaxBytes: 20_000 });
    expect(kept.maxBytesPerShard).toBe(100_000);
    expect((await manager.streams.info(eventsStream(0))).state.messages).toBe(stored);
  });

  async function storedReply() {
    return await connection.request(eventsSubject(0), new Uint8Array(1_000), { timeout: 60_000 });
  }
});

it('asks a cluster again for a stream that its new leader does not know yet', async () => {
  await ensureTopology(connection, { eventsMaxBytes: 200 * MiB, shards: 1 });
  let asks = 0;
  const jetstreamManager: NatsConnection['jetstreamManager'] = async (options) => {
    const known = await connection.jetstreamManager(options);
    const info: typeof known.streams.info = async (name, ...asked) => {
      const isForgotten = name === eventsStream(0) && ++asks <= 2;
      return known.streams.info(isForgotten ? 'UNKNOWN' : name, ...asked);
    };
    const streams = Object.assign(Object.create(known.streams), { info });
    return Object.assign(Object.create(known), { streams });
  };
  const cluster: NatsConnection = Object.create(connection, {
    info: { value: { ...connection.info, cluster: 'three' } },
    jetstreamManager: { value: jetstreamManager },
  });
  await ensureTopology(cluster, { eventsMaxBytes: 200 * MiB, shards: 1 });
  expect(asks).toBeGreaterThan(2);
});

it('takes a step again where a cluster forgets a stream between the look and the change', async () => {
  const options = { eventsMaxBytes: 200 * MiB, shards: 1 };
  await ensureTopology(connection, options);
  await manager.streams.update('KV_erasures', { max_age: 0 });
  let updates = 0;
  const jetstreamManager: NatsConnection['jetstreamManager'] = async (asked) => {
    const known = await connection.jetstreamManager(asked);
    const update: typeof known.streams.update = async (name, config) => {
      const isForgotten = ++updates === 1;
      return known.streams.update(isForgotten ? 'UNKNOWN' : name, config);
    };
    const streams = Object.assign(Object.create(known.streams), { update });
    return Object.assign(Object.create(known), { streams });
  };
  const forgetful = (info: object): NatsConnection =>
    Object.create(connection, {
      info: { value: { ...connection.info, ...info } },
      jetstreamManager: { value: jetstreamManager },
    });
  await expect(ensureTopology(forgetful({}), options)).rejects.toThrow('stream not found');
  updates = 0;
  await ensureTopology(forgetful({ cluster: 'three' }), options);
  expect(updates).toBe(2);
});

it('refuses to start where a stream that it made is gone, until told to start anew', async () => {
  const options = { eventsMaxBytes: MiB, shards: 1 };
  await ensureTopology(connection, options);
  for (const lost of [eventsStream(0), deadLetterStream, 'KV_projects']) {
    const { config } = await manager.streams.info(lost);
    await manager.streams.delete(lost);
    await expect(ensureTopology(connection, options)).rejects.toThrow(
      `the broker has lost the stream ${lost} that it held before`,
    );
    await expect(manager.streams.info(lost)).rejects.toThrow('stream not found');
    await manager.streams.add(config);
  }
  await manager.streams.delete(eventsStream(0));
  await manager.streams.delete('KV_instance');
  await ensureTopology(connection, options);
});

it('refuses a stream of the same name that cannot become ours', async () => {
  await manager.streams.add({ name: eventsStream(0), subjects: [eventsSubject(0)] });
  await expect(ensureTopology(connection, { eventsMaxBytes: MiB, shards: 1 })).rejects.toThrow(
    'the broker\'s stream EVENTS_0 has retention "limits" where "workqueue" is needed',
  );
});

it('brings a consumer up to date, and refuses one with other rules of delivery', async () => {
  const options = { eventsMaxBytes: MiB, shards: 1 };
  await ensureTopology(connection, options);
  const stream = eventsStream(0);
  await manager.consumers.update(stream, writerConsumer, { ack_wait: 1e9, max_ack_pending: 5 });
  await ensureTopology(connection, options);
  const { config } = await manager.consumers.info(stream, writerConsumer);
  expect(config).toMatchObject({ ack_wait: 60e9, max_ack_pending: 20_000 });

  await manager.consumers.delete(stream, writerConsumer);
  await manager.consumers.add(stream, { ...config, max_deliver: 3 });
  await expect(ensureTopology(connection, options)).rejects.toThrow(
    "the broker's consumer writer of stream EVENTS_0 has max_deliver 3 where -1 is needed",
  );
});

it('says how to help a broker with too little storage', async () => {
  await connection.close();
  await operator.close();
  await broker.stop();
  await start({ maxFileStoreBytes: 3_584 * MiB });
  await expect(
    ensureTopology(connection, { eventsMaxBytes: 4_096 * MiB, shards: 1 }),
  ).rejects.toThrow(
    'the broker has no 4096 MiB to reserve for stream EVENTS_0: allow fewer bytes of events',
  );
});

it('spreads projects evenly over shards, and always gives a project the same shard', () => {
  expect(['a', 'b', 'c', 'project-1'].map((id) => shardOf(id, 8))).toEqual([3, 1, 7, 7]);
  const counts = [0, 0, 0, 0];
  for (let index = 0; index < 4_000; index++) {
    const shard = shardOf(crypto.randomUUID(), 4);
    counts[shard] = (counts[shard] ?? 0) + 1;
  }
  for (const count of counts) expect(count).toBeGreaterThan(850);
  expect(shardOf('anything', 1)).toBe(0);
});
