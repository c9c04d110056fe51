// The writer of events on a real broker and engine, killed at each point of a batch: no event may be lost or stored
// twice.

import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buckets } from '../platform/broker/buckets.ts';
import {
  connectBroker,
  type JetStreamManager,
  type NatsConnection,
} from '../platform/broker/nats.ts';
import { openBucket } from '../platform/broker/record-bucket.ts';
import {
  deadLetterStream,
  eventsStream,
  eventsSubject,
  writerConsumer,
} from '../platform/broker/streams.ts';
import { ensureTopology } from '../platform/broker/topology.ts';
import {
  createClickHouse,
  type DatabaseClient,
  insertArrow,
} from '../platform/clickhouse/clickhouse.ts';
import { systemClock } from '../platform/clock.ts';
import { createLog } from '../platform/log.ts';
import { retry } from '../platform/retry.ts';
import { encodeContext, projectMark } from '../proto/wire/frame.ts';
import { encodeFrame } from '../proto/wire/frame-writer.ts';
import { SessionModel } from '../test/harness/models/session-model.ts';
import { asOperator } from '../test/harness/servers/broker.ts';
import { useBroker, useEngine } from '../test/harness/servers/use-servers.ts';
import { expectRollupsOfEvents } from '../test/harness/tables/rollups.ts';
import { BatchBuilder } from './build/build-batch.ts';
import { EventKeys } from './build/event-key.ts';
import { visitorKey } from './build/visitor-key.ts';
import { createDeadLetters } from './consume/dead-letter.ts';
import { createDeadLetterRows } from './consume/dead-letter-rows.ts';
import { openEventStream, streamCreated } from './consume/event-stream.ts';
import { packMessages, readAgain } from './consume/message-batch.ts';
import { MessageSource } from './consume/message-source.ts';
import { minSeenBytes } from './dedup/seen-set.ts';
import { openStoredState } from './stored-state.ts';
import { type Ledger, takeOverLedger } from './write/ledger.ts';
import { readLedgerRecord } from './write/ledger-record.ts';
import { type EventWriterParts, runEventWriter } from './write/writer.ts';
import type { WriterEnd, WriterState } from './write/writer-state.ts';

const tables = [
  ...['events', 'profile_activity', 'dead_letters'],
  ...['event_counts', 'profile_days', 'visits', 'visit_entries', 'property_keys'],
];
/** A broker on a busy machine answers late. */
const patienceMs = 300_000;
const broker = useBroker();
const engine = useEngine();
let nats: NatsConnection;
let manager: JetStreamManager;
let clickhouse: DatabaseClient;

beforeAll(async () => {
  const log = createLog('silent');
  nats = await connectBroker(broker.url, log);
  manager = await nats.jetstreamManager({ timeout: patienceMs });
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 4 });
});

afterAll(async () => {
  await nats.close();
  await clickhouse.close();
});

beforeEach(async () => {
  await asOperator(broker, async ({ streams }) => {
    for (const name of [eventsStream(0), deadLetterStream, 'KV_instance', 'KV_ledger']) {
      await streams.delete(name).catch(() => {});
    }
  });
  await ensureTopology(nats, { eventsMaxBytes: 256 * 1_048_576, shards: 1 });
  // Messages that a dead writer had taken are delivered again after this time.
  const { config } = await manager.consumers.info(eventsStream(0), writerConsumer);
  await manager.consumers.update(eventsStream(0), writerConsumer, { ...config, ack_wait: 5e8 });
  for (const table of tables) {
    await clickhouse.command({ query: `TRUNCATE TABLE ${table}` });
  }
});

const hourMs = 3_600_000;

class Crash extends Error {}

/** The point at which a writer dies, in its batch number `batch` (from 1). */
interface Death {
  at: keyof typeof deaths;
  batch: number;
}

/** Each replaces one part of the writer by one that dies before or after its work. */
const deaths = {
  'before the promise': { part: 'begin', after: false },
  'after the promise': { part: 'begin', after: true },
  'after the dead letters': { part: 'letters', after: true },
  'before the insert': { part: 'insert', after: false },
  'after the insert': { part: 'insert', after: true },
  'before the ledger has it as done': { part: 'finish', after: false },
  'after the ledger has it as done': { part: 'finish', after: true },
  'before the acks': { part: 'ack', after: false },
  'after the acks': { part: 'ack', after: true },
} as const;

interface Writer {
  ended: Promise<WriterEnd | 'crashed'>;
  state(): WriterState;
  stop(): void;
}

/** A message has 41 rows. A writer closes full batches, and a smaller one of the messages that are left. */
const batchLimits = {
  small: { maxRows: 120, maxMessages: 5, enoughShare: 1 },
  /** Takes what waits, as a writer does that is behind. */
  large: { maxRows: 400, maxMessages: 20, enoughShare: 0.3 },
} as const;

