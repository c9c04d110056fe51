// Takes records of attempts from the broker, some at a time: the durable consumer, which all processes share, one pull
// after the other, and the answers to what was pulled. What becomes of the records is write-attempts.ts's.

import { pullMs } from '../../platform/broker/beat.ts';
import {
  createInbox,
  maxPayloadBytes,
  type NatsConnection,
  nanos,
} from '../../platform/broker/nats.ts';
import {
  attemptLogConsumer,
  attemptLogStream,
  queueConsumerConfig,
} from '../../platform/webhooks/webhook-streams.ts';
import { ensureQueueConsumer } from '../delivery/queueing/queue-consumer.ts';

export interface PulledRecord {
  data: Uint8Array;
  /** Where the broker waits for the answer. */
  replySubject: string;
}

/** `stored` takes it out of the stream, `waiting` keeps it from others for now, `returned` gives it to the next. */
export type PullAnswer = 'stored' | 'waiting' | 'returned';

const payloads: Readonly<Record<PullAnswer, string>> = {
  stored: '+ACK',
  waiting: '+WPI',
  returned: '-NAK',
};

export const maxPulledRecords = 1_000;
/** nats-server before 2.9.16 does not always say that a pull has expired. */
const graceMs = 500;
/** Beside the largest message, its subject and headers count. */
const overheadBytes = 65_536;
/** Batches that wait for their inserts, one of each process. */
const maxAckPending = 8 * maxPulledRecords;

/** Makes the consumer where it is missing. Throws the client's errors. */
export function ensureLogConsumer(connection: NatsConnection): Promise<void> {
  const wanted = queueConsumerConfig(attemptLogConsumer, undefined, maxAckPending);
  return ensureQueueConsumer(connection, attemptLogStream, wanted);
}

/**
 * The records that come within 1.25 s, at most 1,000 and as many bytes as the broker's largest message may have. Ends
 * at once, with what came, where `signal` is aborted or the broker has no such consumer. Never throws while the
 * connection is open.
 */
export function pullRecords(
  connection: NatsConnection,
  signal: AbortSignal,
): Promise<PulledRecord[]> {
  return new Promise((resolve) => {
    const pulled: PulledRecord[] = [];
    const inbox = createInbox();
    const end = (): void => {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      subscription.unsubscribe();
      resolve(pulled);
    };
    const subscription = connection.subscribe(inbox, {
      callback: (error, { data, reply = '' }) => {
        // A status has no such subject: the pull is over.
        if (error !== null || !reply.startsWith('$JS.ACK.')) return end();
        pulled.push({ data, replySubject: reply });
        if (pulled.length === maxPulledRecords) end();
      },
    });
    const expiresMs = pullMs();
    const timer = setTimeout(end, expiresMs + graceMs);
    signal.addEventListener('abort', end);
    if (signal.aborted) return end();
    const request = {
      batch: maxPulledRecords,
      max_bytes: largestMessageBytes(connection) + overheadBytes,
      expires: nanos(expiresMs),
    };
    const subject = `$JS.API.CONSUMER.MSG.NEXT.${attemptLogStream}.${attemptLogConsumer}`;
    connection.publish(subject, JSON.stringify(request), { reply: inbox });
  });
}

const usualPayloadBytes = 9 * 1_048_576;

function largestMessageBytes(connection: NatsConnection): number {
  return connection.info === undefined ? usualPayloadBytes : maxPayloadBytes(connection);
}

export function answerAll(
  connection: NatsConnection,
  records: readonly PulledRecord[],
  answer: PullAnswer,
): void {
  if (connection.isClosed()) return;
  for (const { replySubject } of records) connection.publish(replySubject, payloads[answer]);
}
