// The setting, and what becomes of streams and buckets of one copy on a cluster of three real servers.

import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type BrokerCluster,
  startBrokerCluster,
} from '../../../test/harness/servers/cluster/broker-cluster.ts';
import { useBroker } from '../../../test/harness/servers/use-servers.ts';
import { createLog } from '../../log.ts';
import { connectBroker, type NatsConnection } from '../nats.ts';
import { eventsStream, eventsSubject, profilesStream, writerConsumer } from '../streams.ts';
import { ensureTopology } from '../topology.ts';
import { readReplicas } from './replicas.ts';
import { streamParts } from './stream-peers.ts';

const log = createLog('silent');
const eventsMaxBytes = 64 * 1_048_576;
const single = useBroker();
let cluster: BrokerCluster;
let nats: NatsConnection;

beforeAll(async () => {
  cluster = await startBrokerCluster();
  nats = await connectBroker(cluster.url, log);
});

afterAll(async () => {
  await nats.close();
  await cluster.stop();
});

it('is three where the URL names three servers, one elsewhere, and what is set', () => {
  const three = 'nats://u:p@a:4222,nats://b:4222,nats://c:4222';
  const read = (text?: string, url?: string) => {
    const problems: string[] = [];
    return [readReplicas(text, url, problems), problems];
  };
  expect(read()).toEqual([1, []]);
  expect(read(undefined, 'nats://a:4222,nats://b:4222')).toEqual([1, []]);
  expect(read(undefined, three)).toEqual([3, []]);
  expect(read('1', three)).toEqual([1, []]);
  expect(read('5', 'nats://a:4222')).toEqual([5, []]);
  for (const text of ['2', 'all']) {
    expect(read(text, three)[1]).toEqual(['MILLRACE_REPLICAS must be one of 1, 3, 5']);
  }
  expect(read('3')[1]).toEqual([expect.stringContaining('needs NATS_URL')]);
});

it('raises the streams, buckets and consumers that exist, keeps what they hold, and lowers none', async () => {
  await ensureTopology(nats, { eventsMaxBytes, shards: 1, replicas: 1 });
  await nats.jetstream().publish(eventsSubject(0), 'kept');
  await ensureTopology(nats, { eventsMaxBytes, shards: 1, replicas: 3 });
  await ensureTopology(nats, { eventsMaxBytes, shards: 1, replicas: 1 });
  const operator = await connectBroker(cluster.operatorUrl, log);
  const manager = await operator.jetstreamManager();
  for (const stream of streamParts(1).flatMap(({ streams }) => streams)) {
    const copies = async () => (await manager.streams.info(stream)).config.num_replicas;
    await expect.poll(copies).toBe(3);
  }
  for (const stream of [eventsStream(0), profilesStream(0)]) {
    const peers = async () =>
      (await manager.consumers.info(stream, writerConsumer)).cluster?.replicas?.length;
    await expect.poll(peers).toBe(2);
  }
  const held = async () => (await manager.streams.info(eventsStream(0))).state.messages;
  await expect.poll(held).toBe(1);
  await operator.close();
});

it('says that the broker has too few servers', async () => {
  const alone = await connectBroker(single.url, log);
  const made = ensureTopology(alone, { eventsMaxBytes, shards: 1, replicas: 3 });
  await expect(made).rejects.toThrow('start them, or set MILLRACE_REPLICAS');
  await alone.close();
});
