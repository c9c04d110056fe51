// The webhook of `npm run demo -- --webhooks`: made before the visits, heard while they are played, and deleted behind
// them where the listener is the demo's own.

import { setTimeout as delay } from 'node:timers/promises';
import { count } from '../progress.ts';
import { startListener } from './listener.ts';
import { makeWebhook } from './management.ts';
import { deliveryLine } from './present.ts';

interface HearOptions {
  baseUrl: string;
  dataDir: string;
  /** A listener that somebody else runs. */
  listenerUrl: string | undefined;
  say(line: string): void;
}

const shownDeliveries = 20;
const quietMs = 3_000;
const longestWaitMs = 30_000;

/** Returns what to call behind the visits: it waits until no more deliveries come. */
export async function hearWebhook(options: HearOptions): Promise<() => Promise<void>> {
  const { listenerUrl, say } = options;
  if (listenerUrl !== undefined) {
    const { id, secret } = await makeWebhook(options, listenerUrl);
    say(`webhook ${id} delivers to ${listenerUrl}, signed with ${secret}`);
    return async () => {};
  }
  let secret: string | undefined;
  let heard = 0;
  let lastMs = performance.now();
  const listener = await startListener({
    port: 0,
    secret: () => secret,
    onDelivery(delivery) {
      lastMs = performance.now();
      if (++heard <= shownDeliveries) say(deliveryLine(delivery));
    },
  });
  // A play that fails must end.
  listener.unref();
  try {
    const webhook = await makeWebhook(options, listener.url);
    secret = webhook.secret;
    say(`webhook ${webhook.id} delivers to ${listener.url}; the first deliveries:`);
    return async () => {
      const deadlineMs = performance.now() + longestWaitMs;
      lastMs = performance.now();
      while (performance.now() < Math.min(deadlineMs, lastMs + quietMs)) await delay(100);
      await webhook.delete();
      await listener.close();
      say(`${count(heard)} deliveries came, all with signatures that are right`);
    };
  } catch (error) {
    await listener.close();
    throw error;
  }
}
