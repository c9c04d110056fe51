// The dead letters: frames, requests and events that become no rows, kept for 30 days in a stream of their own, with
// the reason in headers, so that an operator can look at them and send them again. Their readers decide what is
// unreadable.

import { headers, type JetStreamClient } from '../../platform/broker/nats.ts';
import { deadLetterSubject } from '../../platform/broker/streams.ts';
import type { DeadLetter } from '../build/thread-messages.ts';

/** The part of the broker that publishes. */
type Publisher = Pick<JetStreamClient, 'publish'>;

interface DeadLetterOptions {
  broker: Publisher;
  shard: number;
  /** The stream whose sequences the letters name, and when it was made. */
  stream: string;
  streamCreated: string;
  /** The most bytes that the broker takes in one message, headers included. */
  maxPayloadBytes: number;
  /** Runs one call until it succeeds; see platform/retry.ts. A full stream is a failure: it holds the writer up. */
  retry: <T>(call: () => Promise<T>) => Promise<T>;
}

/** The part of the broker's limit that is kept for headers. */
const headerReserveBytes = 16 * 1024;

/**
 * Returns a function that resolves once every letter is stored. A letter that is published again within an hour is
 * stored once.
 */
export function createDeadLetters(
  options: DeadLetterOptions,
): (letters: readonly DeadLetter[]) => Promise<void> {
  return async (letters) => {
    for (const letter of letters) await options.retry(() => publish(options, letter));
  };
}

async function publish(
  { broker, shard, stream, streamCreated, maxPayloadBytes }: DeadLetterOptions,
  letter: DeadLetter,
): Promise<void> {
  const place = [letter.streamSeq, letter.request ?? '', letter.event ?? ''].join('.');
  const described = headers();
  described.set('Millrace-Reason', letter.reason);
  described.set('Millrace-Stream', stream);
  described.set('Millrace-Stream-Seq', String(letter.streamSeq));
  if (letter.request !== undefined) described.set('Millrace-Request', String(letter.request));
  if (letter.event !== undefined) described.set('Millrace-Event', String(letter.event));
  if (letter.projectId !== undefined) described.set('Millrace-Project', letter.projectId);
  described.set('Millrace-Events', String(letter.events));
  // A letter that is too large for the broker would block the shard for ever, so it is cut.
  const content = letter.content.subarray(0, maxPayloadBytes - headerReserveBytes);
  if (content.length < letter.content.length) described.set('Millrace-Cut', 'true');
  await broker.publish(deadLetterSubject(shard), content, {
    msgID: `${streamCreated}.${shard}.${place}`,
    headers: described,
  });
}
