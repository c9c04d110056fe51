// One shard's surroundings for a simulation of its writer: a stream, a ledger bucket and a table that fail in every way
// the real ones do, by a seeded die. Between them run the real source, ledger, seen-set, builder and writer.

import { tableFromIPC } from 'apache-arrow';
import { BatchBuilder } from '../../../pipeline/build/build-batch.ts';
import { EventKeys, writeEventKey } from '../../../pipeline/build/event-key.ts';
import type { BuiltMonth, DeadLetter } from '../../../pipeline/build/thread-messages.ts';
import { formatUuid, parseUuid } from '../../../pipeline/build/uuid.ts';
import { visitorKey } from '../../../pipeline/build/visitor-key.ts';
import type {
  EventStream,
  Receiver,
  StreamMessage,
} from '../../../pipeline/consume/event-stream.ts';
import { packMessages, readAgain } from '../../../pipeline/consume/message-batch.ts';
import { MessageSource } from '../../../pipeline/consume/message-source.ts';
import { DuplicateCheck } from '../../../pipeline/dedup/duplicate-check.ts';
import { minSeenBytes, SeenSet } from '../../../pipeline/dedup/seen-set.ts';
import { Sessions, type StoredSession } from '../../../pipeline/sessions/sessions.ts';
import { type LedgerBucket, takeOverLedger } from '../../../pipeline/write/ledger.ts';
import type { LedgerRecord } from '../../../pipeline/write/ledger-record.ts';
import { runEventWriter } from '../../../pipeline/write/writer.ts';
import type { WriterEnd, WriterState } from '../../../pipeline/write/writer-state.ts';
import type { WriteResult } from '../../../platform/broker/kv.ts';

const secret = Buffer.alloc(32, 7);
const eventKeys = new EventKeys(secret);
export const project = 'p';
const created = '2026-11-20T00:00:00Z';
const nowMs = Date.UTC(2026, 10, 20);
const never = new Promise<never>(() => {});

/** What a run may not do; thrown into the test. */
export class Broken extends Error {}

/** Probabilities of the faults. */
export interface Faults {
  lostAck: number;
  redelivery: number;
  skippedDelivery: number;
  bucketFails: number;
  bucketAnswerLost: number;
  insertFails: number;
  insertAnswerLost: number;
  viewFails: number;
}

interface StoredRow {
  id: string;
  seq: number;
  distinctId: string;
  timeMs: number;
  sessionId: string;
  sessionDerived: boolean;
}

/** What outlives every writer. */
export class SimulatedShard {
  readonly random: () => number;
  readonly #faults: Faults;
  readonly #builders: BatchBuilder[];
  readonly #messages = new Map<number, Uint8Array>();
  readonly #receivers = new Map<number, Receiver>();
  #lastSeq = 0;
  #delivered = 0;
  record: LedgerRecord | undefined;
  #revision = 0;
  readonly rows: StoredRow[] = [];
  readonly viewRows: string[] = [];
  readonly #insertedBy = new Map<string, string>();
  readonly #viewedBy = new Set<string>();
  readonly letters = new Map<string, number>();
  #writers = 0;
  broken: Broken | undefined;

  constructor(random: () => number, faults: Faults, builders: BatchBuilder[]) {
    this.random = random;
    this.#faults = faults;
    this.#builders = builders;
  }

  get isEmpty(): boolean {
    return this.#messages.size === 0;
  }

  publish(frame: Uint8Array): void {
    this.#messages.set(++this.#lastSeq, frame);
  }

