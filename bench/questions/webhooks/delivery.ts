// From a message's request until the POST at its endpoint: the whole service, 500 webhooks, and their endpoints in a
// process of their own. Then the same while some endpoints hang and some refuse, in turns with all of them well.

import { createHash } from 'node:crypto';
import { maxWebhooks } from '../../../platform/webhooks/webhook-record.ts';
import type { Part, Stack } from '../../../test/harness/servers/stack.ts';
import { type Bench, check, type Mode, type Session, type Table } from '../../bench.ts';
import type { LoadOptions, LoadResult } from '../../harness/load/load.ts';
import { median, spreadOf } from '../../harness/pairs.ts';
import { startMeasuredStack } from '../../harness/processes/measured-stack.ts';
import {
  type EndpointsProcess,
  runLoadProcess,
  startEndpointsProcess,
} from '../../harness/processes/processes.ts';
import { benchSettings } from '../../harness/processes/session.ts';
import { cpuOfParts, parts, withHighestMiB } from '../../harness/usage.ts';
import { untilReceived } from '../../harness/webhooks/received.ts';
import type { Failing, ReceivedDeliveries } from '../../harness/webhooks/receiving.ts';
import { openRooms, type Rooms } from '../../harness/webhooks/rooms.ts';

interface Parameters {
  webhooks: number;
  connections: number;
  perSecond: number;
  warmUpMs: number;
  forMs: number;
  /** Loads of each kind. */
  rounds: number;
}

const sizes: Record<Mode, Parameters> = {
  smoke: { webhooks: 20, connections: 4, perSecond: 100, warmUpMs: 0, forMs: 300, rounds: 1 },
  real: {
    ...{ webhooks: 10 * maxWebhooks, connections: 50 },
    ...{ perSecond: 1_000, warmUpMs: 10_000, forMs: 60_000, rounds: 5 },
  },
};

/** One webhook in this many hangs, and one refuses. */
const failingEvery = 20;
const kinds = ['all are well', '5 % hang, 5 % refuse'] as const;
type Kind = (typeof kinds)[number];

interface Load {
  kind: Kind;
  /** By endpoints that are well. */
  received: ReceivedDeliveries;
  /** Messages that were taken. */
  perSecond: number;
  refused: number;
  /** CPU microseconds for each delivery that came. */
  cpuUs: Record<Part, number>;
  highestMiB: number;
}

export const webhooksBench: Bench = {
  name: 'webhooks',
  question: 'How soon is an event at its webhook, and what do failing endpoints cost the others?',
  async run(mode, session) {
    const parameters = sizes[mode];
    const rounds: { well: Load; failing: Load }[] = [];
    for (let round = 0; round < parameters.rounds; round++) {
      const load = (kind: Kind): Promise<Load> =>
        onStack(mode, session, (stack) => runOn(stack, kind, parameters, session));
      rounds.push({
        well: await load('all are well'),
        failing: await load('5 % hang, 5 % refuse'),
      });
    }
    const loads = rounds.flatMap(({ well, failing }) => [well, failing]);
    const ratios = rounds.map(
      ({ well, failing }) => failing.received.p99Ms / Math.max(1, well.received.p99Ms),
    );
    const resultHash = createHash('sha256').update('each delivery came, none beyond eight at once');
    return {
      tables: [lagTable(loads, parameters), ratioTable(ratios)],
      resultHash: resultHash.digest('hex'),
    };
  },
};

/** What one load leaves waiting must not come into the next: each has a service of its own, but in smoke runs. */
async function onStack<T>(
  mode: Mode,
  session: Session,
  work: (stack: Stack) => Promise<T>,
): Promise<T> {
  if (mode === 'smoke') return work(await session.stack());
  const stack = await startMeasuredStack({ env: benchSettings });
  try {
    return await work(stack);
  } finally {
    await stack.stop();
  }
}

async function runOn(
  stack: Stack,
  kind: Kind,
  parameters: Parameters,
  session: Session,
): Promise<Load> {
  const endpoints = await startEndpointsProcess(parameters.webhooks);
  try {
    const rooms = await openRooms(stack, endpoints);
    try {
      const send = (forMs: number): Promise<LoadResult> =>
        runLoadProcess(loadOptions(stack, rooms, { ...parameters, forMs }, session));
      if (parameters.warmUpMs > 0) await send(parameters.warmUpMs);
      await endpoints.report();
      const failing = kind === 'all are well' ? nobody : failingOf(parameters);
      await endpoints.fail(failing);
      const load = () => loadOnce(send(parameters.forMs), endpoints, failing);
      return { kind, ...(await withCosts(stack, load)) };
    } finally {
      await rooms.close();
    }
  } finally {
    await endpoints.stop();
  }
}

