// Senders of events and of identity calls that go on through kills: what has no acknowledgement is sent again, ids
// unchanged, until it has one.

import { setTimeout as delay } from 'node:timers/promises';
import { batchCreate, newEvent, type Sent } from '../clients/client.ts';
import { identify } from '../clients/profile-client.ts';

export interface Target {
  baseUrl: string;
  publicKey: string;
  privateKey: string;
}

export interface SteadyLoad {
  sent: ReadonlySet<string>;
  acknowledged: ReadonlySet<string>;
  /** People who have an acknowledged name. */
  named: ReadonlySet<string>;
  stop(): Promise<void>;
}

const senders = 3;
const batchEvents = 40;

/** `target` is asked anew for each try: a service that is started again has another address. */
export function startSteadyLoad(target: () => Target): SteadyLoad {
  const load = {
    sent: new Set<string>(),
    acknowledged: new Set<string>(),
    named: new Set<string>(),
  };
  let stopping = false;
  const sender = async (number: number): Promise<void> => {
    for (let turn = 0; !stopping; turn++) {
      const person = `person-${number}-${turn % 60}`;
      const batch = Array.from({ length: batchEvents }, (_, index): Sent => {
        const occurred = new Date(Date.UTC(2022 + (index % 5), index % 12, 9));
        return newEvent({
          distinctId: index % 4 === 0 ? person : `anon-${number}-${(turn + index) % 90}`,
          kind: index % 2 === 0 ? 'page_view' : 'custom.thing',
          ...(index % 5 === 0 && { occurTime: occurred.toISOString() }),
          customProperties: { plan: { stringValue: `plan-${index % 3}` } },
        });
      });
      for (const { eventId } of batch) load.sent.add(eventId);
      // What began goes on to its end: the service is there again by then.
      while (!(await isAcknowledged(target, batch))) await delay(50);
      for (const { eventId } of batch) load.acknowledged.add(eventId);
      if (turn % 5 === 0 && (await isNamed(target, person, number, turn))) load.named.add(person);
      // A machine that is busy otherwise must get its rows stored meanwhile.
      await delay(25);
    }
  };
  const running = Promise.all(Array.from({ length: senders }, (_, number) => sender(number)));
  return {
    ...load,
    async stop() {
      stopping = true;
      await running;
    },
  };
}

async function isAcknowledged(target: () => Target, batch: readonly Sent[]): Promise<boolean> {
  const to = target();
  try {
    // Times of long ago are for private keys.
    const { status, body } = await batchCreate(to, batch, { key: to.privateKey });
    return status === 200 && body['accepted'] === batch.length;
  } catch {
    return false;
  }
}

async function isNamed(
  target: () => Target,
  externalId: string,
  number: number,
  turn: number,
): Promise<boolean> {
  const anonymousId = `anon-${number}-${turn % 90}`;
  try {
    await identify(target(), { externalId, anonymousId, traits: { turn } });
    return true;
  } catch {
    return false;
  }
}
