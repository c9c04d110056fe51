// Where an event's CPU goes: the product's own parts one after the other, each fed with the output of the part before
// it, while nothing else runs in the measured process. The sum is less than the CPU of the whole service end to end:
// there, parts share caches and wait for each other, and the ledger, the log and the metrics come on top.

import { createHash } from 'node:crypto';
import { BatchBuilder } from '../../../pipeline/build/build-batch.ts';
import type { BuiltRows, Messages } from '../../../pipeline/build/thread-messages.ts';
import { DuplicateCheck } from '../../../pipeline/dedup/duplicate-check.ts';
import { SeenSet } from '../../../pipeline/dedup/seen-set.ts';
import { systemClock } from '../../../platform/clock.ts';
import { maxBatchRows } from '../../../platform/limits.ts';
import { makeBodies } from '../../../test/harness/requests/bodies.ts';
import {
  type IngestService,
  startIngestService,
} from '../../../test/harness/services/ingest-service.ts';
import { type Bench, check, type Mode, type Table } from '../../bench.ts';
import { stageColumns } from '../../chain-picture.ts';
import { openStageEngine, type StageEngine } from '../../harness/engine/stage-engine.ts';
import {
  createPublisher,
  emptyStream,
  openReceiver,
  publishAll,
  storedInStream,
  unpackAll,
} from '../../harness/event-stream.ts';
import { requestOf } from '../../harness/frames.ts';
import { median } from '../../harness/pairs.ts';
import { runLoadProcess } from '../../harness/processes/processes.ts';
import { cpuMsOf } from '../../harness/usage.ts';

interface Parameters {
  connections: number;
  durationMs: number;
  rounds: number;
  /** Rounds before them that do not count. */
  warmUps: number;
}

const smoke: Parameters = { connections: 2, durationMs: 100, rounds: 1, warmUps: 0 };
const real: Parameters = { connections: 16, durationMs: 2_000, rounds: 5, warmUps: 1 };

const batch = 100;
const seed = 14;
const secret = Buffer.alloc(32, 7);

export const stagesBench: Bench = {
  name: 'stages',
  question: 'Where does the CPU of an event go?',
  async run(mode, session) {
    const { rounds, warmUps } = parametersOf(mode);
    const service = await startIngestService({ eventsMaxBytes: 2 ** 32 });
    const engine = await openStageEngine();
    const chain: Chain = {
      ...{ service, engine },
      builder: new BatchBuilder(secret),
      duplicateCheck: new DuplicateCheck({
        completeTo: () => Number.POSITIVE_INFINITY,
        seen: new SeenSet(256 * 2 ** 20),
        clock: systemClock,
        loaded: Promise.resolve(),
        findStored: async () => [],
        storeIds: async () => {},
      }),
    };
    try {
      const measured: Round[] = [];
      for (let round = 0; round < warmUps + rounds; round++) {
        const stages = await runRound(chain, mode, session.nextLoad());
        if (round >= warmUps) measured.push(stages);
      }
      const resultHash = createHash('sha256').update('every event is a row').digest('hex');
      return { tables: [tableOf(measured)], resultHash };
    } finally {
      await engine.stop();
      await service.stop();
    }
  },
};

interface Chain {
  service: IngestService;
  builder: BatchBuilder;
  duplicateCheck: DuplicateCheck;
  engine: StageEngine;
}

/** CPU microseconds an event of each stage, in the order of `stages`. */
interface Round {
  events: number;
  us: number[];
}

const stages = [
  ['load generator', 'load generator'],
  ['HTTP and validation', 'service'],
  ['frame, LZ4, publish', 'service'],
  ['store, deliver', 'broker'],
  ['receive, unpack', 'service'],
  ['scan, enrich, columns', 'service'],
  ['duplicates', 'service'],
  ['hand over the insert', 'service'],
  ['insert', 'engine'],
  ['views and merges', 'engine'],
] as const;

function parametersOf(mode: Mode): Parameters {
  return mode === 'smoke' ? smoke : real;
}