type Loaded = Pick<Load, 'received' | 'perSecond' | 'refused'>;

async function loadOnce(
  sending: Promise<LoadResult>,
  endpoints: EndpointsProcess,
  failing: Failing,
): Promise<Loaded> {
  const sent = await sending;
  const received = await untilReceived(endpoints, expectedOf(sent, failing));
  const refused = Object.values(sent.refused).reduce((sum, count) => sum + count, 0);
  return { received, perSecond: (1_000 * sent.requests) / sent.countedMs, refused };
}

async function withCosts(stack: Stack, load: () => Promise<Loaded>): Promise<Omit<Load, 'kind'>> {
  const pids = stack.pids();
  const before = cpuOfParts(stack);
  const [loaded, highestMiB] = await withHighestMiB(stack, load);
  check(
    parts.every((part) => stack.pids()[part] === pids[part]),
    'no process begins anew',
  );
  const after = cpuOfParts(stack);
  const usEach = (part: Part): number =>
    (1_000 * (after[part] - before[part])) / loaded.received.deliveries;
  const [service, broker, engine] = [usEach('service'), usEach('broker'), usEach('engine')];
  return { ...loaded, cpuUs: { service, broker, engine }, highestMiB };
}

const nobody: Failing = { hang: [], refuse: [] };

function failingOf({ webhooks }: Parameters): Failing {
  const places = Array.from({ length: webhooks }, (_, place) => place);
  return {
    hang: places.filter((place) => place % failingEvery === 0),
    refuse: places.filter((place) => place % failingEvery === 1),
  };
}

/** Messages that were taken, in rooms whose endpoints are well. */
function expectedOf({ acknowledgedOfBody }: LoadResult, { hang, refuse }: Failing): number {
  const failing = new Set([...hang, ...refuse]);
  return acknowledgedOfBody.reduce(
    (sum, messages, place) => (failing.has(place) ? sum : sum + messages),
    0,
  );
}

function loadOptions(
  { baseUrl }: Stack,
  { keys }: Rooms,
  { connections, webhooks, perSecond, forMs }: Parameters,
  session: Session,
): LoadOptions {
  return {
    ...{ baseUrl, key: '', roomKeys: keys, size: 'small', batch: 1, seed: 0 },
    ...{ connections, bodiesPerConnection: webhooks / connections, requestsPerSecond: perSecond },
    ...{ load: session.nextLoad() },
    ...{ warmUpMs: 0, durationMs: forMs, traced: false },
  };
}

function lagTable(
  loads: readonly Load[],
  { webhooks, perSecond, forMs, rounds }: Parameters,
): Table {
  const rows = kinds.map((kind) => {
    const own = loads.filter((load) => load.kind === kind);
    const middle = (figure: (load: Load) => number): string => median(own.map(figure)).toFixed(0);
    const p99 = spreadOf(own.map(({ received }) => received.p99Ms));
    const repeated = own.map(({ received }) => received.posts - received.deliveries);
    return [
      kind,
      middle((load) => load.perSecond),
      String(Math.max(...own.map(({ refused }) => refused))),
      middle(({ received }) => received.deliveries),
      String(Math.max(...repeated)),
      middle(({ received }) => received.p50Ms),
      ...[p99.median, p99.min, p99.max].map((ms) => ms.toFixed(0)),
      String(Math.max(...own.map(({ received }) => received.highestMs))),
      ...parts.map((part) => middle((load) => load.cpuUs[part])),
      middle((load) => load.highestMiB),
    ];
  });
  const title =
    `${perSecond} messages a second for ${forMs / 1_000} s to ${webhooks} webhooks, medians of ${rounds}: ` +
    'from the moment a request was due to the POST at endpoints that are well';
  const columns = [
    ...[
      'endpoints',
      'taken a second',
      'refused',
      'deliveries',
      'repeated',
      'p50 ms',
      'p99 ms',
      'min',
      'max',
    ],
    ...['highest ms', ...parts.map((part) => `${part} us each`), 'MiB'],
  ];
  return { title, columns, rows };
}

function ratioTable(ratios: readonly number[]): Table {
  const { median: middle, min, max } = spreadOf(ratios);
  return {
    title: 'The p99 over that of the load before it, in which all endpoints are well',
    columns: ['endpoints', 'of healthy p99', 'min', 'max'],
    rows: [[kinds[1], ...[middle, min, max].map((ratio) => ratio.toFixed(2))]],
  };
}