interface Hooks {
  death?: Death;
  /** `small` unless given. */
  batches?: keyof typeof batchLimits;
  /** The ids of stored events never come into memory: each is looked up. */
  isLoadingHeld?: boolean;
  /** Called before each insert, which waits for it. */
  beforeInsert?: () => Promise<void>;
}

async function startWriter(hooks: Hooks = {}): Promise<Writer> {
  const aborted = new AbortController();
  const untilAnswered = <T>(call: () => Promise<T>) =>
    retry(call, { signal: aborted.signal, baseMs: 10, capMs: 100 });
  const secret = Buffer.from(randomUUID());
  const created = await streamCreated(nats, eventsStream(0));
  const { ledger, found } = await takeOverLedger({
    bucket: await openBucket(nats, buckets.ledger, readLedgerRecord),
    key: 'shard.0',
    streamCreated: created,
    writer: randomUUID(),
    retry: untilAnswered,
  });
  const stream = openEventStream({
    connection: nats,
    stream: eventsStream(0),
    created,
    retry: untilAnswered,
  });
  const source = new MessageSource(stream, {
    ...batchLimits[hooks.batches ?? 'small'],
    maxBytes: 1e7,
    maxQueuedBytes: 1e7,
    minWaitMs: 20,
    minIntervalMs: 0,
    maxWaitMs: 100,
  });
  const stored = openStoredState({
    clickhouse: hooks.isLoadingHeld ? neverLoads(clickhouse) : clickhouse,
    shard: 0,
    eventKeys: new EventKeys(secret),
    seenMaxBytes: minSeenBytes,
    // Few, so that most sessions are looked up in the table.
    maxSessions: 20,
    clock: systemClock,
    log: createLog('silent'),
    ledger,
    isLedgerCurrent: found === 'current',
    completeTo: () => source.completeTo,
    untilAnswered: (call, signal) => retry(call, { signal, baseMs: 10, capMs: 100 }),
    abort: aborted.signal,
  });
  const builder = new BatchBuilder(secret);
  const publishLetters = createDeadLetters({
    broker: nats.jetstream(),
    shard: 0,
    stream: eventsStream(0),
    streamCreated: created,
    maxPayloadBytes: 1_048_576,
    retry: untilAnswered,
  });
  const rowOptions = { clickhouse, shard: 0, log: createLog('silent'), retry: untilAnswered };
  const insertRows = createDeadLetterRows(rowOptions);
  let state: WriterState = 'loading';
  const parts: EventWriterParts = {
    ledger,
    source,
    readAgain: (ranges) => readAgain(stream, ranges),
    build: async (batch, ask, month) =>
      builder.finish(await ask(builder.read(0, packMessages(batch), month))),
    findDuplicates: (ids) => stored.duplicateCheck.check(ids),
    assignSessions: (ids, dropped) => stored.sessions.assign(ids.sessionless, dropped),
    remember: (ids) => stored.duplicateCheck.remember(ids),
    publishDeadLetters: async (letters) => {
      await publishLetters(letters);
      await insertRows(letters);
    },
    insert: async (month, token) => {
      await hooks.beforeInsert?.();
      await insertArrow(clickhouse, 'events', month.arrow, token);
    },
    subscribed: () => [], // Their crashes are in webhooks/deliveries.test.ts.
    publishDeliveries: async () => {},
    onDone: () => stored.sessions.done(),
    onState: (next) => {
      state = next;
    },
  };
  const ended = runEventWriter(mortal(parts, hooks.death), `test:${created}:0`)
    .catch((error: unknown) => {
      if (error instanceof Crash) return 'crashed' as const;
      throw error;
    })
    .finally(async () => {
      source.stop();
      aborted.abort(new Error('ended'));
      await stored.close();
    });
  return { ended, state: () => state, stop: () => source.stop() };
}

/** The same engine, except that ids which a start loads do not arrive. */
function neverLoads(client: DatabaseClient): Pick<DatabaseClient, 'query' | 'exec' | 'command'> {
  return {
    ...{ query: client.query.bind(client), command: client.command.bind(client) },
    exec: ({ abort_signal: signal }) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
      }),
  };
}

