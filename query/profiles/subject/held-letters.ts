// Dead letters that name a person. Their contents are in the broker alone, so every letter of the last thirty days is
// looked at, some at once.

import { create } from '@bufbuild/protobuf';
import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import type { NatsConnection, StoredMsg } from '../../../platform/broker/nats.ts';
import { messageAt } from '../../../platform/broker/queues/message-at.ts';
import { deadLetterStream } from '../../../platform/broker/streams.ts';
import { mentions, namesOf } from '../../../platform/erasure/mentions.ts';
import {
  type HeldDeadLetter,
  HeldDeadLetterSchema,
} from '../../../proto/gen/shared/profiles/v1/profiles_pb.js';

/** A letter has a MiB at most. */
const lettersAtOnce = 8;

/** Throws the broker's errors. */
export async function* readHeldLetters(
  nats: Pick<NatsConnection, 'jetstreamManager'>,
  projectId: string,
  texts: readonly string[],
): AsyncGenerator<HeldDeadLetter[]> {
  const { streams } = await nats.jetstreamManager();
  const { state } = await streams.info(deadLetterStream);
  if (state.messages === 0) return;
  const names = namesOf(texts);
  for (let seq = state.first_seq; seq <= state.last_seq; seq += lettersAtOnce) {
    const some = Array.from({ length: lettersAtOnce }, (_, at) => seq + at);
    const letters = await Promise.all(
      some.map((one) => messageAt({ streams }, deadLetterStream, one)),
    );
    const held = letters.flatMap((letter) => {
      if (letter?.header.get('Millrace-Project') !== projectId) return [];
      return mentions(letter.data, names) ? [heldLetter(letter)] : [];
    });
    if (held.length > 0) yield held;
  }
}

/** A letter of several events may have those of other people. */
function heldLetter({ header, data, time }: StoredMsg): HeldDeadLetter {
  const isOne = header.get('Millrace-Event') !== '';
  return create(HeldDeadLetterSchema, {
    time: timestampFromDate(time),
    reason: header.get('Millrace-Reason'),
    events: Number(header.get('Millrace-Events')) || 0,
    ...(isOne && { content: new Uint8Array(data) }),
  });
}
