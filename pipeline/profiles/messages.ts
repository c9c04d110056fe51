// Reads the changes from messages of a profiles stream, in order. A malformed message becomes a dead letter: one bad
// producer must not block the shard, so no change gets past here that the engine could refuse. Ingest writes none.

import { decodeFrame, type FrameRequest, frameEvents } from '../../proto/wire/frame.ts';
import { decodeChange, type ProfileChange } from '../../proto/wire/profile-change.ts';
import type { DeadLetter } from '../build/thread-messages.ts';
import type { StreamMessage } from '../consume/event-stream.ts';
import { hasOrigin } from '../consume/request-context.ts';

/** A change with the project and the time of its request. */
export interface QueuedChange {
  projectId: string;
  receiveTimeMs: number;
  change: ProfileChange;
}

export interface ProfileMessages {
  changes: QueuedChange[];
  deadLetters: DeadLetter[];
}

/** Reads every message; never throws for the content of one. */
export function readProfileMessages(messages: readonly StreamMessage[]): ProfileMessages {
  const read: ProfileMessages = { changes: [], deadLetters: [] };
  for (const message of messages) {
    const requests = requestsOf(message);
    if (requests === undefined) read.deadLetters.push(letterOfFrame(message));
    for (const [place, request] of (requests ?? []).entries()) {
      const change = changeOf(request);
      if (change === undefined) read.deadLetters.push(letterOf(message.seq, place, request));
      else read.changes.push(change);
    }
  }
  return read;
}

/** Changes that became dead letters. */
export function unreadableChanges({ deadLetters }: ProfileMessages): number {
  return deadLetters.reduce((sum, { events }) => sum + events, 0);
}

function requestsOf({ data }: StreamMessage): FrameRequest[] | undefined {
  try {
    return decodeFrame(data);
  } catch {
    return undefined;
  }
}

function changeOf({ context, body }: FrameRequest): QueuedChange | undefined {
  if (!hasOrigin(context)) return undefined;
  const { projectId, receiveTimeMs } = context;
  try {
    return { projectId, receiveTimeMs, change: decodeChange(body) };
  } catch {
    return undefined;
  }
}

function letterOfFrame({ seq, data }: StreamMessage): DeadLetter {
  return {
    streamSeq: seq,
    request: undefined,
    event: undefined,
    reason: 'frame_unreadable',
    projectId: undefined,
    receiveTimeMs: undefined,
    events: frameEvents(data),
    content: data,
  };
}

function letterOf(streamSeq: number, place: number, request: FrameRequest): DeadLetter {
  const { context, body, events } = request;
  return {
    streamSeq,
    request: place,
    event: undefined,
    reason: 'request_unreadable',
    projectId: hasOrigin(context) ? context.projectId : undefined,
    receiveTimeMs: undefined,
    events,
    content: body,
  };
}
