// Messages into the record batches of one insert each: decode, enrich, columns, one batch a month. A function of the
// messages and of the verdict on what to drop, nothing else: built again, it gives the same bytes.

import { createHash } from 'node:crypto';
import { type FrameRequest, frameEvents, viewFrame } from '../../proto/wire/frame.ts';
import type { Int32Buffer } from '../columns/column-buffers.ts';
import { type Month, Months } from '../columns/months.ts';
import type { MonthColumns, ScannedColumns } from '../columns/record-batch.ts';
import { enrich } from '../enrich/steps.ts';
import { createAgentParser } from '../enrich/user-agent.ts';
import { IdTable } from './batch-ids.ts';
import { EventKeys } from './event-key.ts';
import {
  cookielessIdentity,
  createRequestRows,
  decodeRequest,
  type UnreadableEvent,
  unreadableRequest,
} from './rows/reference-rows.ts';
import { type ScannedRequest, ScannedRows } from './rows/scanned-rows.ts';
import { SessionlessTable } from './sessionless-rows.ts';
import type {
  BatchCounts,
  BatchIds,
  BuiltBatch,
  BuiltMonth,
  DeadLetter,
  Messages,
  Verdict,
} from './thread-messages.ts';

const maxRememberedAgents = 20_000;
const twoPow32 = 4_294_967_296;

/** Scanned rows, from one to before another, that go to one month. */
interface Span {
  readonly month: Month;
  readonly from: number;
  to: number;
}

/** Builds one batch at a time: `read` the messages, have them judged, `finish`. */
export class BatchBuilder {
  readonly #parseAgent = createAgentParser(maxRememberedAgents);
  readonly #request = createRequestRows();
  readonly #ids: IdTable;
  readonly #sessionRows = new SessionlessTable();
  #scanned: ScannedRows | undefined;
  readonly #months = new Months();
  #deadLetters: DeadLetter[] = [];
  #counts = noCounts();
  #shard = 0;
  #referenceBodies = 0;

  /**
   * `secret` keys the events' names for the seen-set: see event-key.ts. Without `fastPath` every body goes the readable
   * way, which makes the same rows.
   */
  constructor(secret: Uint8Array, { fastPath = true }: { fastPath?: boolean } = {}) {
    this.#ids = new IdTable(new EventKeys(secret));
    this.#scanned = fastPath ? new ScannedRows(this.#parseAgent) : undefined;
  }

  /** Bodies of the batch that went the readable way. */
  get referenceBodies(): number {
    return this.#referenceBodies;
  }