  /** Delivers something to somebody, perhaps: a new message, or one that was delivered before. */
  deliver(): void {
    const receivers = [...this.#receivers.values()];
    const receiver = receivers[Math.floor(this.random() * receivers.length)];
    if (receiver === undefined || !receiver.wants()) return;
    const again = this.random() < this.#faults.redelivery;
    const seqs = [...this.#messages.keys()].filter((seq) => again === seq <= this.#delivered);
    const seq = again ? seqs[Math.floor(this.random() * seqs.length)] : seqs[0];
    const data = seq === undefined ? undefined : this.#messages.get(seq);
    if (seq === undefined || data === undefined) {
      receiver.onSilence();
      return;
    }
    this.#delivered = Math.max(this.#delivered, seq);
    if (!again && this.random() < this.#faults.skippedDelivery) return;
    receiver.onMessage({ seq, data, ackSubject: String(seq) });
  }

  /** Starts a writer; `kill` ends it at once, wherever it is. */
  start(): { ended: Promise<WriterEnd | undefined>; kill(): void; state(): WriterState } {
    const name = ++this.#writers;
    const life = { dead: false };
    let state: WriterState = 'loading';
    let source: MessageSource | undefined;
    const builder = this.#builders.pop() ?? new BatchBuilder(secret);
    const kill = () => {
      if (!life.dead) this.#builders.push(builder);
      life.dead = true;
      this.#receivers.delete(name);
      source?.stop();
    };
    const run = async (): Promise<WriterEnd | undefined> => {
      const { ledger, found } = await takeOverLedger({
        bucket: this.#bucket(life),
        key: 'shard.0',
        streamCreated: created,
        writer: String(name),
        retry: (call) => this.#untilAnswered(life, call),
      });
      const seen = this.#loadSeen();
      const hwm = () => (found === 'fresh' ? Number.MAX_SAFE_INTEGER : ledger.hwm);
      const sessions = new Sessions({
        find: async (visitors, fromMs, toMs) => {
          await this.#time(life);
          return this.#sessions(hwm(), visitors, fromMs, toMs);
        },
        maxSessions: Math.floor(this.random() * 20),
      });
      const duplicateCheck = new DuplicateCheck({
        seen,
        clock: { nowMs: () => nowMs },
        findStored: () => Promise.reject(new Broken('nothing here is beyond the budget')),
        storeIds: () => Promise.reject(new Broken('nothing here is beyond the budget')),
      });
      const stream = this.#stream(life, name);
      source = new MessageSource(stream, {
        maxRows: 12,
        maxBytes: 1e6,
        maxMessages: 4,
        minWaitMs: 1,
        minIntervalMs: 0,
        maxWaitMs: 1,
      });
      return runEventWriter(
        {
          ledger,
          source,
          readAgain: (ranges) => readAgain(stream, ranges),
          build: async (batch, ask) => {
            // A thread that dies after the verdict: the batch is built twice.
            if (this.random() < 0.05) await ask(builder.read(0, packMessages(batch)));
            const verdict = await ask(builder.read(0, packMessages(batch)));
            await this.#time(life);
            return builder.finish(verdict);
          },
          findDuplicates: (ids) => duplicateCheck.check(ids),
          assignSessions: (ids, dropped) => sessions.assign(ids.sessionless, dropped),
          remember: (ids) => duplicateCheck.remember(ids),
          publishDeadLetters: (letters) => this.#publish(life, letters),
          insert: (month, token) =>
            this.#untilAnswered(life, () => this.#insert(life, month, token)),
          onDone: () => sessions.done(),
          onState: (next) => {
            state = next;
          },
        },
        'token',
      );
    };
    const ended = run().catch((error: unknown) => {
      this.broken ??= error instanceof Broken ? error : new Broken(String(error));
      return undefined;
    });
    return { ended, kill, state: () => state };
  }

  #loadSeen(): SeenSet {
    const seen = new SeenSet(minSeenBytes);
    const id = new Uint32Array(4);
    const key = new Uint32Array(2);
    for (const row of this.rows) {
      parseUuid(row.id, id);
      writeEventKey(eventKeys.projectKey(project), id, 0, key, 0);
      seen.add(key[0] ?? 0, key[1] ?? 0, row.timeMs, nowMs, row.seq);
    }
    return seen;
  }

  #sessions(
    hwm: number,
    visitors: readonly string[],
    fromMs: number,
    toMs: number,
  ): StoredSession[] {
    const found = new Map<string, StoredRow[]>();
    for (const row of this.rows) {
      const isAsked = visitors.includes(visitorKey(project, row.distinctId));
      if (row.seq > hwm || !row.sessionDerived || !isAsked) continue;
      if (row.timeMs < fromMs || row.timeMs > toMs) continue;
      found.set(row.sessionId, [...(found.get(row.sessionId) ?? []), row]);
    }
    return [...found].map(([id, rows]) => ({
      id,
      firstMs: Math.min(...rows.map(({ timeMs }) => timeMs)),
      lastMs: Math.max(...rows.map(({ timeMs }) => timeMs)),
      visitors: [...new Set(rows.map(({ distinctId }) => visitorKey(project, distinctId)))],
    }));
  }

  #stream(life: { dead: boolean }, name: number): EventStream {
    return {
      receive: (receiver) => void this.#receivers.set(name, receiver),
      stored: async (seq) => {
        await this.#time(life);
        const data = this.#messages.get(seq);
        return data === undefined ? undefined : { seq, data };
      },
      firstSeq: async () => {
        await this.#time(life);
        return this.#messages.keys().next().value ?? this.#lastSeq + 1;
      },
      lastDelivered: async () => {
        await this.#time(life);
        return this.#delivered;
      },
      isUnchanged: async () => true,
      ack: (message) => this.#ack(life, message),
      working: () => {},
      close: () => void this.#receivers.delete(name),
    };
  }

