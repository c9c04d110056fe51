// Removes the health records of webhooks that were deleted. The broker keeps some 100 bytes of each as a marker.

import type { WatchedBucket } from '../../../platform/broker/watched-bucket.ts';
import type { Log } from '../../../platform/log.ts';
import type { WebhookDirectory } from '../../../platform/webhooks/webhook-directory.ts';
import type { WebhookHealthRecord } from './health-record.ts';

interface ForgetOptions {
  bucket: Pick<WatchedBucket<WebhookHealthRecord>, 'get' | 'records'>;
  /** Rejects where the record is no longer at this revision, or the broker does not answer. */
  remove(webhookId: string, revision: number): Promise<void>;
  directory: Pick<WebhookDirectory, 'get'>;
  log: Log;
}

const everyMs = 3_600_000;
/** One at a time: nobody waits for it. */
const removalsOfSweep = 1_000;

/**
 * Sweeps at once and every hour until it is closed. A webhook that this process does not know yet may be taken for a
 * deleted one: then its failures count anew.
 */
export function forgetDeleted(options: ForgetOptions): { close(): Promise<void> } {
  const { log } = options;
  let isClosed = false;
  const sweepOnce = () =>
    sweep(options, () => isClosed).catch((error: unknown) =>
      log.warn({ err: error }, 'health records of deleted webhooks stay for now'),
    );
  let sweeping = sweepOnce();
  const timer = setInterval(() => {
    sweeping = sweeping.then(sweepOnce);
  }, everyMs);
  timer.unref();
  return {
    close() {
      isClosed = true;
      clearInterval(timer);
      return sweeping;
    },
  };
}

async function sweep(
  { bucket, remove, directory }: ForgetOptions,
  isClosed: () => boolean,
): Promise<void> {
  let removed = 0;
  for (const [webhookId] of bucket.records()) {
    if (isClosed() || removed === removalsOfSweep) return;
    const held = bucket.get(webhookId);
    if (held === undefined || directory.get(webhookId) !== undefined) continue;
    await remove(webhookId, held.revision);
    removed++;
  }
}
