// Writers that stand still for an operator's command: until it lets them go, until it says nothing any more, and never
// longer than the bound. The words go through a real broker, as the operator; the service's user may not say them.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectBroker, type NatsConnection } from '../platform/broker/nats.ts';
import { holdLeaseMs, longestHoldMs, writersHoldSubject } from '../platform/ledger/writers-hold.ts';
import { createLog } from '../platform/log.ts';
import { operatorUrl } from '../test/harness/servers/broker.ts';
import { useBroker } from '../test/harness/servers/use-servers.ts';
import { hearHold, type WriterHold } from './hold.ts';

const log = createLog('silent');
const broker = useBroker();
let service: NatsConnection;
let operator: NatsConnection;
beforeAll(async () => {
  service = await connectBroker(broker.url, log);
  operator = await connectBroker(operatorUrl(broker), log);
});
afterAll(async () => {
  await Promise.all([service.close(), operator.close()]);
});

/** A clock and one timer that the test moves. */
function heldBy() {
  const time = { nowMs: 0, timer: undefined as { atMs: number; work: () => void } | undefined };
  const hold = hearHold({
    nats: service,
    clock: { nowMs: () => time.nowMs },
    log,
    later(ms, work) {
      time.timer = { atMs: time.nowMs + ms, work };
      return () => {
        time.timer = undefined;
      };
    },
  });
  return {
    hold,
    /** Moves the clock, and lets the timer run where it is due. */
    pass(ms: number) {
      time.nowMs += ms;
      const { timer } = time;
      if (timer === undefined || timer.atMs > time.nowMs) return;
      time.timer = undefined;
      timer.work();
    },
  };
}

async function say(word: string): Promise<void> {
  await service.flush();
  operator.publish(writersHoldSubject, word);
  await operator.flush();
  await service.flush();
}

async function isHeld(hold: WriterHold): Promise<boolean> {
  return Promise.race([
    hold.mayPromise().then(() => false),
    // A gate that is open lets pass within this turn.
    new Promise<boolean>((resolve) => setImmediate(() => resolve(true))),
  ]);
}

it('stand still until the command lets them go', async () => {
  const { hold } = heldBy();
  expect(await isHeld(hold)).toBe(false);
  await say('hold');
  expect(await isHeld(hold)).toBe(true);
  const passed = hold.mayPromise();
  await say('go');
  await passed;
  expect(await isHeld(hold)).toBe(false);
  hold.close();
});

it('go on where the command is gone, and stand still as long as it says so', async () => {
  const { hold, pass } = heldBy();
  await say('hold');
  pass(holdLeaseMs - 1);
  await say('hold');
  pass(holdLeaseMs - 1);
  expect(await isHeld(hold)).toBe(true);
  pass(1);
  expect(await isHeld(hold)).toBe(false);
  hold.close();
});

it('go on after the bound, and as long again before they stand still', async () => {
  const { hold, pass } = heldBy();
  const ask = async (ms: number): Promise<void> => {
    for (let left = ms; left > 0; left -= holdLeaseMs / 2) {
      await say('hold');
      pass(Math.min(left, holdLeaseMs / 2));
    }
  };
  await ask(longestHoldMs - 1);
  expect(await isHeld(hold)).toBe(true);
  pass(1);
  expect(await isHeld(hold)).toBe(false);
  await ask(longestHoldMs - 1);
  expect(await isHeld(hold)).toBe(false);
  pass(1);
  await say('hold');
  expect(await isHeld(hold)).toBe(true);
  hold.close();
  expect(await isHeld(hold)).toBe(false);
});

it('hear no other word', async () => {
  const { hold } = heldBy();
  await say('stay');
  expect(await isHeld(hold)).toBe(false);
  hold.close();
});
