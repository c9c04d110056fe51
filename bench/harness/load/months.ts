// Requests of events of any times, as an import of history or an attacker sends them: the benches' other load has times

// of now.

import { createHash } from 'node:crypto';
import { dayMs } from '../../../platform/clock.ts';
import { batchCreate } from '../../../test/harness/clients/client.ts';
import { check } from '../../bench.ts';

export interface Sender {
  baseUrl: string;
  /** Times of long ago are for private keys. */
  privateKey: string;
}

const visitors = 5_000;
const pages = 300;
/** Event `number` of all; equal numbers of equal `seed` are the same event. */
export function eventAt(seed: string, number: number, timeMs: number): object {
  const hash = createHash('sha256').update(`${seed} ${number}`).digest();
  const visitor = Math.floor((hash.readUInt32LE(0) / 2 ** 32) ** 3 * visitors);
  const day = Math.floor(timeMs / dayMs);
  return {
    eventId: uuidOf(hash.toString('hex')),
    kind: number % 3 === 0 ? 'click' : 'page_view',
    distinctId: `visitor-${visitor}`,
    sessionId: uuidOf(createHash('sha256').update(`${visitor} ${day}`).digest('hex')),
    occurTime: new Date(timeMs).toISOString(),
    autoProperties: {
      $url: { stringValue: `https://shop.example/${hash.readUInt16LE(4) % pages}` },
    },
    customProperties: { plan: { stringValue: `plan ${hash[6]}` } },
  };
}

function uuidOf(hex: string): string {
  const [a, b, c, d] = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(13, 16), hex.slice(17, 20)];
  return `${a}-${b}-4${c}-8${d}-${hex.slice(20, 32)}`;
}

/** Sends one request; throws where it is refused. */
export async function sendEvents(sender: Sender, events: readonly object[]): Promise<void> {
  const { baseUrl, privateKey } = sender;
  const answer = await batchCreate({ baseUrl, publicKey: privateKey }, events);
  check(answer.status === 200, `an import is taken, and not answered ${answer.status}`);
}

/** Sends requests of one event in each of `months` months, so many a second, until it is stopped. */
export function sendMonths(
  sender: Sender,
  { months, requestsPerSecond, seed }: { months: number; requestsPerSecond: number; seed: string },
): { stop(): Promise<{ events: number }> } {
  let isStopped = false;
  let sent = 0;
  let failure: unknown;
  const running = new Set<Promise<void>>();
  const timer = setInterval(() => {
    const first = sent;
    const events = Array.from({ length: months }, (_, month) =>
      eventAt(seed, first + month, Date.UTC(2000, month, 1 + (month % 28), 12)),
    );
    sent += months;
    const request = sendEvents(sender, events)
      .catch((error) => {
        failure ??= error;
      })
      .finally(() => running.delete(request));
    running.add(request);
  }, 1_000 / requestsPerSecond);
  return {
    async stop() {
      if (!isStopped) clearInterval(timer);
      isStopped = true;
      await Promise.all(running);
      if (failure !== undefined) throw failure;
      return { events: sent };
    },
  };
}
