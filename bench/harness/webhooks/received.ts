// Waits for what a bench's endpoints must get, and holds it to what is always true of deliveries.

import { setTimeout as delay } from 'node:timers/promises';
import { check } from '../../bench.ts';
import type { EndpointsProcess } from '../processes/processes.ts';
import type { ReceivedDeliveries } from './receiving.ts';

// A neighbour can leave a backlog, which the lag then shows.
const arriveTimeoutMs = 300_000;
/** What is repeated comes later. */
const settleMs = 300;
const mostAtOnce = 8;

/** Throws where fewer or more different deliveries come, or more at once than an endpoint may get. */
export async function untilReceived(
  endpoints: EndpointsProcess,
  expected: number,
): Promise<ReceivedDeliveries & { allCameMs: number }> {
  const deadlineMs = performance.now() + arriveTimeoutMs;
  while ((await endpoints.count()) < expected && performance.now() < deadlineMs) await delay(100);
  const allCameMs = performance.now();
  await delay(settleMs);
  const received = await endpoints.report();
  check(received.deliveries === expected, `${expected} deliveries, not ${received.deliveries}`);
  check(received.mostAtOnce <= mostAtOnce, `no endpoint has more than ${mostAtOnce} at once`);
  return { ...received, allCameMs };
}
