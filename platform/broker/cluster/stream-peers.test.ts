// Readiness on a cluster of three real servers: what a part needs is asked of the streams' leaders.

import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type BrokerCluster,
  startBrokerCluster,
} from '../../../test/harness/servers/cluster/broker-cluster.ts';
import { isReady, shareReadiness } from '../../http/readiness.ts';
import { createLog } from '../../log.ts';
import { createMetrics, metricValue } from '../../metrics.ts';
import { connectBroker, type NatsConnection } from '../nats.ts';
import { ensureTopology } from '../topology.ts';
import { openPeerGauges } from './peer-gauges.ts';
import { hasMajority, type StreamPeer, streamChecks, streamParts } from './stream-peers.ts';

const log = createLog('silent');
let cluster: BrokerCluster;
let nats: NatsConnection;

beforeAll(async () => {
  cluster = await startBrokerCluster();
  nats = await connectBroker(cluster.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 64 * 1_048_576, shards: 1, replicas: 3 });
});

afterAll(async () => {
  await nats.close();
  await cluster.stop();
});

it('names the parts whose streams take nothing where two of three servers are gone', async () => {
  const readiness = shareReadiness(streamChecks(nats, 1), 1);
  const isWell = async () => isReady(await readiness());
  await expect.poll(isWell).toBe(true);
  const [first, ...others] = cluster.servers.values();
  for (const server of others) await server.kill9();
  const names = ['shard-0', 'records', 'dead-letters', 'deliveries'];
  const none = Object.fromEntries(names.map((name) => [name, false]));
  await expect.poll(readiness, { interval: 500 }).toEqual(none);
  // What was asked before: the server that is left answers it.
  await expect.poll(() => nats.flush().then(() => true)).toBe(true);
  expect(first?.pid()).toBeGreaterThan(0);
  await Promise.all(others.map((server) => server.restart()));
  await expect.poll(isWell, { interval: 500 }).toBe(true);
});

it('tells the operator which servers of a stream are offline', async () => {
  const [lost] = cluster.servers.values();
  await lost?.kill9();
  const of = { stream: 'EVENTS_0' };
  /** Each time asked anew: a leader hears late of a server that is gone. */
  const told = async (): Promise<(number | undefined)[]> => {
    const metrics = createMetrics();
    const gauges = openPeerGauges({ connection: nats, shards: 1, metrics });
    const streams = streamParts(1).flatMap((part) => part.streams);
    await expect.poll(() => gauges.known().length).toBe(streams.length);
    const offline = await metricValue(metrics, 'millrace_stream_offline_servers', of);
    const leaders = await metricValue(metrics, 'millrace_stream_leader_servers', of);
    gauges.close();
    return [offline, leaders];
  };
  await expect.poll(told, { interval: 500 }).toEqual([1, 1]);
  await lost?.restart();
});

it('a leader without followers that it hears of leads nobody', () => {
  const peer = { name: '', isLeader: false, isOffline: false, isCurrent: true, behind: 0 };
  const peers = (offline: readonly boolean[]): StreamPeer[] =>
    offline.map((isOffline) => ({ ...peer, isOffline }));
  expect(hasMajority(peers([]))).toBe(true);
  expect(hasMajority(peers([false]))).toBe(true);
  expect(hasMajority(peers([false, true, false]))).toBe(true);
  expect(hasMajority(peers([false, true, true]))).toBe(false);
  expect(hasMajority(peers([false, false, false, true, true]))).toBe(true);
});
