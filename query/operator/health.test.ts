// The servers of streams in GetHealth. The whole answer is read from a running product in test/operator.test.ts.

import { expect, it } from 'vitest';
import { systemClock } from '../../platform/clock.ts';
import { getHealth } from './health.ts';

it('tells who leads each stream, who is offline and who is behind', async () => {
  const peer = { isLeader: false, isOffline: false, behind: 0 };
  const { streams } = await getHealth({
    readiness: async () => ({}),
    shards: 0,
    queue: () => Promise.reject(new Error('there is no shard')),
    buckets: () => [],
    streams: () => [
      {
        stream: 'EVENTS_0',
        peers: [
          { ...peer, name: 'alpha', isLeader: true },
          { ...peer, name: 'beta', isOffline: true },
          { ...peer, name: 'gamma', behind: 7 },
        ],
      },
      { stream: 'KV_orgs', peers: [] },
    ],
    disk: () => ({ freeBytes: 0, reserveBytes: 0, isScarce: false }),
    metricsText: async () => '',
    clock: systemClock,
  });
  expect(streams).toMatchObject([
    {
      name: 'EVENTS_0',
      leader: 'alpha',
      followers: [
        { name: 'beta', offline: true, behind: 0n },
        { name: 'gamma', offline: false, behind: 7n },
      ],
    },
    { name: 'KV_orgs', leader: '', followers: [] },
  ]);
});
