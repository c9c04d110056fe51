// A start on a machine where the broker answers late: it waits, and names the step where it waits in vain.

import { expect, it } from 'vitest';
import { useBroker } from '../../../test/harness/servers/use-servers.ts';
import { createLog } from '../../log.ts';
import { NoLeaderError } from '../cluster/leader-info.ts';
import { connectBroker } from '../nats.ts';
import { openBucket } from '../record-bucket.ts';
import { ensureTopology } from '../topology.ts';
import { watchBucket } from '../watched-bucket.ts';
import { despiteSlowBroker, namingSlowBroker } from './slow-broker.ts';

const broker = useBroker();
const log = createLog('silent');

it('a step is asked again until a slow broker answers', async () => {
  const nats = await connectBroker(broker.url, log);
  const manager = await nats.jetstreamManager({ checkAPI: false, timeout: 200 });
  broker.pause();
  let tries = 0;
  const step = (): Promise<unknown> => {
    tries += 1;
    if (tries === 2) broker.resume();
    return manager.getAccountInfo();
  };
  await despiteSlowBroker('its account is asked', step);
  expect(tries).toBeGreaterThan(1);
  await nats.close();
});

it('a step is asked again until its stream has a leader, and says that there was none', async () => {
  const asked = async (failures: number, error: Error): Promise<number> => {
    let tries = 0;
    const step = async (): Promise<number> => {
      tries += 1;
      if (tries <= failures) throw error;
      return tries;
    };
    return despiteSlowBroker('a stream is asked', step, { patienceMs: 1_500 });
  };
  expect(await asked(2, new NoLeaderError('x'))).toBe(3);
  await expect(asked(9, new NoLeaderError('x'))).rejects.toThrow('the stream x has no leader');
  await expect(asked(1, new Error('refused'))).rejects.toThrow('refused');
});

it('a bucket is read once a slow broker answers', async () => {
  const nats = await connectBroker(broker.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 200 * 1_048_576, shards: 1 });
  const bucket = await openBucket(nats, 'projects', () => ({ schemaVersion: 1 }));
  broker.pause();
  const thawing = Object.assign(createLog('silent'), { warn: () => broker.resume() });
  const watched = await watchBucket(nats, bucket, { log: thawing });
  expect([...watched.records()]).toEqual([]);
  await watched.close();
  await nats.close();
});

it('a broker that stays silent is named, with what was asked of it', async () => {
  const nats = await connectBroker(broker.url, log);
  const manager = await nats.jetstreamManager({ checkAPI: false, timeout: 200 });
  broker.pause();
  const ask = (): Promise<unknown> => manager.getAccountInfo();
  const late = (time: string): string =>
    `the broker does not answer ${time} while streams are made: is its machine or its disk too busy?`;
  await expect(despiteSlowBroker('streams are made', ask, { patienceMs: 500 })).rejects.toThrow(
    late('within 0.5 s'),
  );
  await expect(namingSlowBroker('streams are made', ask())).rejects.toThrow(late('in time'));
  broker.resume();
  await nats.close();
});

it('any other failure ends the start at once', async () => {
  const failing = (): Promise<never> => Promise.reject(new Error('the disk is full'));
  await expect(despiteSlowBroker('streams are made', failing)).rejects.toThrow('the disk is full');
  await expect(namingSlowBroker('streams are made', failing())).rejects.toThrow('the disk is full');
});
