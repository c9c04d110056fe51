// Sends a stream of deliveries over a few connections, as fast as they are acknowledged or at a given rate.

import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from './client.ts';
import type { Delivery } from './deliveries.ts';
import type { Target } from './target.ts';

export interface SendOptions {
  client: Client;
  target: Target;
  connections: number;
  /** Events a second; 0 for as fast as they are acknowledged. */
  eventsPerSecond: number;
  onProgress: (acknowledged: number, elapsedMs: number) => void;
}

export interface Sent {
  acknowledged: number;
  requests: number;
  elapsedMs: number;
  /** When the last of them was acknowledged, by performance.now(). */
  lastMs: number;
}

/** Sends everything; throws a RequestRefused at the first request that the instance refuses. */
export async function sendAll(
  deliveries: Iterator<Delivery> | AsyncIterator<Delivery>,
  options: SendOptions,
): Promise<Sent> {
  const startMs = performance.now();
  const sent: Sent = { acknowledged: 0, requests: 0, elapsedMs: 0, lastMs: startMs };
  let begun = 0;
  let failed = false;
  const worker = async (): Promise<void> => {
    while (!failed) {
      const next = await deliveries.next();
      if (next.done === true) return;
      const delivery = next.value;
      const dueMs = options.eventsPerSecond === 0 ? 0 : (1_000 * begun) / options.eventsPerSecond;
      begun += delivery.events.length;
      const earlyMs = startMs + dueMs - performance.now();
      if (earlyMs > 1) await delay(earlyMs);
      const accepted = await sendOne(delivery, options).catch((error) => {
        failed = true;
        throw error;
      });
      sent.lastMs = performance.now();
      sent.requests++;
      sent.acknowledged += accepted;
      options.onProgress(sent.acknowledged, sent.lastMs - startMs);
    }
  };
  await Promise.all(Array.from({ length: options.connections }, worker));
  sent.elapsedMs = performance.now() - startMs;
  return sent;
}

async function sendOne(delivery: Delivery, { client, target }: SendOptions): Promise<number> {
  const key = delivery.credential === 'public' ? target.publicKey : target.privateKey;
  const accepted = await client.sendEvents(delivery.events, key, delivery.userAgent);
  for (const member of delivery.members ?? []) await client.identify(member, key);
  return accepted;
}
