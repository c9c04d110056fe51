// One try to put a message into one of the webhook streams, once however often it is tried. What follows from a full
// stream or a silent broker is each caller's.

import {
  headers,
  type NatsConnection,
  type PublishOutcome,
  publishOutcome,
} from '../broker/nats.ts';

const answerTimeoutMs = 5_000;

/**
 * A message whose id the stream knows from the last ten minutes is not stored again, and counts as stored. Never
 * rejects.
 */
export async function publishMessage(
  connection: NatsConnection,
  subject: string,
  content: Uint8Array,
  messageId: string,
): Promise<PublishOutcome> {
  const named = headers();
  named.set('Nats-Msg-Id', messageId);
  return connection
    .request(subject, content, { timeout: answerTimeoutMs, headers: named })
    .then(publishOutcome, publishOutcome);
}
