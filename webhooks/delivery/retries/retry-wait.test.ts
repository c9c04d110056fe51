import { expect, it } from 'vitest';
import { newDelivery } from '../../../test/harness/webhooks/delivery-broker.ts';
import { longestWaitMs, remainingWaitMs, retryClocks, waiting } from './retry-wait.ts';

const hourMs = 3_600_000;
const queuedMs = 1_800_000_000_000;

function process(wallMs: number, steadyMs = 0) {
  const now = { wallMs, steadyMs };
  const clocks = retryClocks({ nowMs: () => now.wallMs }, { nowMs: () => now.steadyMs });
  return { now, clocks };
}

const retry = (dueTimeMs: number) => newDelivery('org', 'webhook', { attempt: 2, dueTimeMs });

it.each([-hourMs, 0, hourMs])('waits by the steady clock of who planned it, %i ms off', (off) => {
  const { now, clocks } = process(queuedMs);
  const planned = waiting(retry(0), queuedMs + 60_000, 60_000, clocks);
  now.steadyMs += 40_000;
  now.wallMs += 40_000 + off;
  expect(remainingWaitMs(planned, queuedMs, '1m', clocks)).toBe(20_000);
});

it('waits until its time where another process planned it', () => {
  const planned = waiting(retry(0), queuedMs + 300_000, 300_000, process(queuedMs).clocks);
  const later = process(queuedMs + 100_000, 77_000);
  expect(remainingWaitMs(planned, queuedMs, '5m', later.clocks)).toBe(200_000);
});

it('waits no longer than its tier after a start with a clock that was set back', () => {
  const { clocks } = process(queuedMs - hourMs);
  const planned = retry(queuedMs + 300_000);
  expect(remainingWaitMs(planned, queuedMs, '5m', clocks)).toBe(longestWaitMs('5m'));
});

it("waits by the broker's stamp where the clock of who planned it was ahead", () => {
  const { clocks } = process(queuedMs + 60_000);
  const planned = retry(queuedMs + hourMs + 300_000);
  expect(remainingWaitMs(planned, queuedMs, '5m', clocks)).toBe(longestWaitMs('5m') - 60_000);
});
