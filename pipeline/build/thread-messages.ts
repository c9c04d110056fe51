// Everything that crosses between the writer's thread and the builders'. Buffers named in a comment as transferred
// belong to the receiver afterwards; the sender must not touch them again.

import type { MessagePort } from 'node:worker_threads';
import type { UnreadableReason } from './rows/reference-rows.ts';

/** Stream messages packed into one buffer, in stream order. */
export interface Messages {
  /** Stream sequence of each. */
  seqs: Float64Array;
  /** Bytes of each. */
  lengths: Uint32Array;
  /** One after the other; transferred to the builder, and back in `ReadBatch`. */
  bytes: Uint8Array<ArrayBuffer>;
}

/** What a builder's thread is started with. */
export interface WorkerSettings {
  /** Keys the events' names for the seen-set; the same in all threads of a process. */
  secret: Uint8Array;
}

/** Writer to builder: what to build, and where to talk about it. */
export interface BuildTask {
  shard: number;
  messages: Messages;
  /** Transferred. The builder posts `ReadBatch`, receives a `Verdict`, posts the `BuiltBatch`, and closes it. */
  port: MessagePort;
}

/** Builder to writer: what the messages hold, and their memory, which is used again and is not left to be collected. */
export interface ReadBatch {
  ids: BatchIds;
  /** Of `Messages`; transferred. */
  bytes: Uint8Array<ArrayBuffer>;
}

/** Which events the batch would store, in row order. */
export interface BatchIds {
  rows: number;
  /** Two words a row: the key under which the seen-set knows the event. Transferred. */
  keys: Uint32Array<ArrayBuffer>;
  /** Sixteen bytes a row: the event id. Transferred. */
  eventIds: Uint8Array<ArrayBuffer>;
  /** For each row an index into `projects`. Transferred. */
  projectOf: Int32Array<ArrayBuffer>;
  projects: string[];
  /** For each row. Transferred. */
  occurTimesMs: Float64Array<ArrayBuffer>;
  /** Stream sequences of its messages. */
  firstSeq: number;
  lastSeq: number;
  minReceiveTimeMs: number;
  maxReceiveTimeMs: number;
  sessionless: SessionlessRows;
}

/** The rows that came without a session, in row order. */
export interface SessionlessRows {
  /** Row number of each. */
  rows: Int32Array;
  occurTimes: Float64Array;
  /** For each whose it is, as an index into `visitors`. */
  visitorOf: Int32Array;
  /** Likewise who that is beyond the nearest midnight; -1 where that is nobody. */
  otherOf: Int32Array;
  /** See session-rows.ts. */
  visitors: string[];
}

/** Writer to builder: bit `row` (row >> 3, row & 7) is set where the row is to be left out; undefined keeps all. */
export interface Verdict {
  dropped: Uint8Array | undefined;
  /** For each of the sessionless rows the 16 bytes of its session's id; may be absent where there are none. */
  sessions?: Uint8Array<ArrayBuffer>;
}

/** Builder to writer: the batch. */
export interface BuiltBatch {
  months: BuiltMonth[];
  deadLetters: DeadLetter[];
  counts: BatchCounts;
}

/** The rows of one month: one record batch, one insert. */
export interface BuiltMonth {
  /** As in the partition key, 202611. */
  month: number;
  rows: number;
  /** Hash over project, event id and session id of every row in order, to know a batch that was built again. */
  idsHash: string;
  /** An Arrow IPC stream of one record batch; transferred. */
  arrow: Uint8Array<ArrayBuffer>;
}

/** What became no row, and why. */
export interface DeadLetter {
  streamSeq: number;
  /** The request's place in its frame; undefined where the whole frame is unreadable. */
  request: number | undefined;
  /** The event's place in its request; undefined where the whole request is unreadable. */
  event: number | undefined;
  reason: UnreadableReason;
  projectId: string | undefined;
  /** Events that are lost to the tables with it, as far as the frame says. */
  events: number;
  content: Uint8Array;
}

/** accepted = stored + repeats + dropped + unreadable, or the builder is wrong. */
export interface BatchCounts {
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
