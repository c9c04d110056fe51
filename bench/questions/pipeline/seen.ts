// Recognising repeated events, far more of them than memory holds: the seen-set by itself, fed with keys that never
// come twice, and the table look-up of ids that the seen-set has no room for.

import { createHash } from 'node:crypto';
import { findStored, storeIds } from '../../../pipeline/dedup/event-ids.ts';
import { SeenSet } from '../../../pipeline/dedup/seen-set.ts';
import type { DatabaseClient } from '../../../platform/clickhouse/clickhouse.ts';
import { type Bench, check, type Table } from '../../bench.ts';
import { openMigratedEngine } from '../../harness/engine/migrated-engine.ts';
import { cpuMsOf } from '../../harness/usage.ts';

interface Parameters {
  budgetMiB: number;
  /** Keys of the live load; the other load has half. */
  keys: number;
  /** Lines of the seen-set's table; each is for the same number of keys. */
  steps: number;
  /** Stored events, in this many parts: the seen-set too writes its table in parts. */
  stored: number;
  parts: number;
  /** Numbers of ids in one look-up. */
  asked: number[];
}

const smoke: Parameters = {
  budgetMiB: 16,
  keys: 1_000_000,
  steps: 2,
  stored: 2_000,
  parts: 2,
  asked: [10],
};
const real: Parameters = {
  budgetMiB: 160,
  keys: 100_000_000,
  steps: 5,
  stored: 22_000_000,
  parts: 7,
  asked: [1, 50, 500, 5_000, 50_000],
};

const batchRows = 50_000;
const eventsPerSecond = 100_000;
/** Percent of live events that come up to five hours late; the others come within twenty seconds. */
const latePercent = 1;
const maxLateMs = 5 * 3_600_000;
const delayMs = 20_000;
/** The other load: all events occurred in the same ten minutes. */
const frozenSpanMs = 600_000;
const startMs = Date.UTC(2026, 10, 20);

export const seenBench: Bench = {
  name: 'seen',
  question: 'What does it cost to recognise repeated events when memory is full?',
  async run(mode) {
    const parameters = mode === 'smoke' ? smoke : real;
    const tables = [
      setTable('live', parameters),
      setTable('frozen', { ...parameters, keys: parameters.keys / 2 }),
      await lookUpTable(parameters),
    ];
    const resultHash = createHash('sha256').update('no event is taken for another').digest('hex');
    return { tables, resultHash };
  },
};

type Load = 'live' | 'frozen';

function setTable(load: Load, { budgetMiB, keys, steps }: Parameters): Table {
  const set = new SeenSet(budgetMiB * 2 ** 20);
  const random = wordsFrom(7);
  const rows: string[][] = [];
  let done = 0;
  for (let step = 1; step <= steps; step++) {
    const first = done;
    let [cpuUs, maybe, slowestMs] = [0, 0, 0];
    for (; done < (keys * step) / steps; done += batchRows) {
      const nowMs = startMs + (1_000 * done) / eventsPerSecond;
      const batch = makeBatch(load, nowMs, done / batchRows, random);
      const cpu = process.cpuUsage();
      const fromMs = performance.now();
      const known = set.check(batch, nowMs);
      while (set.isOver) set.retire(nowMs, set.leaving);
      slowestMs = Math.max(slowestMs, performance.now() - fromMs);
      const { user, system } = process.cpuUsage(cpu);
      cpuUs += user + system;
      maybe += known.maybe.length;
      check(known.stored.length === 0, 'a new key is never taken for a stored one');
    }
    rows.push([
      `${done / 1e6}`,
      (cpuUs / (done - first)).toFixed(2),
      slowestMs.toFixed(0),
      ((maybe * batchRows) / (done - first)).toFixed(1),
      (set.bytes / 2 ** 20).toFixed(0),
      (set.bytes / done).toFixed(1),
    ]);
  }
  return {
    title: `The seen-set with ${budgetMiB} MiB, batches of ${batchRows} new keys, ${titles[load]}`,
    columns: ['M keys', 'us/key', 'slowest ms', 'looked up a batch', 'MiB', 'bytes/key'],
    rows,
  };
}

const titles: Record<Load, string> = {
  live: `${eventsPerSecond} events/s, ${latePercent} % of them up to five hours late`,
  frozen: 'all of the same ten minutes',
};

function makeBatch(load: Load, nowMs: number, seq: number, random: () => number) {
  const keys = new Uint32Array(batchRows * 2);
  for (let word = 0; word < keys.length; word++) keys[word] = random();
  const occurTimesMs = new Float64Array(batchRows);
  for (let row = 0; row < batchRows; row++) {
    const lateMs = random() % (random() % 100 < latePercent ? maxLateMs : delayMs);
    occurTimesMs[row] = load === 'live' ? nowMs - lateMs : startMs - (random() % frozenSpanMs);
  }
  const span = { firstSeq: seq, lastSeq: seq, minReceiveTimeMs: nowMs, maxReceiveTimeMs: nowMs };
  return { keys, occurTimesMs, ...span };
}

