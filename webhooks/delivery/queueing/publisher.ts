// Publishes a message to one of the webhook streams, once however often it is tried. What follows from a full stream
// is for the caller to decide.

import { setMaxListeners } from 'node:events';
import type { NatsConnection } from '../../../platform/broker/nats.ts';
import type { Log } from '../../../platform/log.ts';
import { retry } from '../../../platform/retry.ts';
import { publishMessage } from '../../../platform/webhooks/publish-message.ts';

export interface Publisher {
  /**
   * Tries until the broker has answered: `full` says that nothing was stored. A message whose id the stream knows from
   * the last ten minutes counts as stored. Rejects once the publisher is stopped.
   */
  publish(subject: string, data: Uint8Array, messageId: string): Promise<'stored' | 'full'>;
}

const retryBaseMs = 100;
const retryCapMs = 2_000;

export function createPublisher(options: {
  connection: NatsConnection;
  log: Log;
  signal: AbortSignal;
}): Publisher {
  const { connection, log, signal } = options;
  // Each message that waits for the broker listens.
  setMaxListeners(0, signal);
  const publishOnce = async (subject: string, data: Uint8Array, messageId: string) => {
    const answered = await publishMessage(connection, subject, data, messageId);
    switch (answered.kind) {
      case 'stored':
      case 'full':
        return answered.kind;
      case 'unavailable':
        throw new Error(answered.reason);
      default:
        return answered satisfies never;
    }
  };
  return {
    publish: (subject, data, messageId) =>
      retry(() => publishOnce(subject, data, messageId), {
        signal,
        baseMs: retryBaseMs,
        capMs: retryCapMs,
        onFailure({ error, attempt }) {
          if (attempt === 1)
            log.warn({ err: error }, 'a message about a webhook waits for the broker');
        },
      }),
  };
}
