// Requests of one event each, acknowledged: the cost of a page view. Against a bare node:http sink that takes the same
// requests from the same load generator, in turns.

import { createHash } from 'node:crypto';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check, type Session, type Table } from '../../bench.ts';
import type { LoadOptions, LoadResult } from '../../harness/load/load.ts';
import { countDistinctEvents, countRows, watchRows } from '../../harness/load/stored-rows.ts';
import { median } from '../../harness/pairs.ts';
import {
  runLoadProcess,
  type ServerProcess,
  startSinkProcess,
} from '../../harness/processes/processes.ts';
import { cpuMsOf, cpuOfParts } from '../../harness/usage.ts';

interface Parameters {
  connections: number;
  pairs: number;
  warmUpMs: number;
  durationMs: number;
}

const smoke: Parameters = { connections: 4, pairs: 1, warmUpMs: 0, durationMs: 300 };
const real: Parameters = { connections: 64, pairs: 5, warmUpMs: 2_000, durationMs: 6_000 };

const seed = 6;
const bodiesPerConnection = 64;
const pollMs = 50;
const drainTimeoutMs = 120_000;

export const singleBench: Bench = {
  name: 'single',
  question: 'How many single-event requests a second are acknowledged, beside a bare HTTP sink?',
  async run(mode, session) {
    const parameters = mode === 'smoke' ? smoke : real;
    const stack = await session.stack();
    const sink = await startSinkProcess('{"accepted":1}');
    const rowsBefore = await countRows(stack);
    const pairs: Pair[] = [];
    let acknowledged = 0;
    try {
      for (let pair = 0; pair < parameters.pairs; pair++) {
        const subject = await loadStack(stack, session, parameters);
        acknowledged += subject.load.acknowledgedEvents;
        pairs.push({ subject, calibration: await loadSink(sink, parameters) });
      }
    } finally {
      await sink.stop();
    }
    const rows = await countRows(stack);
    const distinct = await countDistinctEvents(stack);
    check(rows - rowsBefore === acknowledged, `${acknowledged} rows for as many answers`);
    check(rows === distinct, `${rows} rows are of ${distinct} events`);
    const result = `${rows - distinct} rows too many`;
    return {
      tables: [tableOf(pairs, parameters.connections)],
      resultHash: createHash('sha256').update(result).digest('hex'),
    };
  },
};

interface Run {
  load: LoadResult;
  requestsPerSecond: number;
  /** CPU microseconds a request, of the answering process and of all processes behind it. */
  serverCpuUs: number;
  behindCpuUs: number;
}

interface Pair {
  subject: Run;
  calibration: Run;
}

async function loadStack(stack: Stack, session: Session, parameters: Parameters): Promise<Run> {
  const rowsBefore = await countRows(stack);
  const before = cpuOfParts(stack);
  const { baseUrl, publicKey } = stack;
  const load = await runLoadProcess(
    loadOptions(baseUrl, publicKey, parameters, session.nextLoad()),
  );
  const watch = watchRows(stack, pollMs);
  await watch.until(rowsBefore + load.acknowledgedEvents, drainTimeoutMs);
  await watch.stop();
  const after = cpuOfParts(stack);
  const perEvent = (cpuMs: number): number => (1_000 * cpuMs) / load.acknowledgedEvents;
  const behindMs = after.broker - before.broker + after.engine - before.engine;
  return runOf(load, perEvent(after.service - before.service), perEvent(behindMs));
}

async function loadSink(sink: ServerProcess, parameters: Parameters): Promise<Run> {
  const before = cpuMsOf(sink.pid);
  const load = await runLoadProcess(loadOptions(sink.baseUrl, 'pub_sink', parameters, 0));
  return runOf(load, (1_000 * (cpuMsOf(sink.pid) - before)) / load.acknowledgedEvents, 0);
}

function runOf(load: LoadResult, serverCpuUs: number, behindCpuUs: number): Run {
  const requestsPerSecond = (1_000 * load.requests) / load.countedMs;
  return { load, requestsPerSecond, serverCpuUs, behindCpuUs };
}

function loadOptions(
  baseUrl: string,
  key: string,
  { connections, warmUpMs, durationMs }: Parameters,
  load: number,
): LoadOptions {
  return {
    ...{ baseUrl, key, size: 'medium', batch: 1, bodiesPerConnection, seed },
    ...{ load, connections, warmUpMs, durationMs, requestsPerSecond: 0, traced: false },
  };
}

function tableOf(pairs: readonly Pair[], connections: number): Table {
  const cellsOf = (name: string, runs: readonly Run[], ratio: number): string[] => {
    const cell = (pick: (run: Run) => number, digits: number): string =>
      median(runs.map(pick)).toFixed(digits);
    return [
      name,
      Math.round(median(runs.map((run) => run.requestsPerSecond))).toLocaleString('en-US'),
      ratio.toFixed(2),
      cell((run) => run.load.p50Ms, 1),
      cell((run) => run.load.p99Ms, 1),
      cell((run) => run.serverCpuUs, 1),
      cell((run) => run.behindCpuUs, 1),
      cell((run) => (1_000 * run.load.cpuMs) / run.load.requests, 1),
    ];
  };
  const ratio = median(
    pairs.map(
      ({ subject, calibration }) => subject.requestsPerSecond / calibration.requestsPerSecond,
    ),
  );
  return {
    title: `Single-event requests, ${connections} connections, medians of ${pairs.length} pairs; CPU in us a request`,
    columns: ['server', 'req/s', 'of sink', 'p50 ms', 'p99 ms', 'server', 'behind', 'load'],
    rows: [
      cellsOf(
        'millrace',
        pairs.map(({ subject }) => subject),
        ratio,
      ),
      cellsOf(
        'node:http sink',
        pairs.map(({ calibration }) => calibration),
        1,
      ),
    ],
  };
}
