// Whoever fills a queue is told to slow down, on a real broker.

import { expect, it, onTestFinished } from 'vitest';
import { connectBroker } from '../../platform/broker/nats.ts';
import { tellLive } from '../../platform/live/live-messages.ts';
import { crowdingSubject } from '../../platform/live/live-subjects.ts';
import { createLog } from '../../platform/log.ts';
import { encodeCrowding, readCrowding } from '../../proto/wire/live/crowding-message.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { hearCrowdingProjects } from './crowding-projects.ts';

const broker = useBroker();

it('slows a project for a second after it was named, and keeps it apart for a minute', async () => {
  const nats = await connectBroker(broker.url, createLog('silent'));
  onTestFinished(() => nats.close());
  let nowMs = 5;
  const crowding = hearCrowdingProjects(nats, () => nowMs);
  await nats.flush();
  expect([crowding.isSlowed(7), crowding.isApart(7)]).toEqual([false, false]);
  tellLive(nats, crowdingSubject(3), encodeCrowding([7, 2 ** 32 - 1]));
  await expect.poll(() => crowding.isSlowed(7)).toBe(true);
  expect([crowding.isSlowed(2 ** 32 - 1), crowding.isSlowed(8)]).toEqual([true, false]);
  nowMs += 1_000;
  expect(crowding.isSlowed(7)).toBe(true);
  nowMs += 1;
  expect([crowding.isSlowed(7), crowding.isApart(7)]).toEqual([false, true]);
  nowMs += 59_000;
  expect(crowding.isApart(7)).toBe(false);
  tellLive(nats, crowdingSubject(3), Buffer.from('junk!'));
  tellLive(nats, crowdingSubject(3), encodeCrowding([9]));
  await expect.poll(() => crowding.isSlowed(9)).toBe(true);
  crowding.close();
});

it('reads the marks that were written, and nothing of other bytes', () => {
  const marks = [0, 1, 2 ** 31, 2 ** 32 - 1];
  expect(readCrowding(encodeCrowding(marks))).toEqual(marks);
  expect(readCrowding(encodeCrowding([]))).toEqual([]);
  expect(readCrowding(Buffer.alloc(7))).toEqual([]);
  expect(readCrowding(Buffer.alloc(4_004))).toEqual([]);
  expect(readCrowding(encodeCrowding(Array.from({ length: 5_000 }, (_, n) => n)))).toHaveLength(
    1_000,
  );
});
