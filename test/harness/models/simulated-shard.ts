// The surroundings of one shard's writer for a simulation: a stream, a ledger bucket and a table that fail in every way
// the real ones do, by a seeded die. They check the rules of the writer; simulated-writer.ts runs the writer on them.

import { tableFromIPC } from 'apache-arrow';
import type {
  BuiltRows,
  DeadLetter,
  MatchedEvent,
} from '../../../pipeline/build/thread-messages.ts';
import { formatUuid } from '../../../pipeline/build/uuid.ts';
import { visitorKey } from '../../../pipeline/build/visitor-key.ts';
import type {
  EventStream,
  Receiver,
  StreamMessage,
} from '../../../pipeline/consume/event-stream.ts';
import type { StoredMessages } from '../../../pipeline/consume/queue-state.ts';
import type { LookUp } from '../../../pipeline/sessions/look-ups.ts';
import type { StoredSession } from '../../../pipeline/sessions/session-memory.ts';
import type { LedgerBucket } from '../../../pipeline/write/ledger.ts';
import type { LedgerRecord } from '../../../pipeline/write/ledger-record.ts';
import { includes, type SequenceRange } from '../../../pipeline/write/sequence-ranges.ts';
import type { WriteResult } from '../../../platform/broker/record-bucket.ts';
import { hourMs } from '../../../platform/clock.ts';

export const projects = ['p', 'q', 's'] as const;
/** Messages in this room are for webhooks. */
export const room = 'r1';
const never = new Promise<never>(() => {});

/** A rule that the writer has broken; the test reports it. */
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
  projectId: string;
  seq: number;
  distinctId: string;
  timeMs: number;
  sessionId: string;
  sessionDerived: boolean;
}

/** One writer's life: a dead writer never hears from the shard again. */
export interface Life {
  /** The place of the writer among all writers of the shard, from 1. */
  readonly name: number;
  dead: boolean;
}

/** The part of a shard that outlives every writer. */
export class SimulatedShard {
  readonly random: () => number;
  readonly #faults: Faults;
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
  /** Events of each dead letter, by its place. */
  readonly letters = new Map<string, number>();
  /** The event that was delivered under each delivery's id. */
  readonly delivered = new Map<string, string>();
  #writers = 0;
  /** The first rule that was broken. */
  broken: Broken | undefined;

  constructor(random: () => number, faults: Faults) {
    this.random = random;
    this.#faults = faults;
  }

  get isEmpty(): boolean {
    return this.#messages.size === 0;
  }

  /** Makes a life for one more writer. */
  connect(): Life {
    return { name: ++this.#writers, dead: false };
  }

  /** Ends a writer's life: it is delivered nothing more. */
  disconnect(life: Life): void {
    life.dead = true;
    this.#receivers.delete(life.name);
  }

  publish(frame: Uint8Array): void {
    this.#messages.set(++this.#lastSeq, frame);
  }

  /** Perhaps delivers a message to one of the writers: a new message, or one that was delivered before. */
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
    receiver.onMessage({ seq, data, ackSubject: String(seq), storedMs: seq });
  }

  /** The stored sessions of some visitors, of rows up to sequence `hwm` and of `ahead`. */
  async findSessions(
    life: Life,
    { hwm, ahead }: { hwm: number; ahead: readonly SequenceRange[] },
    { hours, fromMs, toMs }: LookUp,
  ): Promise<StoredSession[]> {
    await this.passTime(life);
    const found = new Map<string, StoredRow[]>();
    for (const row of this.rows) {
      const asked = hours.get(visitorKey(row.projectId, row.distinctId));
      const isAsked = asked?.has(Math.floor(row.timeMs / hourMs)) === true;
      const isDone = row.seq <= hwm || includes(ahead, row.seq);
      if (!isDone || !row.sessionDerived || !isAsked) continue;
      if (row.timeMs < fromMs || row.timeMs > toMs) continue;
      found.set(row.sessionId, [...(found.get(row.sessionId) ?? []), row]);
    }
    return [...found].map(([id, rows]) => ({
      id,
      firstMs: Math.min(...rows.map(({ timeMs }) => timeMs)),
      lastMs: Math.max(...rows.map(({ timeMs }) => timeMs)),
      visitors: [...new Set(rows.map((row) => visitorKey(row.projectId, row.distinctId)))],
    }));
  }

  stream(life: Life): EventStream {
    return {
      receive: (receiver) => void this.#receivers.set(life.name, receiver),
      stored: async (seq) => {
        await this.passTime(life);
        const data = this.#messages.get(seq);
        return data === undefined ? undefined : { seq, data, storedMs: seq };
      },
      firstSeq: async () => {
        await this.passTime(life);
        return this.#messages.keys().next().value ?? this.#lastSeq + 1;
      },
      lastDelivered: async () => {
        await this.passTime(life);
        return this.#delivered;
      },
      hasHeld: async () => true,
      ack: (message) => this.#ack(life, message),
      working: () => {},
      close: () => void this.#receivers.delete(life.name),
    };
  }