/** The same parts, except that one dies at its time. */
function mortal(parts: EventWriterParts, death: Death | undefined): EventWriterParts {
  if (death === undefined) return parts;
  const { part, after } = deaths[death.at];
  let batch = 0;
  const dying = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
    const dies = name === part && batch === death.batch;
    if (dies && !after) throw new Crash();
    const result = await work();
    if (dies) throw new Crash();
    return result;
  };
  const { ledger, source } = parts;
  const mortalLedger: Pick<Ledger, 'begin' | 'finish'> = {
    begin: (pending) => {
      batch++;
      return dying('begin', () => ledger.begin(pending));
    },
    finish: () => dying('finish', () => ledger.finish()),
  };
  const acks = (messages: Parameters<typeof source.ack>[0]): void => {
    const dies = part === 'ack' && batch === death.batch;
    if (!dies || after) source.ack(messages);
    if (dies) throw new Crash();
  };
  return {
    ...parts,
    ledger: new Proxy(ledger, {
      get: (target, name) =>
        name === 'begin' || name === 'finish'
          ? mortalLedger[name]
          : Reflect.get(target, name, target),
    }),
    source: {
      start: (hwm) => source.start(hwm),
      next: () => source.next(),
      stop: () => source.stop(),
      ack: acks,
    },
    publishDeadLetters: (letters) => dying('letters', () => parts.publishDeadLetters(letters)),
    insert: (rows, token) => dying('insert', () => parts.insert(rows, token)),
  };
}

interface Sent {
  ids: Set<string>;
  bad: number;
  /** Expected sessions by event id, of events that are sent without one. */
  sessions: Map<string, string>;
  model: SessionModel;
  startMs: number;
}

function newSent(): Sent {
  const model = new SessionModel();
  return { ids: new Set(), bad: 0, sessions: new Map(), model, startMs: Date.now() };
}

/**
 * Publishes messages of 300 months, with retries of earlier events and with one unreadable event each. Most are of one
 * project, so that those of the other have their turn before them.
 */
async function publish(count: number, sent: Sent = newSent()): Promise<Sent> {
  const receiveTimeMs = Date.now();
  const js = nats.jetstream({ timeout: patienceMs });
  for (let message = 0; message < count; message++) {
    const projectId = message % 3 === 2 ? '9' : '7';
    const own = [...sent.ids].filter((id) => projectOf(id) === projectId);
    const events = Array.from({ length: 40 }, (_, n) => {
      const again = n % 8 === 0 ? own[Math.floor(Math.random() * own.length)] : undefined;
      const eventId = again ?? newId(projectId);
      sent.ids.add(eventId);
      // Half of them are of now, and the others of a month that follows from the id, because a retry repeats its time.
      const month = Number.parseInt(eventId.slice(2, 5), 16) % 300;
      if (eventId[35] === '0') return visit(eventId, sent);
      return {
        eventId,
        sessionId: eventId,
        distinctId: `v${eventId[1]}`,
        kind: 'page_view',
        occurTime: new Date(
          eventId.slice(1) < '8' ? receiveTimeMs : Date.UTC(2000, month, 5),
        ).toISOString(),
      };
    });
    sent.bad++;
    const bad = { eventId: 'not one' };
    const body = Buffer.from(JSON.stringify({ events: [...events, bad] }));
    const context = encodeContext({ projectId, credential: 'private', receiveTimeMs });
    const request = { context, body, events: 41, project: projectMark(projectId) };
    await js.publish(eventsSubject(0), encodeFrame([request]));
  }
  return sent;
}

/** The project follows from the id, because a retry is sent to the same one. */
const projectOf = (eventId: string): string => eventId[0] ?? '';
const newId = (projectId: string): string => projectId + randomUUID().slice(1);

/** An event of the last five hours without a session. Its time follows from its id, because a retry repeats it. */
function visit(eventId: string, { sessions, model, startMs }: Sent): object {
  const distinctId = `visitor ' ${eventId[34]}`;
  const timeMs = startMs - (Number.parseInt(eventId.slice(24, 31), 16) % (5 * hourMs));
  if (!sessions.has(eventId)) {
    sessions.set(
      eventId,
      model.assign(visitorKey(projectOf(eventId), distinctId), undefined, timeMs),
    );
  }
  return { eventId, distinctId, kind: 'page_view', occurTime: new Date(timeMs).toISOString() };
}

async function streamMessages(stream: string): Promise<number> {
  return (await manager.streams.info(stream)).state.messages;
}

/** Compares the tables and the dead letters with the events that were sent. */
async function expectExactly({ ids, bad, sessions }: Sent): Promise<void> {
  const result = await clickhouse.query({
    query: `SELECT
      (SELECT count() FROM events),
      (SELECT uniqExact(event_id) FROM events),
      (SELECT sum(total_events) FROM profile_activity),
      (SELECT sum(pageviews) FROM profile_activity),
      (SELECT count() FROM dead_letters FINAL)`,
    format: 'JSONCompactEachRow',
  });
  const [counts] = await result.json<unknown[]>();
  expect(counts?.map(Number)).toEqual([ids.size, ids.size, ids.size, ids.size, bad]);
  await expectRollupsOfEvents(clickhouse);
  expect(await streamMessages(deadLetterStream)).toBe(bad);
  const derived = await clickhouse.query({
    query: 'SELECT toString(event_id), toString(session_id) FROM events WHERE session_derived',
    format: 'JSONCompactEachRow',
  });
  expect(new Map(await derived.json<[string, string]>())).toEqual(sessions);
}