  /** Reads every message and tells which events a batch of them would store. */
  read(shard: number, messages: Messages): BatchIds {
    this.#ids.clear();
    this.#sessionRows.clear();
    this.#months.release();
    this.#scanned?.clear();
    if (this.#scanned?.isLarge) this.#scanned = new ScannedRows(this.#parseAgent);
    this.#deadLetters = [];
    this.#counts = noCounts();
    this.#shard = shard;
    this.#referenceBodies = 0;
    let at = 0;
    for (let index = 0; index < messages.seqs.length; index++) {
      const end = at + (messages.lengths[index] ?? 0);
      this.#readFrame(messages.seqs[index] ?? 0, messages.bytes.subarray(at, end));
      at = end;
    }
    this.#drain();
    const firstSeq = messages.seqs[0] ?? 0;
    const lastSeq = messages.seqs.at(-1) ?? 0;
    const sessionless = this.#sessionRows.snapshot();
    return { ...this.#ids.snapshot(), firstSeq, lastSeq, sessionless };
  }

  /** The batch of what was read last, less what the verdict drops. */
  finish({ dropped, sessions }: Verdict): BuiltBatch {
    if ((sessions?.length ?? 0) !== this.#sessionRows.length * 16) {
      throw new Error('build-batch: a verdict must have a session for each row without one');
    }
    const words = new Uint32Array(sessions?.buffer ?? new ArrayBuffer(0));
    const months: BuiltMonth[] = [];
    for (const [month, { columns, numbers }] of this.#months.ascending()) {
      putSessions(columns, numbers, this.#sessionRows.numbers(), words);
      if (dropped !== undefined) columns.keep(keptRows(numbers, dropped));
      const rows = columns.rows;
      if (rows === 0) continue;
      this.#counts.stored += rows;
      months.push({ month, rows, idsHash: hashIds(columns), arrow: columns.toArrowStream() });
    }
    this.#counts.dropped = this.#ids.rows - this.#counts.stored;
    this.#months.release();
    return { months, deadLetters: this.#deadLetters, counts: this.#counts };
  }

  #readFrame(streamSeq: number, frame: Uint8Array): void {
    let requests: FrameRequest[];
    try {
      requests = viewFrame(frame);
    } catch {
      const events = frameEvents(frame);
      this.#counts.accepted += events;
      this.#counts.unreadable += events;
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
      if (request !== undefined) this.#readRequest(streamSeq, index, request);
    }
  }

  #readRequest(streamSeq: number, place: number, request: FrameRequest): void {
    this.#counts.accepted += request.events;
    if (this.#scan(streamSeq, request)) return;
    this.#referenceBodies++;
    for (const refusal of this.#readRows(request)) {
      this.#refuse(streamSeq, place, request, refusal);
    }
    const { projectId, receiveTimeMs } = request.context;
    const origin = { shard: this.#shard, streamSeq };
    this.#ids.beginRequest(projectId, receiveTimeMs);
    for (let index = 0; index < this.#request.count; index++) {
      const row = this.#request.rows[index];
      if (row === undefined) break;
      const number = this.#ids.rows;
      const month = this.#place(row.eventId, row.occurTimeMs);
      if (month === undefined) continue;
      if (row.sessionDerived) {
        const { distinctId, otherId, occurTimeMs } = row;
        this.#sessionRows.add(number, projectId, distinctId, otherId, occurTimeMs);
      }
      month.columns.append(row, projectId, receiveTimeMs, origin);
    }
  }

  /** The month that the batch's next row goes to; undefined where the batch has the event already. */
  #place(eventId: Uint32Array, occurTimeMs: number, at = 0): Month | undefined {
    const number = this.#ids.rows;
    if (!this.#ids.add(eventId, occurTimeMs, at)) {
      this.#counts.repeats++;
      return undefined;
    }
    const month = this.#months.at(occurTimeMs);
    month.numbers.push(number);
    return month;
  }

  /** False, and all rows before it in their columns, where a request must be read. */
  #scan(streamSeq: number, request: FrameRequest): boolean {
    let taken = this.#scanned?.take(request, streamSeq);
    if (taken === 'full') {
      this.#drain();
      taken = this.#scanned?.take(request, streamSeq);
    }
    if (taken === 'full') {
      // What there is room for must not depend on what was built before.
      this.#scanned?.forget();
      this.#months.forgetCells();
      taken = this.#scanned?.take(request, streamSeq);
    }
    if (taken === 'taken') return true;
    this.#drain();
    return false;
  }

  /** Puts the scanned rows into the columns of their months. */
  #drain(): void {
    const scanned = this.#scanned;
    if (scanned === undefined || scanned.requests.length === 0) return;
    const columns = scanned.columns();
    const spans: Span[] = [];
    for (const request of scanned.requests) this.#placeScanned(request, columns, spans);
    for (const { month, from, to } of spans) month.columns.appendScanned(columns, from, to);
    scanned.clear();
  }

  #placeScanned(request: ScannedRequest, columns: ScannedColumns, spans: Span[]): void {
    const { context, streamSeq, firstRow, endRow } = request;
    const { projectId, receiveTimeMs } = context;
    const { eventIds, occurTimes, cookieless } = columns.views;
    const origin = { shard: this.#shard, streamSeq };
    this.#ids.beginRequest(projectId, receiveTimeMs);
    let into: MonthColumns | undefined;
    let count = 0;
    for (let row = firstRow; row < endRow; row++) {
      const timeMs = (occurTimes[row * 2] ?? 0) + (occurTimes[row * 2 + 1] ?? 0) * twoPow32;
      const isCookieless = cookieless[row] === 1;
      const whose = isCookieless ? cookielessIdentity(context, timeMs) : undefined;
      if (isCookieless && whose === undefined) continue;
      const number = this.#ids.rows;
      const month = this.#place(eventIds, timeMs, row * 4);
      if (month === undefined) continue;
      if (whose !== undefined) {
        columns.cookielessIds.set(row, whose.distinctId);
        this.#sessionRows.add(number, projectId, whose.distinctId, whose.otherId, timeMs);
      }
      if (into !== month.columns) {
        into?.appendOrigins(count, projectId, receiveTimeMs, origin);
        into = month.columns;
        count = 0;
      }
      count++;
      const last = spans.at(-1);
      if (last?.month === month && last.to === row) last.to++;
      else spans.push({ month, from: row, to: row + 1 });
    }
    into?.appendOrigins(count, projectId, receiveTimeMs, origin);
  }

  /** A request that makes the steps fail is set aside as a whole: it must not hold up its shard. */
  #readRows(request: FrameRequest): UnreadableEvent[] {
    try {
      const unreadable = decodeRequest(request, this.#request);
      enrich(this.#request, this.#parseAgent);
      return unreadable;
    } catch {
      return [unreadableRequest(request, this.#request)];
    }
  }

  #refuse(streamSeq: number, place: number, request: FrameRequest, refusal: UnreadableEvent): void {
    const events = refusal.index === undefined ? request.events : 1;
    this.#counts.unreadable += events;
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
}

/** `sessions` has the ids of the sessionless rows of all months, in row order. */
function putSessions(
  columns: MonthColumns,
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

function hashIds(columns: MonthColumns): string {
  const hash = createHash('sha256');
  columns.updateHash(hash);
  return hash.digest('hex').slice(0, 32);
}

function noCounts(): BatchCounts {
  return { accepted: 0, stored: 0, repeats: 0, dropped: 0, unreadable: 0 };
}