  #ack(life: { dead: boolean }, message: StreamMessage): void {
    if (life.dead || message.ackSubject === undefined) return;
    if ((this.record?.hwm ?? 0) < message.seq)
      this.#break(`message ${message.seq} acked too early`);
    if (this.random() >= this.#faults.lostAck) this.#messages.delete(message.seq);
  }

  #bucket(life: { dead: boolean }): LedgerBucket {
    const write = async (record: LedgerRecord, revision: number): Promise<WriteResult> => {
      await this.#time(life);
      if (this.random() < this.#faults.bucketFails) throw new Error('no answer');
      if (revision !== this.#revision) return { kind: 'conflict' };
      if (record.hwm < (this.record?.hwm ?? 0)) this.#break('hwm went back');
      this.record = structuredClone(record);
      const written = ++this.#revision;
      await this.#time(life);
      if (this.random() < this.#faults.bucketAnswerLost) throw new Error('no answer');
      return { kind: 'written', revision: written };
    };
    return {
      get: async () => {
        await this.#time(life);
        if (this.random() < this.#faults.bucketFails) throw new Error('no answer');
        const { record } = this;
        if (record === undefined) return { kind: 'absent' };
        return { kind: 'found', record: structuredClone(record), revision: this.#revision };
      },
      create: (_, record) => write(record, 0),
      update: (_, record, revision) => write(record, revision),
    };
  }

  /** As the engine: a token is remembered once its rows are there, for the table and for the view each by itself. */
  async #insert(life: { dead: boolean }, month: BuiltMonth, token: string): Promise<void> {
    await this.#time(life);
    if (this.random() < this.#faults.insertFails) throw new Error('no answer');
    const rows = rowsOf(month.arrow);
    const content = JSON.stringify(rows);
    const before = this.#insertedBy.get(token);
    if (before !== undefined && before !== content) this.#break(`other rows under ${token}`);
    if (before === undefined) this.rows.push(...rows);
    this.#insertedBy.set(token, content);
    await this.#time(life);
    if (this.random() < this.#faults.viewFails) throw new Error('the view failed');
    if (!this.#viewedBy.has(token)) this.viewRows.push(...rows.map(({ id }) => id));
    this.#viewedBy.add(token);
    await this.#time(life);
    if (this.random() < this.#faults.insertAnswerLost) throw new Error('no answer');
  }

  async #publish(life: { dead: boolean }, letters: readonly DeadLetter[]): Promise<void> {
    for (const { streamSeq, request, event, events } of letters) {
      await this.#time(life);
      this.letters.set([streamSeq, request, event].join('.'), events);
    }
  }

  async #untilAnswered<T>(life: { dead: boolean }, call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (error instanceof Broken) throw error;
        await this.#time(life);
      }
    }
  }

  /** Something else happens meanwhile; a writer that was killed never comes back from here. */
  async #time(life: { dead: boolean }): Promise<void> {
    const turns = Math.floor(this.random() * 3);
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
    if (life.dead) await never;
  }

  #break(rule: string): never {
    this.broken ??= new Broken(rule);
    throw this.broken;
  }
}

function rowsOf(arrow: Uint8Array): StoredRow[] {
  const table = tableFromIPC(arrow);
  const ids: Uint8Array = table.getChild('event_id')?.data[0]?.values ?? new Uint8Array();
  const seqs: BigUint64Array =
    table.getChild('stream_seq')?.data[0]?.values ?? new BigUint64Array();
  const sessionIds: Uint8Array = table.getChild('session_id')?.data[0]?.values ?? new Uint8Array();
  const times: BigInt64Array = table.getChild('occur_time')?.data[0]?.values ?? new BigInt64Array();
  return Array.from({ length: table.numRows }, (_, row) => ({
    id: formatUuid(ids.subarray(row * 16, row * 16 + 16)),
    seq: Number(seqs[row]),
    distinctId: String(table.getChild('distinct_id')?.get(row)),
    timeMs: Number(times[row]),
    sessionId: formatUuid(sessionIds.subarray(row * 16, row * 16 + 16)),
    sessionDerived: table.getChild('session_derived')?.get(row) === true,
  }));
}
