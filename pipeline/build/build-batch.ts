// Messages into one record batch: read, enrich, fill columns, apply the writer's verdict, find the events of webhooks.
// A function of the messages and of the verdict, nothing else: a batch that is built again has the same bytes.

import { type FrameRequest, frameEvents, viewFrame } from '../../proto/wire/frame.ts';
import { Int32Buffer } from '../columns/column-buffers.ts';
import { EventColumns, type ScannedColumns } from '../columns/record-batch.ts';
import { isContext } from '../consume/request-context.ts';
import { enrich } from '../enrich/steps.ts';
import { createAgentParser } from '../enrich/user-agent.ts';
import { findMatchedEvents } from '../webhooks/matched-events.ts';
import { ProjectFilters } from '../webhooks/project-filter.ts';
import { RequestSources } from '../webhooks/request-sources.ts';
import { IdTable } from './batch-ids.ts';
import { buildRows } from './built-rows.ts';
import { EventKeys } from './event-key.ts';
import { cookielessIdentity } from './rows/cookieless-identity.ts';
import {
  createRequestRows,
  decodeRequest,
  discardRequest,
  type UnreadableEvent,
} from './rows/reference-rows.ts';
import { type ScannedRequest, ScannedRows } from './rows/scanned-rows.ts';
import { SessionlessTable } from './sessionless-rows.ts';
import type { BatchIds, BuiltBatch, Messages, Verdict } from './thread-messages.ts';
import { UnreadableParts } from './unreadable-parts.ts';

const maxRememberedAgents = 20_000;
const twoPow32 = 4_294_967_296;

/** Neighbouring scanned rows, from one to before another. */
interface Span {
  readonly from: number;
  to: number;
}

/** Builds one batch at a time: `read` its messages, then `finish` it with the writer's verdict. */
export class BatchBuilder {
  readonly #parseAgent = createAgentParser(maxRememberedAgents);
  readonly #request = createRequestRows();
  readonly #ids: IdTable;
  readonly #sessionless = new SessionlessTable();
  readonly #sources = new RequestSources();
  readonly #filters = new ProjectFilters();
  #scanned: ScannedRows | undefined;
  readonly #columns = new EventColumns();
  /** For each row of the columns its number in the batch. */
  readonly #numbers = new Int32Buffer();
  #month: number | undefined;
  #unreadable = new UnreadableParts();
  #accepted = 0;
  #repeats = 0;
  #shard = 0;
  #referenceBodies = 0;

  /**
   * `secret` keys the hash of event ids for the seen-set (event-key.ts). Without `fastPath` every body takes the
   * reference path, which makes the same rows.
   */
  constructor(secret: Uint8Array, { fastPath = true }: { fastPath?: boolean } = {}) {
    this.#ids = new IdTable(new EventKeys(secret));
    this.#scanned = fastPath ? new ScannedRows(this.#parseAgent) : undefined;
  }

  /** Bodies of the batch that took the reference path. */
  get referenceBodies(): number {
    return this.#referenceBodies;
  }

