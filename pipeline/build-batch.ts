// Messages into the record batches of one insert each: decode, enrich, columns, one batch a month. A function of the
// messages and of the verdict on what to drop, nothing else: built again, it gives the same bytes.

import { createHash } from 'node:crypto';
import { decodeFrame, type FrameRequest, frameEvents } from '../proto/wire/frame.ts';
import { Int32Buffer } from './column-buffers.ts';
import { EventColumns } from './columns.ts';
import { createRequestRows, decodeRequest, type Refusal, refuseRequest } from './decode.ts';
import { enrich } from './enrich.ts';
import { EventKeys } from './event-key.ts';
import type { EventRow } from './event-row.ts';
import { IdTable } from './id-table.ts';
import { SessionRows } from './session-rows.ts';
import type {
  BatchCounts,
  BatchIds,
  BuiltBatch,
  BuiltMonth,
  DeadLetter,
  Messages,
  Verdict,
} from './thread-messages.ts';
import { createAgentParser } from './user-agent.ts';

const maxRememberedAgents = 20_000;
/** Column buffers kept for the next batch; a batch of more months allocates the others anew. */
const maxSpareMonths = 2;

/** Rows under construction. */
interface Rows {
  readonly columns: EventColumns;
  /** For each row its number in the whole batch, in which verdicts count. */
  readonly numbers: Int32Buffer;
}

/** Those of one month, from its first millisecond to before the next one's. */
interface Month extends Rows {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Builds one batch at a time: `read` the messages, have them judged, `finish`. */
export class BatchBuilder {
  readonly #parseAgent = createAgentParser(maxRememberedAgents);
  readonly #request = createRequestRows();
  readonly #ids: IdTable;
  readonly #sessionRows = new SessionRows();
  /** By the partition key, 202611. */
  readonly #months = new Map<number, Month>();
  #lastMonth: Month | undefined;
  readonly #spare: Rows[] = [];
  #deadLetters: DeadLetter[] = [];
  #counts = noCounts();

  /** `secret` keys the events' names for the seen-set: see event-key.ts. */
  constructor(secret: Uint8Array) {
    this.#ids = new IdTable(new EventKeys(secret));
  }

  /** Reads every message and tells which events a batch of them would store. */
  read(shard: number, messages: Messages): BatchIds {
    this.#ids.clear();
    this.#sessionRows.clear();
    this.#releaseMonths();
    this.#deadLetters = [];
    this.#counts = noCounts();
    let at = 0;
    for (let index = 0; index < messages.seqs.length; index++) {
      const end = at + (messages.lengths[index] ?? 0);
      this.#readFrame(shard, messages.seqs[index] ?? 0, messages.bytes.subarray(at, end));
      at = end;
    }
    return { ...this.#ids.snapshot(), sessionless: this.#sessionRows.snapshot() };
  }

  /** The batch of what was read last, less what the verdict drops. */
  finish({ dropped, sessions }: Verdict): BuiltBatch {
    if ((sessions?.length ?? 0) !== this.#sessionRows.length * 16) {
      throw new Error('build-batch: a verdict must have a session for each row without one');
    }
    const words = new Uint32Array(sessions?.buffer ?? new ArrayBuffer(0));
    const months: BuiltMonth[] = [];
    const ascending = [...this.#months].sort(([a], [b]) => a - b);
    for (const [month, { columns, numbers }] of ascending) {
      putSessions(columns, numbers, this.#sessionRows.numbers(), words);
      if (dropped !== undefined) columns.keep(keptRows(numbers, dropped));
      const rows = columns.rows;
      if (rows === 0) continue;
      this.#counts.stored += rows;
      months.push({ month, rows, idsHash: hashIds(columns), arrow: columns.toArrowStream() });
    }
    this.#counts.dropped = this.#ids.rows - this.#counts.stored;
    this.#releaseMonths();
    return { months, deadLetters: this.#deadLetters, counts: this.#counts };
  }

  #readFrame(shard: number, streamSeq: number, frame: Uint8Array): void {
    let requests: FrameRequest[];
    try {
      requests = decodeFrame(frame);
    } catch {
      const events = frameEvents(frame);
      this.#counts.accepted += events;
      this.#counts.refused += events;
      this.#deadLetters.push({
        streamSeq,
        request: undefined,
        event: undefined,
        reason: 'frame_unreadable',
        projectId: undefined,
        events,
        content: frame.slice(),
      });
      return;
    }
    for (let index = 0; index < requests.length; index++) {
      const request = requests[index];
      if (request !== undefined) this.#readRequest({ shard, streamSeq }, index, request);
    }
  }

  #readRequest(
    origin: { shard: number; streamSeq: number },
    place: number,
    request: FrameRequest,
  ): void {
    const { projectId, receiveTimeMs } = request.context;
    this.#counts.accepted += request.events;
    for (const refusal of this.#readRows(request)) {
      this.#refuse(origin.streamSeq, place, request, refusal);
    }
    this.#ids.beginRequest(projectId, receiveTimeMs);
    for (let index = 0; index < this.#request.count; index++) {
      const row = this.#request.rows[index];
      if (row === undefined) break;
      const number = this.#ids.rows;
      if (!this.#ids.add(row.eventId, row.occurTimeMs)) {
        this.#counts.repeats++;
        continue;
      }
      const month = this.#monthOf(row);
      if (row.sessionDerived) {
        const { distinctId, otherId, occurTimeMs } = row;
        this.#sessionRows.add(number, projectId, distinctId, otherId, occurTimeMs);
      }
      month.columns.append(row, projectId, receiveTimeMs, origin);
      month.numbers.push(number);
    }
  }

