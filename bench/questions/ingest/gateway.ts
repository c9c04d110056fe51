// The cost of a request before the broker: HTTP, key, caller, validation, limit and answer, beside a bare node:http
// sink that takes the same requests from the same load generator, in turns.

import { createHash } from 'node:crypto';
import { newApiKey } from '../../../platform/access/ids.ts';
import { type Bench, check } from '../../bench.ts';
import { median } from '../../harness/pairs.ts';
import {
  runLoadProcess,
  type ServerProcess,
  startGatewayProcess,
  startSinkProcess,
} from '../../harness/processes/processes.ts';
import { cpuMsOf } from '../../harness/usage.ts';

interface Cell {
  batch: number;
  connections: number;
  bodiesPerConnection: number;
}

interface Parameters {
  cells: readonly Cell[];
  /** Pairs before them that do not count. */
  warmUps: number;
  pairs: number;
  durationMs: number;
}

const smoke: Parameters = {
  cells: [1, 10].map((batch) => ({ batch, connections: 2, bodiesPerConnection: 4 })),
  ...{ warmUps: 0, pairs: 1, durationMs: 200 },
};
const real: Parameters = {
  cells: [
    { batch: 1, connections: 64, bodiesPerConnection: 64 },
    { batch: 100, connections: 16, bodiesPerConnection: 16 },
  ],
  ...{ warmUps: 1, pairs: 7, durationMs: 3_000 },
};

const seed = 7;

export const gatewayBench: Bench = {
  name: 'gateway',
  question: 'What does a request cost before the broker, beside a bare HTTP sink?',
  async run(mode) {
    const parameters = mode === 'smoke' ? smoke : real;
    const publicKey = newApiKey('public');
    const gateway = await startGatewayProcess(publicKey);
    const rows: string[][] = [];
    let verdicts: string;
    try {
      verdicts = await verdictsOf(gateway, publicKey);
      for (const cell of parameters.cells) {
        const sink = await startSinkProcess(`{"accepted":${cell.batch}}`);
        try {
          rows.push(rowOf(cell, await comparePairs(gateway, sink, publicKey, cell, parameters)));
        } finally {
          await sink.stop();
        }
      }
    } finally {
      await gateway.stop();
    }
    const resultHash = createHash('sha256').update(verdicts).digest('hex');
    return { tables: [{ title, columns, rows }], resultHash };
  },
};

interface Run {
  requestsPerSecond: number;
  /** CPU microseconds a request. */
  cpuUs: number;
}

interface Pair {
  subject: Run;
  calibration: Run;
}

async function comparePairs(
  gateway: ServerProcess,
  sink: ServerProcess,
  publicKey: string,
  cell: Cell,
  { warmUps, pairs, durationMs }: Parameters,
): Promise<Pair[]> {
  const measured: Pair[] = [];
  for (let pair = 0; pair < warmUps + pairs; pair++) {
    const subject = await measure(gateway, publicKey, cell, durationMs);
    const calibration = await measure(sink, publicKey, cell, durationMs);
    if (pair >= warmUps) measured.push({ subject, calibration });
  }
  return measured;
}

async function measure(
  { baseUrl, pid }: ServerProcess,
  key: string,
  { batch, connections, bodiesPerConnection }: Cell,
  durationMs: number,
): Promise<Run> {
  const beforeMs = cpuMsOf(pid);
  const load = await runLoadProcess({
    ...{ baseUrl, key, size: 'medium', batch, bodiesPerConnection, seed },
    ...{ load: 0, connections, warmUpMs: 0, durationMs, requestsPerSecond: 0 },
    traced: false,
  });
  const cpuMs = cpuMsOf(pid) - beforeMs;
  check(Object.keys(load.refused).length === 0, 'every request is accepted');
  const requests = load.acknowledgedEvents / batch;
  return {
    requestsPerSecond: (1_000 * load.requests) / load.countedMs,
    cpuUs: (1_000 * cpuMs) / requests,
  };
}

/** A gateway that accepts everything would be fast: checks that it refuses bad requests. */
async function verdictsOf({ baseUrl }: ServerProcess, publicKey: string): Promise<string> {
  const answerTo = async (key: string, body: string): Promise<string> => {
    const response = await fetch(`${baseUrl}/sdk.events.v1.EventsService/BatchCreate`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-api-key': key },
      body,
    });
    return `${response.status} ${await response.text()}`;
  };
  const noKey = await answerTo(newApiKey('public'), '{"events":[]}');
  check(noKey.startsWith('401 '), 'a key of nobody is refused');
  const noKind = await answerTo(publicKey, '{"events":[{}]}');
  check(noKind.startsWith('400 '), 'an event without anything is refused');
  const none = await answerTo(publicKey, '{"events":[]}');
  check(none === '200 {"accepted":0}', 'a request without events is accepted');
  return [noKey, noKind, none].join('\n');
}

const title =
  'A request, validated and answered but not queued, and the bare sink; CPU in us a request';
const columns = [...['batch', 'gateway req/s', 'us', 'sink req/s', 'us', 'ratio', 'min', 'max']];

function rowOf({ batch }: Cell, pairs: readonly Pair[]): string[] {
  const cells = (runs: readonly Run[]): string[] => [
    Math.round(median(runs.map((run) => run.requestsPerSecond))).toLocaleString('en-US'),
    median(runs.map((run) => run.cpuUs)).toFixed(1),
  ];
  const ratios = pairs.map(({ subject, calibration }) => subject.cpuUs / calibration.cpuUs);
  return [
    String(batch),
    ...cells(pairs.map(({ subject }) => subject)),
    ...cells(pairs.map(({ calibration }) => calibration)),
    ...[median(ratios), Math.min(...ratios), Math.max(...ratios)].map((value) => value.toFixed(2)),
  ];
}
