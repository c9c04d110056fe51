import { expect, it } from 'vitest';
import type { DueLane } from '../../../platform/webhooks/webhook-streams.ts';
import { FairQueue, type Turn } from './fair-queue.ts';

interface Item extends Turn {
  name: string;
}

const limits = { slots: 10, slotsOfOrganization: 6, slotsOfWebhook: 2, reservedOfLane: 3 };

function item(organizationId: string, webhookId: string, lane: DueLane = 'first', n = 0): Item {
  return { organizationId, webhookId, lane, name: `${webhookId}-${n}` };
}

function offerAll(queue: FairQueue<Item>, items: readonly Item[], maxWaiting = 100): boolean[] {
  return items.map((each) => queue.offer(each, maxWaiting));
}

function takeAll(queue: FairQueue<Item>): Item[] {
  const taken: Item[] = [];
  for (let next = queue.next(); next !== undefined; next = queue.next()) taken.push(next);
  return taken;
}

const many = (count: number, organizationId: string, webhookId: string, lane?: DueLane): Item[] =>
  Array.from({ length: count }, (_, n) => item(organizationId, webhookId, lane, n));

it('gives organizations turns, then webhooks, and a webhook its oldest first', () => {
  const queue = new FairQueue<Item>({ ...limits, slots: 100, slotsOfOrganization: 100 });
  offerAll(queue, [
    ...many(5, 'big', 'a'),
    ...many(5, 'big', 'b'),
    ...many(1, 'small', 'c'),
    ...many(1, 'tiny', 'd'),
  ]);
  const names = takeAll(queue).map(({ name }) => name);
  expect(names).toEqual(['a-0', 'c-0', 'd-0', 'b-0', 'a-1', 'b-1']);
});

it('lets no organization have more than its slots, which both lanes share', () => {
  const queue = new FairQueue<Item>({ ...limits, slotsOfOrganization: 3 });
  offerAll(queue, [
    ...many(2, 'o', 'a'),
    ...many(2, 'o', 'b', 'retry'),
    ...many(2, 'o', 'c'),
    ...many(2, 'o', 'd', 'retry'),
  ]);
  expect(takeAll(queue)).toHaveLength(3);
});

it('lets no webhook have more than its slots, until one ends', () => {
  const queue = new FairQueue<Item>(limits);
  offerAll(queue, many(4, 'o', 'a'));
  const [first] = takeAll(queue);
  expect(queue.inFlight).toBe(2);
  if (first !== undefined) queue.done(first);
  expect(takeAll(queue).map(({ name }) => name)).toEqual(['a-2']);
});

it('lets no organization have more than its slots, until one ends', () => {
  const queue = new FairQueue<Item>(limits);
  const webhooks = ['a', 'b', 'c', 'd'];
  offerAll(
    queue,
    webhooks.flatMap((webhook) => many(2, 'o', webhook)),
  );
  const taken = takeAll(queue);
  expect(taken).toHaveLength(6);
  for (const each of taken.slice(0, 2)) queue.done(each);
  expect(takeAll(queue)).toHaveLength(2);
});

it('keeps slots for each lane', () => {
  const queue = new FairQueue<Item>({ ...limits, slotsOfOrganization: 100 });
  const webhooks = Array.from({ length: 10 }, (_, n) => `w${n}`);
  offerAll(
    queue,
    webhooks.map((webhook) => item('o', webhook, 'retry')),
  );
  expect(takeAll(queue)).toHaveLength(7);
  offerAll(
    queue,
    webhooks.map((webhook) => item('o', webhook, 'first')),
  );
  expect(takeAll(queue).map(({ lane }) => lane)).toEqual(['first', 'first', 'first']);
});

it('refuses what would wait beyond the bound, and knows the room', () => {
  const queue = new FairQueue<Item>(limits);
  expect(offerAll(queue, many(6, 'o', 'a'), 3)).toEqual([true, true, true, true, true, false]);
  expect([queue.roomOf('a', 3), queue.roomOf('a', 5), queue.roomOf('b', 3)]).toEqual([0, 2, 5]);
});

it('gives out what waits for a webhook, and goes on afterwards', () => {
  const queue = new FairQueue<Item>(limits);
  offerAll(queue, many(5, 'o', 'a'));
  const inFlight = takeAll(queue);
  expect(queue.takeWaiting('a').map(({ name }) => name)).toEqual(['a-2', 'a-3', 'a-4']);
  for (const each of inFlight) queue.done(each);
  expect([queue.inFlight, queue.next()]).toEqual([0, undefined]);
  offerAll(queue, many(1, 'o', 'a'));
  expect(takeAll(queue)).toHaveLength(1);
});

it('loses nothing and exceeds nothing in any order of offers, turns and ends', () => {
  const queue = new FairQueue<Item>(limits);
  let state = 7;
  const random = (below: number): number => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
    return (state >>> 8) % below;
  };
  const inFlight: Item[] = [];
  let [offered, ended] = [0, 0];
  for (let step = 0; step < 4_000; step++) {
    const action = random(3);
    if (action === 0) {
      const webhook = random(12);
      const lane = random(2) === 0 ? 'first' : 'retry';
      if (queue.offer(item(`o${webhook % 3}`, `w${webhook}`, lane), 5)) offered++;
    } else if (action === 1) {
      const next = queue.next();
      if (next !== undefined) inFlight.push(next);
    } else {
      const [done] = inFlight.splice(random(Math.max(1, inFlight.length)), 1);
      if (done !== undefined) {
        queue.done(done);
        ended++;
      }
    }
    const most = Math.max(
      0,
      ...inFlight.map((one) => inFlight.filter((each) => each.webhookId === one.webhookId).length),
    );
    const isBounded = inFlight.length <= limits.slots && most <= limits.slotsOfWebhook;
    expect([queue.inFlight, isBounded]).toEqual([inFlight.length, true]);
  }
  while (ended < offered) {
    for (const done of inFlight.splice(0)) {
      queue.done(done);
      ended++;
    }
    const taken = takeAll(queue);
    expect(taken.length > 0 || ended === offered).toBe(true);
    inFlight.push(...taken);
  }
});
