// A backup and an erasure are never under way at once.

import { expect, it, onTestFinished } from 'vitest';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { buckets } from '../broker/buckets.ts';
import { ensureBucket } from '../broker/ensure-stream.ts';
import { connectBroker } from '../broker/nats.ts';
import { openBucket } from '../broker/record-bucket.ts';
import { createLog } from '../log.ts';
import { isLeased } from '../turns/held-record.ts';
import {
  type ErasureWork,
  erasureLeaseMs,
  erasureWorkKey,
  noWork,
  readErasureWork,
} from './erasure-record.ts';
import { whileNoErasure } from './hold-erasures.ts';

const broker = useBroker();

async function open() {
  const connection = await connectBroker(broker.url, createLog('silent'));
  onTestFinished(() => connection.close());
  await ensureBucket(connection, buckets.instance, 1);
  const states = await openBucket(connection, buckets.instance, readErasureWork);
  const write = async (record: ErasureWork): Promise<void> => {
    const found = await states.get(erasureWorkKey);
    if (found.kind === 'absent') await states.create(erasureWorkKey, record);
    else await states.update(erasureWorkKey, record, found.revision);
  };
  const read = async (): Promise<ErasureWork> => {
    const found = await states.get(erasureWorkKey);
    return found.kind === 'found' ? found.record : noWork;
  };
  let nowMs = 1_000_000;
  const advance = (ms: number): void => {
    nowMs += ms;
  };
  const clock = { nowMs: () => nowMs, advance };
  return { connection, write, read, clock };
}

it('waits for a lease of others, and holds its own until the end', async () => {
  const { connection, write, read, clock } = await open();
  await write({ ...noWork, leaseEndMs: clock.nowMs() + 50_000 });
  let began = false;
  const held = whileNoErasure({ connection, clock }, async () => {
    began = true;
    return isLeased(await read(), clock.nowMs(), erasureLeaseMs);
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(began).toBe(false);
  clock.advance(50_000);
  expect(await held).toBe(true);
  expect(await read()).toEqual(noWork);
});

it('waits for work that is begun, though nobody is at it', async () => {
  const { connection, write, clock } = await open();
  const retained = {
    ...{ id: 'r', projects: [{ projectId: 'p', beforeMs: 0 }], group: 0, startedMs: 0 },
    step: 'rows' as const,
    ...{ stored: [], nameSlices: 1, slices: 1, slice: 0, attempts: 0 },
  };
  await write({ ...noWork, retained });
  let began = false;
  const held = whileNoErasure({ connection, clock }, async () => {
    began = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 500));
  expect(began).toBe(false);
  await write(noWork);
  await held;
  expect(began).toBe(true);
});

it('gives its lease back where the work fails', async () => {
  const { connection, read, clock } = await open();
  const held = whileNoErasure({ connection, clock }, () => Promise.reject(new Error('no room')));
  await expect(held).rejects.toThrow('no room');
  expect((await read()).leaseEndMs).toBe(0);
});

it('says so where an erasure began all the same', async () => {
  const { connection, read, write, clock } = await open();
  const theirs = { ...noWork, leaseEndMs: clock.nowMs() + 70_000 };
  const held = whileNoErasure({ connection, clock }, () => write(theirs));
  await expect(held).rejects.toThrow('an erasure began meanwhile: take the backup again');
  expect(await read()).toEqual(theirs);
});
