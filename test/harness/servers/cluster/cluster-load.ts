// Batches of events, each sent again until it is acknowledged, and what their sender sees of a broker that fails.

import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { batchCreate, newEvent, rows, type Sent } from '../../clients/client.ts';
import type { Stack } from '../stack.ts';

export interface ClusterLoad {
  readonly acknowledged: ReadonlySet<string>;
  /** Of them, those whose webhook is to hear of them. */
  readonly told: ReadonlySet<string>;
  /** When the latest batch was refused, on performance.now()'s scale; 0 where none was. */
  refusedMs(): number;
  /** Resolves once each batch that was sent is acknowledged. */
  stop(): Promise<void>;
}

const senders = 4;
const batchEvents = 20;
const sendEveryMs = 20;
const sendAgainMs = 100;

/** One event of each batch is a message of the room. */
export function startClusterLoad(stack: Stack, room: string): ClusterLoad {
  const acknowledged = new Set<string>();
  const told = new Set<string>();
  let refusedMs = 0;
  let isStopping = false;
  const sender = async (number: number): Promise<void> => {
    const distinctId = `visitor-${number}`;
    while (!isStopping) {
      const message = newEvent({
        distinctId,
        kind: 'message_sent',
        customProperties: ofRoom(room),
      });
      const views = Array.from({ length: batchEvents - 1 }, () => newEvent({ distinctId }));
      const batch = [message, ...views];
      while (!(await isTaken(stack, batch))) {
        refusedMs = performance.now();
        await delay(sendAgainMs);
      }
      for (const { eventId } of batch) acknowledged.add(eventId);
      told.add(message.eventId);
      await delay(sendEveryMs);
    }
  };
  const running = Promise.all(Array.from({ length: senders }, (_, number) => sender(number)));
  // Whoever stops it hears of it.
  running.catch(() => {});
  return {
    acknowledged,
    told,
    refusedMs: () => refusedMs,
    async stop() {
      isStopping = true;
      await running;
    },
  };
}

function ofRoom(room: string): Record<string, unknown> {
  return {
    room_id: { stringValue: room },
    message_id: { stringValue: 'm1' },
    room_type: { stringValue: 'chat' },
  };
}

/** A refusal is to be tried again, and says when. */
async function isTaken(stack: Stack, batch: readonly Sent[]): Promise<boolean> {
  const answer = await batchCreate(stack, batch, { key: stack.privateKey });
  if (answer.status === 200) return answer.body['accepted'] === batch.length;
  const { status, body, headers } = answer;
  expect([status, body['code'], headers.has('retry-after')]).toEqual([503, 'unavailable', true]);
  return false;
}

/** The acknowledged events that the tables lack, and those that they hold twice. */
export async function differences(
  { clickhouseUrl }: Pick<Stack, 'clickhouseUrl'>,
  acknowledged: ReadonlySet<string>,
): Promise<{ lost: string[]; doubled: string[] }> {
  const stored = new Set<string>();
  const doubled: string[] = [];
  const query = 'SELECT toString(event_id) AS id FROM events';
  for (const { id } of await rows<{ id: string }>(clickhouseUrl, query)) {
    if (stored.has(id)) doubled.push(id);
    stored.add(id);
  }
  return { lost: [...acknowledged].filter((id) => !stored.has(id)), doubled };
}
