// Everything that crosses between a shard's writer and a builder's thread. They talk about one batch at a time:
//
//     writer's thread: pool.ts                             builder's thread: worker.ts
//
//     BuildTask   the packed messages, a port  ─────────▶  BatchBuilder.read: frames become rows
//     decides     which rows to drop           ◀─────────  ReadBatch   the rows' ids, the messages' bytes
//     Verdict     dropped rows, session ids,   ─────────▶  BatchBuilder.finish: rows become one Arrow stream, and
//                 what webhooks subscribe to               events that webhooks may be for are rendered
//     inserts     the stream                   ◀─────────  BuiltBatch  rows, dead letters, matched events, counts;
//                                                          closes the port
//
// A transferred buffer belongs to its receiver, and the sender must not touch it again. Filters of subscriptions lie in
// shared memory and never change. Everything else is copied.
//
//     buffer                          writer owns it           builder owns it
//     Messages.bytes                  before and afterwards    from BuildTask to ReadBatch
//     BatchIds: keys, eventIds,       from ReadBatch on        until then
//       projectOf, occurTimesMs
//     BuiltRows.arrow                 from BuiltBatch on       until then
//     rows between read and finish    never                    in memory that it keeps from batch to batch
//
// If the writer closes the port, the builder forgets the batch. If the thread dies, the messages' bytes are lost with
// it: the writer packs the messages anew, has the batch built again and gives the same verdict.

import type { MessagePort } from 'node:worker_threads';
import type { ProjectEvent, RoomEvent, SubscribedProject } from '../webhooks/subscriptions.ts';

/**
 * Stream messages packed into one buffer, in stream order. Each is a frame of requests; a request holds the context
 * that its events are enriched from and the validated JSON body that they came in. See proto/wire/frame.ts.
 */
export interface Messages {
  /** The stream sequence of each message. */
  seqs: Float64Array;
  /** The length of each message in bytes. */
  lengths: Uint32Array;
  /** The messages, one after the other; transferred to the builder, and back in `ReadBatch`. */
  bytes: Uint8Array<ArrayBuffer>;
}

/** Given to a builder's thread at its start. */
export interface WorkerSettings {
  /** Keys the hash of event ids for the seen-set (event-key.ts); the same in all threads of a process. */
  secret: Uint8Array;
}

/** Writer to builder: the messages to build, and the port for the rest of the talk. */
export interface BuildTask {
  shard: number;
  messages: Messages;
  /** Only the rows of this month are built: of a batch that an older version promised. */
  month?: number | undefined;
  /** Transferred. The builder closes it after `BuiltBatch`. */
  port: MessagePort;
}

/** Builder to writer: the events that the messages hold. */
export interface ReadBatch {
  ids: BatchIds;
  /** `Messages.bytes`, transferred back: the writer packs its next batch into them, so that nothing is collected. */
  bytes: Uint8Array<ArrayBuffer>;
}

/** The events that the batch would store, in row order. */
export interface BatchIds {
  rows: number;
  /** Two words a row: the key under which the seen-set knows the event. Transferred. */
  keys: Uint32Array<ArrayBuffer>;
  /** Sixteen bytes a row: the event id. Transferred. */
  eventIds: Uint8Array<ArrayBuffer>;
  /** For each row an index into `projects`. Transferred. */
  projectOf: Int32Array<ArrayBuffer>;
  projects: string[];
  /** Milliseconds since the epoch, for each row. Transferred. */
  occurTimesMs: Float64Array<ArrayBuffer>;
  /** Stream sequences of the first and the last message. */
  firstSeq: number;
  lastSeq: number;
  minReceiveTimeMs: number;
  maxReceiveTimeMs: number;
  sessionless: SessionlessRows;
  repeats: RepeatedEvents;
}

/** Events that the batch held once more, and that are no rows. */
export interface RepeatedEvents {
  /** How many of each project, by the index into `projects`; absent where there are none. */
  countOf: ReadonlyMap<number, number>;
  /** The first few of the batch: sixteen bytes each, and the project of each as an index into `projects`. */
  eventIds: Uint8Array;
  projectOf: readonly number[];
}

/** The rows that came without a session, in row order. */
export interface SessionlessRows {
  /** The row number of each. */
  rows: Int32Array;
  occurTimes: Float64Array;
  /** The visitor of each, as an index into `visitors`. */
  visitorOf: Int32Array;
  /** The same visitor's index under the id of the day beyond the nearest midnight; -1 where there is none. */
  otherOf: Int32Array;
  /** Keys as visitor-key.ts makes them. */
  visitors: string[];
}

/** Writer to builder: the rows to leave out, and the sessions of the rows that have none. */
export interface Verdict {
  /** Bit `row` (row >> 3, row & 7) is set where the row is to be left out; undefined keeps all. */
  dropped: Uint8Array | undefined;
  /** Sixteen bytes for each of the sessionless rows: its session's id. May be absent where there are no such rows. */
  sessions?: Uint8Array<ArrayBuffer>;
  /** The batch's projects whose organizations have webhooks; absent where there are none. */
  subscribed?: readonly SubscribedProject[];
}

/** Builder to writer: the batch. */
export interface BuiltBatch {
  /** Undefined where no row is left. */
  rows: BuiltRows | undefined;
  deadLetters: DeadLetter[];
  /** Events that webhooks may be for, each rendered once. */
  matched: MatchedEvent[];
  counts: BatchCounts;
}

/** An event that webhooks may be for. */
export type MatchedEvent = (RoomEvent | ProjectEvent) & {
  eventId: string;
  /** When its request was received; ms since the epoch. */
  receiveTimeMs: number;
  /** The payload's part that all webhooks have in common; empty where it is longer than a payload may be. */
  part: string;
};

/** The rows of a batch: one record batch, one insert. */
export interface BuiltRows {
  rows: number;
  /** Partitions of the table that they lie in. */
  partitions: number;
  /** Hash over project, event id and session id of every row in order: recognises a batch that was built again. */
  idsHash: string;
  /** An Arrow IPC stream of one record batch; transferred. */
  arrow: Uint8Array<ArrayBuffer>;
}

/** Why an event, a request or a whole frame becomes no row. Dead letters carry the word to the operator. */
export type UnreadableReason =
  | 'frame_unreadable'
  | 'request_unreadable'
  | 'event_unreadable'
  | 'event_id_invalid'
  | 'session_id_invalid'
  | 'identity_missing'
  | 'kind_missing'
  | 'occur_time_out_of_range'
  | 'property_unreadable';

/** A frame, a request or an event that becomes no row. */
export interface DeadLetter {
  streamSeq: number;
  /** The request's place in its frame; undefined for a whole frame. */
  request: number | undefined;
  /** The event's place in its request; undefined for a whole request or frame. */
  event: number | undefined;
  reason: UnreadableReason;
  projectId: string | undefined;
  /** When the request came; undefined without a project, and for changes of profiles. */
  receiveTimeMs: number | undefined;
  /** Number of events that never reach the tables because of it, as far as the frame says. */
  events: number;
  content: Uint8Array;
}

/** accepted = stored + repeats + dropped + unreadable, or the builder is wrong; not where only a month is built. */
interface BatchCounts {
  /** Events that the frames say they hold. */
  accepted: number;
  stored: number;
  /** Left out because the same event was earlier in the same batch. */
  repeats: number;
  /** Left out because the verdict said so. */
  dropped: number;
  /** In dead letters. */
  unreadable: number;
}