/** Bob Jenkins' small generator: a hundred million keys must not repeat. */
function wordsFrom(seed: number): () => number {
  let [a, b, c, d] = [0xf1ea_5eed, seed, seed, seed];
  return () => {
    const e = (a - ((b << 27) | (b >>> 5))) | 0;
    a = b ^ ((c << 17) | (c >>> 15));
    b = (c + d) | 0;
    c = (d + e) | 0;
    d = (e + a) | 0;
    return d >>> 0;
  };
}

async function lookUpTable({ stored, parts, asked }: Parameters): Promise<Table> {
  const { engine, client, close } = await openMigratedEngine();
  try {
    const rows: string[][] = [];
    const perPart = Math.floor(stored / parts);
    let awayMs = 0;
    // Without the view's sums for profiles: they are no part of the question.
    await client.command({ query: 'DROP VIEW profile_activity_view' });
    for (let part = 0; part < parts; part++) await storeEvents(client, part * perPart, perPart);
    for (let part = 0; part < parts; part++) {
      const beforeMs = cpuMsOf(engine.pid);
      const [firstSeq, lastSeq] = [part * perPart, (part + 1) * perPart - 1];
      const span = { firstSeq, lastSeq, minReceiveTimeMs: startMs, maxReceiveTimeMs: startMs };
      await storeIds(client, { shard: 0, streamCreatedMs: startMs }, span, lastSeq);
      awayMs += cpuMsOf(engine.pid) - beforeMs;
    }
    rows.push(['put away, each', '', '', ((1_000 * awayMs) / (perPart * parts)).toFixed(2)]);
    for (const count of asked) {
      for (const isStored of [false, true]) {
        rows.push(await lookUp(client, engine.pid, count, isStored ? perPart * parts : undefined));
      }
    }
    return {
      title: `Looking up among ${perPart * parts} stored events, CPU of client and engine`,
      columns: ['ids', 'wall ms', 'CPU ms', 'us/id'],
      rows,
    };
  } finally {
    await close();
  }
}

/** Events whose ids follow from their number; all have one time, each has its own message. */
async function storeEvents(client: DatabaseClient, from: number, rows: number): Promise<void> {
  await client.command({
    query: `
      INSERT INTO events
        (project_id, event_id, kind, distinct_id, session_id, occur_time, receive_time, shard, stream_seq)
      SELECT 'p', reinterpretAsUUID(sipHash128(number)), 'k', toString(number % 200000), generateUUIDv4(),
        {at:DateTime64(3)}, {at:DateTime64(3)}, 0, number
      FROM numbers({from:UInt64}, {rows:UInt64})`,
    query_params: { from, rows, at: new Date(startMs) },
  });
}

/**
 * Looks up `count` ids of the `among` stored ones, or ids that nobody stored; different ids each time, because the
 * engine caches.
 */
async function lookUp(
  client: DatabaseClient,
  enginePid: number,
  count: number,
  among: number | undefined,
): Promise<string[]> {
  const eventIds = await readIds(client, count, among);
  const all = Array.from({ length: count }, (_, row) => row);
  const ids = { eventIds, projectOf: new Int32Array(count), projects: ['p'] };
  const cpu = process.cpuUsage();
  const beforeMs = cpuMsOf(enginePid);
  const fromMs = performance.now();
  const found = await findStored(client, ids, all);
  const wallMs = performance.now() - fromMs;
  const { user, system } = process.cpuUsage(cpu);
  const cpuMs = cpuMsOf(enginePid) - beforeMs + (user + system) / 1_000;
  check(found.length === (among === undefined ? 0 : count), 'what is stored is found, no more');
  const name = `${count}, ${among === undefined ? 'new' : 'stored'}`;
  return [name, wallMs.toFixed(0), cpuMs.toFixed(0), ((1_000 * cpuMs) / count).toFixed(1)];
}

async function readIds(
  client: DatabaseClient,
  count: number,
  among: number | undefined,
): Promise<Uint8Array<ArrayBuffer>> {
  const result = await client.query({
    query: `
      SELECT replaceAll(toString(reinterpretAsUUID(sipHash128({from:UInt64} + {step:UInt64} * number))), '-', '')
      FROM numbers({count:UInt64})`,
    query_params: {
      from: among === undefined ? 2 ** 40 : 0,
      step: among === undefined ? 1 : Math.floor(among / count),
      count,
    },
    format: 'JSONCompactEachRow',
  });
  const texts = await result.json<[string]>();
  return new Uint8Array(Buffer.from(texts.map(([digits]) => digits).join(''), 'hex'));
}