async function drain(writer: Writer): Promise<void> {
  while ((await streamMessages(eventsStream(0))) > 0) {
    expect(writer.state()).not.toMatch(/fenced|halted/);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  writer.stop();
  expect(await writer.ended).toEqual({ kind: 'stopped' });
}

describe('a writer that dies', () => {
  for (const at of Object.keys(deaths) as (keyof typeof deaths)[]) {
    for (const batch of [1, 3]) {
      it(`${at} of batch ${batch} loses no event and stores none twice`, async () => {
        const sent = await publish(20);
        // In every second case no stored id has been loaded, neither when the writer dies nor in the next one.
        const isLoadingHeld = batch === 3;
        // The next writer takes batches of another size, but repeats the promised one as it is.
        const [batches, next] =
          batch === 1 ? (['large', 'small'] as const) : (['small', 'large'] as const);
        const first = await startWriter({ death: { at, batch }, isLoadingHeld, batches });
        expect(await first.ended).toBe('crashed');
        await publish(5, sent);
        await drain(await startWriter({ isLoadingHeld, batches: next }));
        await expectExactly(sent);
      });
    }
  }

  it('again and again, at every point in turn, loses no event and stores none twice', async () => {
    const sent = await publish(10);
    for (const at of Object.keys(deaths) as (keyof typeof deaths)[]) {
      await publish(6, sent);
      const writer = await startWriter({ death: { at, batch: 1 } });
      expect(await writer.ended).toBe('crashed');
    }
    await drain(await startWriter());
    await expectExactly(sent);
  });

  it('before the stored ids are loaded, twice, stores no repetition of theirs', async () => {
    const sent = await publish(10);
    await drain(await startWriter());
    for (const batch of [1, 2]) {
      await publish(10, sent);
      const death = { at: 'after the insert', batch } as const;
      const writer = await startWriter({ death, isLoadingHeld: true });
      expect(await writer.ended).toBe('crashed');
    }
    await publish(10, sent);
    await drain(await startWriter());
    await expectExactly(sent);
  });
});

describe('two writers', () => {
  it('of one shard: the earlier one stops, and its last insert counts once', async () => {
    const sent = await publish(10);
    let open = () => {};
    let reached = () => {};
    const gate = new Promise<void>((resolve) => {
      open = resolve;
    });
    const inserting = new Promise<void>((resolve) => {
      reached = resolve;
    });
    const first = await startWriter({
      beforeInsert: () => {
        reached();
        return gate;
      },
    });
    await inserting;
    const second = await startWriter();
    const drained = drain(second);
    // The second writer finishes the batch that the first has promised; then the first inserts it under the same token.
    while ((await streamMessages(eventsStream(0))) > 0) await new Promise(setImmediate);
    open();
    expect(await first.ended).toEqual({ kind: 'fenced' });
    await drained;
    await expectExactly(sent);
  });
});

describe('a ledger that is lost', () => {
  it('with the power of its broker doubles no event', async () => {
    const sent = await publish(20);
    const first = await startWriter({ death: { at: 'before the acks', batch: 3 } });
    expect(await first.ended).toBe('crashed');
    const kv = await nats.jetstream().views.kv(buckets.ledger);
    await kv.purge('shard.0');
    await drain(await startWriter());
    await expectExactly(sent);
  });
});

describe('a pending batch that cannot be built as promised', () => {
  it('halts the writer before it stores anything', async () => {
    await publish(5);
    const first = await startWriter({ death: { at: 'after the promise', batch: 1 } });
    expect(await first.ended).toBe('crashed');
    const bucket = await openBucket(nats, buckets.ledger, readLedgerRecord);
    const read = await bucket.get('shard.0');
    if (read.kind !== 'found' || read.record.pending === undefined) throw new Error('no promise');
    const [insert] = read.record.pending.inserts;
    if (insert !== undefined) insert.idsHash = 'another';
    await bucket.update('shard.0', read.record, read.revision);
    const second = await startWriter();
    expect(await second.ended).toEqual({
      kind: 'halted',
      reason: 'the pending batch came out differently when built again',
    });
    const result = await clickhouse.query({
      query: 'SELECT count() FROM events',
      format: 'JSONCompactEachRow',
    });
    expect(await result.json()).toEqual([['0']]);
  });

  it('halts the writer too where one of its messages is gone', async () => {
    await publish(5);
    const first = await startWriter({ death: { at: 'after the promise', batch: 1 } });
    expect(await first.ended).toBe('crashed');
    await asOperator(broker, ({ streams }) => streams.deleteMessage(eventsStream(0), 1));
    const second = await startWriter();
    expect(await second.ended).toMatchObject({ kind: 'halted' });
  });
});