  /** A request that makes the steps fail is set aside as a whole: it must not hold up its shard. */
  #readRows(request: FrameRequest): Refusal[] {
    try {
      const refusals = decodeRequest(request, this.#request);
      enrich(this.#request, this.#parseAgent);
      return refusals;
    } catch {
      return [refuseRequest(request, this.#request)];
    }
  }

  #refuse(streamSeq: number, place: number, request: FrameRequest, refusal: Refusal): void {
    const events = refusal.index === undefined ? request.events : 1;
    this.#counts.refused += events;
    this.#deadLetters.push({
      streamSeq,
      request: place,
      event: refusal.index,
      reason: refusal.reason,
      projectId: request.context.projectId,
      events,
      content: Buffer.from(refusal.event),
    });
  }

  #monthOf({ occurTimeMs }: EventRow): Month {
    // Nearly always the month of the event before.
    const last = this.#lastMonth;
    if (last !== undefined && occurTimeMs >= last.fromMs && occurTimeMs < last.toMs) return last;
    const date = new Date(occurTimeMs);
    const year = date.getUTCFullYear();
    const index = date.getUTCMonth();
    const key = year * 100 + index + 1;
    const month = this.#months.get(key) ?? {
      ...(this.#spare.pop() ?? { columns: new EventColumns(), numbers: new Int32Buffer() }),
      fromMs: Date.UTC(year, index),
      toMs: Date.UTC(year, index + 1),
    };
    this.#months.set(key, month);
    this.#lastMonth = month;
    return month;
  }

  #releaseMonths(): void {
    for (const month of this.#months.values()) {
      month.columns.clear();
      month.numbers.clear();
      if (this.#spare.length < maxSpareMonths) this.#spare.push(month);
    }
    this.#months.clear();
    this.#lastMonth = undefined;
  }
}

/** `sessions` has the ids of the sessionless rows of all months, in row order. */
function putSessions(
  columns: EventColumns,
  numbers: Int32Buffer,
  sessionless: Int32Array,
  sessions: Uint32Array,
): void {
  let at = 0;
  for (let row = 0; row < numbers.length; row++) {
    const number = numbers.array[row] ?? 0;
    while ((sessionless[at] ?? number) < number) at++;
    if (sessionless[at] === number) columns.putSession(row, sessions, at * 4);
  }
}

function keptRows(numbers: Int32Buffer, dropped: Uint8Array): Uint32Array {
  const kept = new Uint32Array(numbers.length);
  let count = 0;
  for (let row = 0; row < numbers.length; row++) {
    const number = numbers.array[row] ?? 0;
    if (((dropped[number >>> 3] ?? 0) & (1 << (number & 7))) === 0) kept[count++] = row;
  }
  return kept.subarray(0, count);
}

function hashIds(columns: EventColumns): string {
  const hash = createHash('sha256');
  columns.updateHash(hash);
  return hash.digest('hex').slice(0, 32);
}

function noCounts(): BatchCounts {
  return { accepted: 0, stored: 0, repeats: 0, dropped: 0, refused: 0 };
}