  /** Messages whose acks were lost are kept, as by a broker that was killed. */
  storedMessages(life: Life, created: string): StoredMessages {
    return {
      storedMs: async (seq) => {
        await this.passTime(life);
        return this.#messages.has(seq) ? seq : undefined;
      },
      state: async () => {
        await this.passTime(life);
        const [firstSeq = this.#lastSeq + 1] = this.#messages.keys();
        const messages = this.#messages.size;
        return {
          created,
          messages,
          bytes: messages,
          firstSeq,
          lastSeq: this.#lastSeq,
          oldestMs: 0,
        };
      },
      delete: async (seq) => {
        await this.passTime(life);
        if ((this.record?.hwm ?? 0) < seq) this.#break(`message ${seq} deleted too early`);
        return this.#messages.delete(seq);
      },
    };
  }

  #ack(life: Life, message: StreamMessage): void {
    if (life.dead || message.ackSubject === undefined) return;
    if (!this.#isDone(message.seq)) this.#break(`message ${message.seq} acked too early`);
    if (this.random() >= this.#faults.lostAck) this.#messages.delete(message.seq);
  }

  bucket(life: Life): LedgerBucket {
    const write = async (record: LedgerRecord, revision: number): Promise<WriteResult> => {
      await this.passTime(life);
      if (this.random() < this.#faults.bucketFails) throw new Error('no answer');
      if (revision !== this.#revision) return { kind: 'conflict' };
      if (record.hwm < (this.record?.hwm ?? 0)) this.#break('hwm went back');
      this.record = structuredClone(record);
      const written = ++this.#revision;
      await this.passTime(life);
      if (this.random() < this.#faults.bucketAnswerLost) throw new Error('no answer');
      return { kind: 'written', revision: written };
    };
    return {
      get: async () => {
        await this.passTime(life);
        if (this.random() < this.#faults.bucketFails) throw new Error('no answer');
        const { record } = this;
        if (record === undefined) return { kind: 'absent' };
        return { kind: 'found', record: structuredClone(record), revision: this.#revision };
      },
      create: (_, record) => write(record, 0),
      update: (_, record, revision) => write(record, revision),
    };
  }

  /** Remembers a token once its rows are there, for the table and for the view each by itself, like the engine. */
  async insert(life: Life, built: BuiltRows, token: string): Promise<void> {
    await this.passTime(life);
    if (this.random() < this.#faults.insertFails) throw new Error('no answer');
    const rows = rowsOf(built.arrow);
    const content = JSON.stringify(rows);
    const before = this.#insertedBy.get(token);
    if (before !== undefined && before !== content) this.#break(`other rows under ${token}`);
    if (before === undefined) this.rows.push(...rows);
    this.#insertedBy.set(token, content);
    await this.passTime(life);
    if (this.random() < this.#faults.viewFails) throw new Error('the view failed');
    if (!this.#viewedBy.has(token)) this.viewRows.push(...rows.map(({ id }) => id));
    this.#viewedBy.add(token);
    await this.passTime(life);
    if (this.random() < this.#faults.insertAnswerLost) throw new Error('no answer');
  }

  async publishDeadLetters(life: Life, letters: readonly DeadLetter[]): Promise<void> {
    for (const { streamSeq, request, event, events } of letters) {
      await this.passTime(life);
      this.letters.set([streamSeq, request, event].join('.'), events);
    }
  }

  /** A delivery that comes again is dropped. */
  async publishDeliveries(life: Life, events: readonly MatchedEvent[]): Promise<void> {
    for (const { eventId, part } of events) {
      await this.passTime(life);
      if (!this.rows.some(({ id }) => id === eventId)) this.#break(`${eventId} told too early`);
      const before = this.delivered.get(eventId);
      if (before !== undefined && before !== part) this.#break(`another payload of ${eventId}`);
      this.delivered.set(eventId, part);
    }
  }

  /** Repeats a call until it succeeds. */
  async untilAnswered<T>(life: Life, call: () => Promise<T>): Promise<T> {
    for (;;) {
      try {
        return await call();
      } catch (error) {
        if (error instanceof Broken) throw error;
        await this.passTime(life);
      }
    }
  }

  /** Lets other work happen; a writer that was killed never comes back from here. */
  async passTime(life: Life): Promise<void> {
    const turns = Math.floor(this.random() * 3);
    for (let turn = 0; turn < turns; turn++) await new Promise(setImmediate);
    if (life.dead) await never;
  }

  #isDone(seq: number): boolean {
    const { hwm = 0, ahead = [] } = this.record ?? {};
    return seq <= hwm || includes(ahead, seq);
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
    projectId: String(table.getChild('project_id')?.get(row)),
    seq: Number(seqs[row]),
    distinctId: String(table.getChild('distinct_id')?.get(row)),
    timeMs: Number(times[row]),
    sessionId: formatUuid(sessionIds.subarray(row * 16, row * 16 + 16)),
    sessionDerived: table.getChild('session_derived')?.get(row) === true,
  }));
}