  /**
   * Reads every message and returns the events that a batch of them would store. Forgets the batch before. With `month`
   * only the rows of that month are built, as older versions did: 202611.
   */
  read(shard: number, messages: Messages, month?: number): BatchIds {
    this.#ids.clear();
    this.#sessionless.clear();
    this.#sources.clear();
    this.#forgetRows();
    this.#month = month;
    this.#scanned?.clear();
    if (this.#scanned?.isLarge) this.#scanned = new ScannedRows(this.#parseAgent);
    this.#unreadable = new UnreadableParts();
    this.#accepted = 0;
    this.#repeats = 0;
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
    const sessionless = this.#sessionless.snapshot();
    return { ...this.#ids.snapshot(), firstSeq, lastSeq, sessionless };
  }

  /** The batch that was read last, without the rows that the verdict drops. */
  finish(verdict: Verdict): BuiltBatch {
    const numbered = { columns: this.#columns, numbers: this.#numbers };
    const matched = findMatchedEvents(numbered, verdict, {
      sources: this.#sources,
      filters: this.#filters,
    });
    const rows = buildRows(numbered, this.#sessionless.numbers(), verdict);
    this.#forgetRows();
    const stored = rows?.rows ?? 0;
    const { deadLetters, events: unreadable } = this.#unreadable;
    const dropped = this.#ids.rows - stored;
    const counts = {
      accepted: this.#accepted,
      stored,
      repeats: this.#repeats,
      dropped,
      unreadable,
    };
    return { rows, deadLetters, matched, counts };
  }

  #forgetRows(): void {
    this.#columns.clear();
    this.#numbers.clear();
  }

  #readFrame(streamSeq: number, frame: Uint8Array): void {
    let requests: FrameRequest[];
    try {
      requests = viewFrame(frame);
    } catch {
      this.#accepted += frameEvents(frame);
      this.#unreadable.addFrame(streamSeq, frame);
      return;
    }
    for (let index = 0; index < requests.length; index++) {
      const request = requests[index];
      if (request !== undefined) this.#readRequest(streamSeq, index, request);
    }
  }

  /** `place` is the request's place in its frame. */
  #readRequest(streamSeq: number, place: number, request: FrameRequest): void {
    this.#accepted += request.events;
    if (!isContext(request.context)) {
      const unreadable = discardRequest(request, this.#request);
      this.#unreadable.addEvent(streamSeq, place, request, unreadable);
      return;
    }
    if (this.#scan(streamSeq, request)) return;
    this.#referenceBodies++;
    for (const event of this.#decode(request)) {
      this.#unreadable.addEvent(streamSeq, place, request, event);
    }
    const { projectId, receiveTimeMs, credential } = request.context;
    const origin = { shard: this.#shard, streamSeq };
    this.#ids.beginRequest(projectId, receiveTimeMs);
    this.#sources.begin(this.#ids.rows, credential);
    for (let index = 0; index < this.#request.count; index++) {
      const row = this.#request.rows[index];
      if (row === undefined) break;
      const number = this.#ids.rows;
      if (!this.#isNew(row.eventId, row.occurTimeMs)) continue;
      if (row.sessionDerived) {
        const { distinctId, otherId, occurTimeMs } = row;
        this.#sessionless.add(number, projectId, distinctId, otherId, occurTimeMs);
      }
      if (!this.#isBuilt(row.occurTimeMs)) continue;
      this.#numbers.push(number);
      this.#columns.append(row, projectId, receiveTimeMs, origin);
    }
  }

  /** Makes the event the batch's next row; false where the batch has it already. */
  #isNew(eventId: Uint32Array, occurTimeMs: number, at = 0): boolean {
    const isNew = this.#ids.add(eventId, occurTimeMs, at);
    if (!isNew) this.#repeats++;
    return isNew;
  }

  #isBuilt(occurTimeMs: number): boolean {
    if (this.#month === undefined) return true;
    const time = new Date(occurTimeMs);
    return time.getUTCFullYear() * 100 + time.getUTCMonth() + 1 === this.#month;
  }

  /**
   * Tries the fast path. False, and all rows before it in their columns, where a request must take the reference path.
   */
  #scan(streamSeq: number, request: FrameRequest): boolean {
    let taken = this.#scanned?.take(request, streamSeq);
    if (taken === 'full') {
      this.#drain();
      taken = this.#scanned?.take(request, streamSeq);
    }
    if (taken === 'full') {
      // The room for texts must not depend on the batches before: then a batch built again could differ.
      this.#scanned?.forget();
      this.#columns.forgetCells();
      taken = this.#scanned?.take(request, streamSeq);
    }
    if (taken === 'taken') return true;
    this.#drain();
    return false;
  }

  /** Puts the scanned rows into the columns. */
  #drain(): void {
    const scanned = this.#scanned;
    if (scanned === undefined || scanned.requests.length === 0) return;
    const columns = scanned.columns();
    const spans: Span[] = [];
    for (const request of scanned.requests) this.#placeScanned(request, columns, spans);
    for (const { from, to } of spans) this.#columns.appendScanned(columns, from, to);
    scanned.clear();
  }

  #placeScanned(request: ScannedRequest, columns: ScannedColumns, spans: Span[]): void {
    const { context, streamSeq, firstRow, endRow } = request;
    const { projectId, receiveTimeMs, credential } = context;
    const { eventIds, occurTimes, cookieless } = columns.views;
    const origin = { shard: this.#shard, streamSeq };
    this.#ids.beginRequest(projectId, receiveTimeMs);
    this.#sources.begin(this.#ids.rows, credential);
    let count = 0;
    for (let row = firstRow; row < endRow; row++) {
      const timeMs = (occurTimes[row * 2] ?? 0) + (occurTimes[row * 2 + 1] ?? 0) * twoPow32;
      const isCookieless = cookieless[row] === 1;
      const identity = isCookieless ? cookielessIdentity(context, timeMs) : undefined;
      if (isCookieless && identity === undefined) continue;
      const number = this.#ids.rows;
      if (!this.#isNew(eventIds, timeMs, row * 4)) continue;
      if (identity !== undefined) {
        const { distinctId, otherId } = identity;
        columns.cookielessIds.set(row, distinctId);
        this.#sessionless.add(number, projectId, distinctId, otherId, timeMs);
      }
      if (!this.#isBuilt(timeMs)) continue;
      this.#numbers.push(number);
      count++;
      const last = spans.at(-1);
      if (last?.to === row) last.to++;
      else spans.push({ from: row, to: row + 1 });
    }
    this.#columns.appendOrigins(count, projectId, receiveTimeMs, origin);
  }

  /** The reference path. A request on which a step fails is unreadable as a whole: it must not block its shard. */
  #decode(request: FrameRequest): UnreadableEvent[] {
    try {
      const unreadable = decodeRequest(request, this.#request);
      enrich(this.#request, this.#parseAgent);
      return unreadable;
    } catch {
      return [discardRequest(request, this.#request)];
    }
  }
}