async function runRound(chain: Chain, mode: Mode, number: number): Promise<Round> {
  const { service, builder, duplicateCheck, engine } = chain;
  const brokerBefore = cpuMsOf(service.broker.pid());
  const ingest = await cpuOf(() => load(service, parametersOf(mode), number));
  const events = ingest.result.acknowledgedEvents;
  const { messages } = await storedInStream(service.nats);
  const receive = await cpuOf(() => receiveAll(service, events));
  const brokerMs = cpuMsOf(service.broker.pid()) - brokerBefore;
  const publishMs = await publishAgain(service, events, Math.round(events / batch / messages));

  const unpack = await cpuOf(async () => unpackAll(receive.result));
  check(unpack.result === events, `of ${events} events the broker has ${unpack.result}`);
  let duplicatesMs = 0;
  const build = await cpuOf(async () => {
    const batches: BuiltRows[] = [];
    for (const packed of receive.result) {
      const ids = builder.read(0, packed);
      const checked = await cpuOf(() => duplicateCheck.check(ids));
      duplicatesMs += checked.cpuMs;
      const { rows } = builder.finish(checked.result);
      if (rows !== undefined) batches.push(rows);
    }
    return batches;
  });
  const inserted = await engine.insert(build.result, events);
  const buildMs = build.cpuMs - duplicatesMs - unpack.cpuMs;
  const us = [
    ...[ingest.result.cpuMs, ingest.cpuMs - publishMs, publishMs, brokerMs],
    ...[receive.cpuMs + unpack.cpuMs, buildMs, duplicatesMs],
    ...[inserted.clientMs, inserted.insertMs, inserted.viewsAndMergesMs],
  ].map((cpuMs) => (1_000 * cpuMs) / events);
  return { events, us };
}

async function cpuOf<T>(work: () => Promise<T>): Promise<{ result: T; cpuMs: number }> {
  const before = process.cpuUsage();
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { result, cpuMs: (user + system) / 1_000 };
}

function load(
  { baseUrl, publicKey }: IngestService,
  { connections, durationMs }: Parameters,
  number: number,
) {
  return runLoadProcess({
    ...{ baseUrl, key: publicKey, size: 'medium', batch, seed },
    ...{ bodiesPerConnection: 16, connections, requestsPerSecond: 0 },
    ...{ load: number, warmUpMs: 0, durationMs, traced: false },
  });
}

/** Receives the load's messages from the stream, after the load: an open receiver would take a share of its CPU. */
async function receiveAll({ nats }: IngestService, events: number): Promise<Messages[]> {
  const receiver = await openReceiver(nats, maxBatchRows);
  try {
    return await receiver.receive(events);
  } finally {
    receiver.stop();
  }
}

/**
 * CPU milliseconds of publishing the same number of events again, without HTTP, with the same number of requests a
 * frame.
 */
async function publishAgain(
  { nats, broker }: IngestService,
  events: number,
  requestsPerFrame: number,
): Promise<number> {
  const nowMs = Date.now();
  const bodies = makeBodies({ size: 'medium', batch, count: 100, seed, nowMs });
  const requests = bodies.map((body) => requestOf(body, nowMs));
  const publisher = createPublisher(nats, { lz4: true });
  const sending = { count: events / batch, connections: Math.max(1, requestsPerFrame) };
  const { cpuMs } = await cpuOf(() => publishAll(publisher, requests, sending));
  publisher.close();
  await emptyStream(broker);
  return cpuMs;
}

function tableOf(rounds: readonly Round[]): Table {
  const events = Math.round(median(rounds.map((round) => round.events)));
  const us = stages.map((_, stage) => median(rounds.map((round) => round.us[stage] ?? 0)));
  const total = us.reduce((sum, each) => sum + each, 0);
  const rows = stages.map(([stage, process], index) => [
    ...[stage, process, (us[index] ?? 0).toFixed(2)],
  ]);
  return {
    title:
      `CPU of a medium event in batches of ${batch}, stage by stage: medians of ${rounds.length} rounds ` +
      `of ${events.toLocaleString('en-US')} events`,
    columns: stageColumns,
    rows: [...rows, ['together', '', total.toFixed(2)]],
  };
}
