// Runs the real source, ledger, seen-set, builder and writer on a simulated shard, until the test kills them. It
// replaces no part of the product but the broker, the engine and the threads.

import { BatchBuilder } from '../../../pipeline/build/build-batch.ts';
import { EventKeys, writeEventKey } from '../../../pipeline/build/event-key.ts';
import { formatUuid, parseUuid } from '../../../pipeline/build/uuid.ts';
import { deleteLeftovers } from '../../../pipeline/consume/leftover-messages.ts';
import { packMessages, readAgain } from '../../../pipeline/consume/message-batch.ts';
import { MessageSource } from '../../../pipeline/consume/message-source.ts';
import { DuplicateCheck } from '../../../pipeline/dedup/duplicate-check.ts';
import { minSeenBytes, SeenSet } from '../../../pipeline/dedup/seen-set.ts';
import { Sessions } from '../../../pipeline/sessions/sessions.ts';
import { makeSubscriptionFilter } from '../../../pipeline/webhooks/subscription-filter.ts';
import type { SubscribedProject } from '../../../pipeline/webhooks/subscriptions.ts';
import { takeOverLedger } from '../../../pipeline/write/ledger.ts';
import {
  type DoneBatch,
  type EventWriterParts,
  runEventWriter,
} from '../../../pipeline/write/writer.ts';
import type { WriterEnd, WriterState } from '../../../pipeline/write/writer-state.ts';
import { Broken, type Life, projects, room, type SimulatedShard } from './simulated-shard.ts';

const secret = Buffer.alloc(32, 7);
const eventKeys = new EventKeys(secret);
const created = '2026-11-20T00:00:00Z';
const nowMs = Date.UTC(2026, 10, 20);
/** The chance that a thread dies after its verdict. */
const deadThreads = 0.05;
/** The chance that messages that are done are deleted after a batch. */
const deletions = 0.3;
/** The share of lives in which no stored id is loaded in time. */
const unloadedLives = 0.3;

/** Of every project, all that `room` hears is for webhooks. */
const subscribed = projects.map<SubscribedProject>((projectId) => ({
  projectId,
  organizationId: 'acme',
  filter: makeSubscriptionFilter([
    { subjectType: 'ROOM', subjectId: room, eventType: 'message_sent' },
  ]),
  privateOnly: false,
}));

interface SimulatedWriter {
  state(): WriterState;
  /** Ends the writer at once, wherever it is. */
  kill(): void;
}

/** Builders of killed writers, to be used again: making one takes longer than a simulated life. */
const spareBuilders: BatchBuilder[] = [];

/** Starts a writer beside any that run already; the shard's `broken` says how one failed. */
export function startSimulatedWriter(shard: SimulatedShard): SimulatedWriter {
  const life = shard.connect();
  const builder = spareBuilders.pop() ?? new BatchBuilder(secret);
  let state: WriterState = 'loading';
  let source: MessageSource | undefined;
  const run = async (): Promise<WriterEnd> => {
    const parts = await writerParts(shard, life, builder);
    source = parts.source;
    const stored = shard.storedMessages(life, created);
    const { ledger } = parts;
    const onDone = (done: DoneBatch) => {
      parts.onDone(done);
      if (shard.random() > deletions) return;
      const deleting = deleteLeftovers(stored, ledger, new AbortController().signal);
      deleting.catch((error: unknown) => {
        shard.broken ??= new Broken(String(error));
      });
    };
    const onState = (next: WriterState) => {
      state = next;
    };
    return runEventWriter({ ...parts, onDone, onState }, 'token');
  };
  run().catch((error: unknown) => {
    shard.broken ??= error instanceof Broken ? error : new Broken(String(error));
  });
  return {
    state: () => state,
    kill() {
      if (!life.dead) spareBuilders.push(builder);
      shard.disconnect(life);
      source?.stop();
    },
  };
}

async function writerParts(
  shard: SimulatedShard,
  life: Life,
  builder: BatchBuilder,
): Promise<Omit<EventWriterParts, 'onState' | 'source'> & { source: MessageSource }> {
  const { ledger, found } = await takeOverLedger({
    bucket: shard.bucket(life),
    key: 'shard.0',
    streamCreated: created,
    writer: String(life.name),
    retry: (call) => shard.untilAnswered(life, call),
  });
  const done = () => (found === 'fresh' ? { hwm: Number.MAX_SAFE_INTEGER, ahead: [] } : ledger);
  const sessions = new Sessions({
    find: (lookUp) => shard.findSessions(life, done(), lookUp),
    maxSessions: Math.floor(shard.random() * 20),
  });
  const duplicateCheck = new DuplicateCheck({
    completeTo: () => Number.POSITIVE_INFINITY,
    seen: shard.random() < unloadedLives ? unloadedSeen() : loadSeen(shard),
    clock: { nowMs: () => nowMs },
    loaded: Promise.resolve(),
    findStored: async (ids, rows) => {
      await shard.passTime(life);
      const stored = new Set(shard.rows.map(({ id }) => id));
      const idOf = (row: number) => formatUuid(ids.eventIds.subarray(16 * row, 16 * row + 16));
      return rows.filter((row) => stored.has(idOf(row)));
    },
    storeIds: () => Promise.reject(new Broken('nothing here is beyond the budget')),
  });
  const stream = shard.stream(life);
  return {
    ledger,
    source: new MessageSource(stream, {
      maxRows: 12,
      maxBytes: 1e6,
      maxMessages: 4,
      maxQueuedBytes: 1e6,
      enoughShare: 1,
      minWaitMs: 1,
      minIntervalMs: 0,
      maxWaitMs: 1,
    }),
    readAgain: (ranges) => readAgain(stream, ranges),
    build: async (batch, findDropped, month) => {
      // A batch whose thread dies is built twice.
      if (shard.random() < deadThreads)
        await findDropped(builder.read(0, packMessages(batch), month));
      const verdict = await findDropped(builder.read(0, packMessages(batch), month));
      await shard.passTime(life);
      return builder.finish(verdict);
    },
    findDuplicates: (ids) => duplicateCheck.check(ids),
    assignSessions: (ids, dropped) => sessions.assign(ids.sessionless, dropped),
    remember: (ids) => duplicateCheck.remember(ids),
    publishDeadLetters: (letters) => shard.publishDeadLetters(life, letters),
    insert: (rows, token) => shard.untilAnswered(life, () => shard.insert(life, rows, token)),
    subscribed: () => subscribed,
    publishDeliveries: (events) => shard.publishDeliveries(life, events),
    onDone: () => sessions.done(),
  };
}

/** A seen-set whose keys are still being loaded when its writer ends: it asks for each event. */
function unloadedSeen(): SeenSet {
  const seen = new SeenSet(minSeenBytes);
  seen.beginLoading();
  return seen;
}

/** A seen-set with every row of the shard's table. */
function loadSeen(shard: SimulatedShard): SeenSet {
  const seen = new SeenSet(minSeenBytes);
  const table = seen.makeLoaded(shard.rows.length, nowMs);
  const id = new Uint32Array(4);
  const key = new Uint32Array(2);
  for (const row of shard.rows) {
    parseUuid(row.id, id);
    writeEventKey(eventKeys.projectKey(row.projectId), id, 0, key, 0);
    table.put(key[0] ?? 0, key[1] ?? 0, row.timeMs, false);
    table.includeRow(row.seq, nowMs);
  }
  seen.addLoaded(table);
  return seen;
}
