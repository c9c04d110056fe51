// Who waits after a session was cut off, how long, and how many are remembered.

import { expect, it } from 'vitest';
import { CutOffSenders } from './cut-off-senders.ts';

let nowMs = 0;
const isProxy = (address: string | undefined) => address === '10.0.0.1';
let refused = 0;
const onRefused = () => refused++;
const create = (maxSenders = 10_000) =>
  new CutOffSenders({ waitMs: 60_000, isProxy, onRefused, nowMs: () => nowMs, maxSenders });

it('an IPv4 address and the /64 of an IPv6 address wait, and their neighbours do not', () => {
  const senders = create();
  senders.add('192.0.2.1');
  senders.add('2001:db8:1:2::1');
  expect(senders.waits('192.0.2.1')).toBe(true);
  expect(senders.waits('2001:db8:1:2:ffff::9')).toBe(true);
  expect(senders.waits('192.0.2.2')).toBe(false);
  expect(senders.waits('2001:db8:1:3::1')).toBe(false);
  nowMs += 59_999;
  expect(senders.admit('192.0.2.1')).toBe(false);
  expect(refused).toBe(1);
  nowMs += 1;
  expect(senders.admit('192.0.2.1')).toBe(true);
  expect(refused).toBe(1);
});

it('waits anew when it was cut off again, and asking does not make it longer', () => {
  const senders = create();
  senders.add('192.0.2.1');
  nowMs += 40_000;
  senders.add('192.0.2.1');
  nowMs += 40_000;
  expect(senders.waits('192.0.2.1')).toBe(true);
  nowMs += 20_000;
  expect(senders.waits('192.0.2.1')).toBe(false);
});

it('a trusted proxy, which brings many callers, does not wait', () => {
  const senders = create();
  senders.add('10.0.0.1');
  expect(senders.waits('10.0.0.1')).toBe(false);
});

it('remembers a bounded number of senders, the newest', () => {
  const senders = create(100);
  const address = (number: number) => `2001:db8:${number.toString(16)}:1::1`;
  for (let number = 0; number < 1_000; number++) senders.add(address(number));
  const waiting = Array.from({ length: 1_000 }, (_, number) => senders.waits(address(number)));
  expect(waiting.filter(Boolean)).toHaveLength(100);
  expect(waiting.slice(900).every(Boolean)).toBe(true);
});
