// Sends and hears the messages of live views. They are told once and never waited for: whoever sends them goes on,
// whatever becomes of them. The subjects are live-subjects.ts's.

import type { NatsConnection } from '../broker/nats.ts';

/** The part of a connection that live views use. */
export type LiveConnection = Pick<NatsConnection, 'publish' | 'subscribe' | 'flush'>;

/** Never throws: a message that cannot be sent now is lost. */
export function tellLive(
  connection: Pick<NatsConnection, 'publish'>,
  subject: string,
  content: Uint8Array,
): void {
  try {
    connection.publish(subject, content);
  } catch {
    // The connection is closed, or the broker takes no message of this size.
  }
}

/** Calls `onMessage` for each message until the returned function is called. A message that it throws on is lost. */
export function hearLive(
  connection: Pick<NatsConnection, 'subscribe'>,
  subject: string,
  onMessage: (content: Uint8Array, subject: string) => void,
): () => void {
  const subscription = connection.subscribe(subject, {
    callback(error, message) {
      if (error !== null) return;
      try {
        onMessage(message.data, message.subject);
      } catch {
        // Not ours to judge: another version may have sent it.
      }
    },
  });
  return () => subscription.unsubscribe();
}
