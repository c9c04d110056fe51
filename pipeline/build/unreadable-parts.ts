// The parts of one batch that become no row: their dead letters, and the number of events in them. The part's reader
// decides that it is unreadable, and why.

import { type FrameRequest, frameEvents } from '../../proto/wire/frame.ts';
import { hasOrigin } from '../consume/request-context.ts';
import type { UnreadableEvent } from './rows/reference-rows.ts';
import type { DeadLetter } from './thread-messages.ts';

export class UnreadableParts {
  readonly deadLetters: DeadLetter[] = [];
  /** Events in the dead letters, as far as the frames say. */
  events = 0;

  /** Copies the frame: its bytes are only lent to the builder. */
  addFrame(streamSeq: number, frame: Uint8Array): void {
    this.#add({
      streamSeq,
      request: undefined,
      event: undefined,
      reason: 'frame_unreadable',
      projectId: undefined,
      receiveTimeMs: undefined,
      events: frameEvents(frame),
      content: frame.slice(),
    });
  }

  /** `place` is the request's place in its frame. */
  addEvent(
    streamSeq: number,
    place: number,
    { events, context }: FrameRequest,
    { index, reason, content }: UnreadableEvent,
  ): void {
    const origin = hasOrigin(context) ? context : undefined;
    this.#add({
      streamSeq,
      request: place,
      event: index,
      reason,
      projectId: origin?.projectId,
      receiveTimeMs: origin?.receiveTimeMs,
      events: index === undefined ? events : 1,
      content: Buffer.from(content),
    });
  }

  #add(letter: DeadLetter): void {
    this.events += letter.events;
    this.deadLetters.push(letter);
  }
}
