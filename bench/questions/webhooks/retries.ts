// What retries cost: the sender alone, in a process of its own, with first attempts coming in, in turns with many
// retries waiting and with none. Then many retries that are due at once.

import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { encodeDelivery } from '../../../platform/webhooks/delivery.ts';
import { retrySubject } from '../../../platform/webhooks/webhook-streams.ts';
import { memoryKiB } from '../../../test/harness/servers/process-memory.ts';
import {
  type DeliveryBroker,
  newDelivery,
  startDeliveryBroker,
} from '../../../test/harness/webhooks/delivery-broker.ts';
import { type Bench, check, type Mode, type Table } from '../../bench.ts';
import { median } from '../../harness/pairs.ts';
import {
  type EndpointsProcess,
  startDispatcherProcess,
  startEndpointsProcess,
} from '../../harness/processes/processes.ts';
import { cpuMsOf } from '../../harness/usage.ts';
import { untilReceived } from '../../harness/webhooks/received.ts';
import type { ReceivedDeliveries } from '../../harness/webhooks/receiving.ts';

interface Parameters {
  webhooks: number;
  perSecond: number;
  warmUpMs: number;
  forMs: number;
  /** Loads with waiting retries, and as many without. */
  rounds: number;
  waiting: number;
  dueAtOnce: number;
}

const sizes: Record<Mode, Parameters> = {
  smoke: {
    ...{ webhooks: 20, perSecond: 100, warmUpMs: 0, forMs: 200, rounds: 1 },
    ...{ waiting: 100, dueAtOnce: 100 },
  },
  real: {
    ...{ webhooks: 500, perSecond: 1_000, warmUpMs: 5_000, forMs: 20_000, rounds: 7 },
    ...{ waiting: 200_000, dueAtOnce: 20_000 },
  },
};

const webhooksOfOrganization = 50;
const tickMs = 10;
const publishesAtOnce = 500;
const twoHoursMs = 7_200_000;

interface Load {
  received: ReceivedDeliveries;
  cpuUs: number;
  brokerCpuUs: number;
  MiB: number;
  brokerMiB: number;
}

interface Parts {
  deliveries: DeliveryBroker;
  endpoints: EndpointsProcess;
  parameters: Parameters;
}

export const webhookRetriesBench: Bench = {
  name: 'webhook-retries',
  question: 'What do waiting retries cost the sender, and how fast do many go out at once?',
  async run(mode) {
    const parameters = sizes[mode];
    const endpoints = await startEndpointsProcess(parameters.webhooks);
    const onBroker = async <T>(work: (parts: Parts) => Promise<T>): Promise<T> => {
      // What one load leaves behind must not come into the next.
      const deliveries = await startDeliveryBroker();
      try {
        return await work({ deliveries, endpoints, parameters });
      } finally {
        await deliveries.stop();
      }
    };
    try {
      const rounds: Round[] = [];
      for (let round = 0; round < parameters.rounds; round++) {
        const none = await onBroker((parts) => load(parts, 0));
        rounds.push({ none, some: await onBroker((parts) => load(parts, parameters.waiting)) });
      }
      const burst = await onBroker(sendBurst);
      const resultHash = createHash('sha256').update('each delivery and each retry came');
      return {
        tables: [loadTable(rounds, parameters), ratioTable(rounds, parameters), burst],
        resultHash: resultHash.digest('hex'),
      };
    } finally {
      await endpoints.stop();
    }
  },
};

/** A fresh sender, then the retries, then the load; what the endpoints saw of it, and the sender's memory after it. */
async function load(parts: Parts, waiting: number): Promise<Load> {
  const { deliveries, endpoints, parameters } = parts;
  const webhooks = await makeWebhooks(parts);
  const sender = await startDispatcherProcess(deliveries.broker.url);
  const pids = [sender.pid, deliveries.broker.pid()] as const;
  try {
    await storeRetries(deliveries, waiting);
    const warmUp = await feed(deliveries, webhooks, { ...parameters, forMs: parameters.warmUpMs });
    await untilReceived(endpoints, warmUp);
    const before = pids.map(cpuMsOf);
    const expected = await feed(deliveries, webhooks, parameters);
    const received = await untilReceived(endpoints, expected);
    const [cpuUs = 0, brokerCpuUs = 0] = pids.map(
      (pid, place) => (1_000 * (cpuMsOf(pid) - (before[place] ?? 0))) / expected,
    );
    const [MiB = 0, brokerMiB = 0] = pids.map((pid) => memoryKiB(pid) / 1_024);
    return { received, cpuUs, brokerCpuUs, MiB, brokerMiB };
  } finally {
    await sender.stop();
  }
}

/** Retries that are all due when the sender starts, as after an outage. */
async function sendBurst(parts: Parts): Promise<Table> {
  const { deliveries, endpoints, parameters } = parts;
  const { dueAtOnce } = parameters;
  const webhooks = await makeWebhooks(parts);
  await inTurns(dueAtOnce, (index) =>
    deliveries.publishRetry('1m', { ...deliveryTo(webhooks, index), attempt: 2 }),
  );
  const sender = await startDispatcherProcess(deliveries.broker.url);
  const startedMs = performance.now();
  try {
    const { posts, mostAtOnce, allCameMs } = await untilReceived(endpoints, dueAtOnce);
    const tookMs = allCameMs - startedMs;
    const row = [dueAtOnce, Math.round(tookMs), posts - dueAtOnce, mostAtOnce];
    return {
      title: 'Retries that are due in one second: until the last one has come',
      columns: ['retries', 'drained in ms', 'repeated', 'most at once'],
      rows: [row.map(String)],
    };
  } finally {
    await sender.stop();
  }
}

interface BenchWebhook {
  organizationId: string;
  webhookId: string;
}

async function makeWebhooks({ deliveries, endpoints }: Parts): Promise<BenchWebhook[]> {
  const made: BenchWebhook[] = [];
  for (let first = 0; first < endpoints.ports.length; first += webhooksOfOrganization) {
    const organizationId = `organization-${first}`;
    const own = endpoints.ports.slice(first, first + webhooksOfOrganization);
    const webhooks = own.map((port, place) => {
      return { id: `webhook-${first + place}`, endpointUrl: `http://127.0.0.1:${port}/` };
    });
    await deliveries.setWebhooks(organizationId, webhooks);
    made.push(...webhooks.map(({ id: webhookId }) => ({ organizationId, webhookId })));
  }
  return made;
}

/** Publishes at the rate, whatever the sender does; the number of deliveries. */
async function feed(
  deliveries: DeliveryBroker,
  webhooks: readonly BenchWebhook[],
  { perSecond, forMs }: Parameters,
): Promise<number> {
  const startedMs = performance.now();
  const total = (perSecond * forMs) / 1_000;
  const publishing = new Set<Promise<void>>();
  for (let sent = 0; sent < total; ) {
    const dueCount = Math.min(total, ((performance.now() - startedMs) * perSecond) / 1_000);
    for (; sent < dueCount; sent++) {
      const publish = deliveries.publish(deliveryTo(webhooks, sent)).finally(() => {
        publishing.delete(publish);
      });
      publishing.add(publish);
    }
    await delay(tickMs);
    check(publishing.size < publishesAtOnce * 10, 'the broker takes deliveries as they come');
  }
  await Promise.all(publishing);
  return total;
}

function deliveryTo(webhooks: readonly BenchWebhook[], index: number) {
  const webhook = webhooks[index % webhooks.length];
  if (webhook === undefined) throw new Error('no webhooks');
  const { organizationId, webhookId } = webhook;
  const occurTime = new Date().toISOString();
  return newDelivery(organizationId, webhookId, {
    payload: JSON.stringify({ occurTime, webhookId, data: { text: 'x'.repeat(400) } }),
  });
}

/**
 * Retries that are far from due. The broker remembers the ids of ten minutes' messages, whether or not they still wait:
 * these have none, as if they had waited longer.
 */
async function storeRetries({ connection }: DeliveryBroker, count: number): Promise<void> {
  await inTurns(count, async (index) => {
    const retry = {
      ...newDelivery(`waiting-${index % 10}`, `waiting-${index % 500}`),
      attempt: 5,
      dueTimeMs: Date.now() + twoHoursMs,
      payload: 'x'.repeat(600),
    };
    const subject = retrySubject('2h', retry.webhookId);
    const reply = await connection.request(subject, encodeDelivery(retry), { timeout: 10_000 });
    check(!('error' in reply.json<object>()), 'the broker stores a retry');
  });
}

async function inTurns(count: number, publish: (index: number) => Promise<void>): Promise<void> {
  for (let first = 0; first < count; first += publishesAtOnce) {
    const some = Math.min(publishesAtOnce, count - first);
    await Promise.all(Array.from({ length: some }, (_, index) => publish(first + index)));
  }
}

interface Round {
  none: Load;
  some: Load;
}

const figures = [
  ['p50 ms', ({ received }: Load) => received.p50Ms],
  ['p99 ms', ({ received }: Load) => received.p99Ms],
  ['sender us each', ({ cpuUs }: Load) => cpuUs],
  ['broker us each', ({ brokerCpuUs }: Load) => brokerCpuUs],
  ['sender MiB', ({ MiB }: Load) => MiB],
  ['broker MiB', ({ brokerMiB }: Load) => brokerMiB],
] as const;

function loadTable(rounds: readonly Round[], parameters: Parameters): Table {
  const { webhooks, perSecond, forMs, waiting } = parameters;
  const rowOf = (name: string, loads: readonly Load[]): string[] => [
    name,
    ...figures.map(([, figure]) => median(loads.map(figure)).toFixed(0)),
  ];
  return {
    title:
      `${perSecond} deliveries a second for ${forMs / 1_000} s to ${webhooks} webhooks, medians of ` +
      `${rounds.length}: from their queue to the POST`,
    columns: ['retries that wait', ...figures.map(([name]) => name)],
    rows: [
      rowOf(
        '0',
        rounds.map(({ none }) => none),
      ),
      rowOf(
        waiting.toLocaleString('en-US'),
        rounds.map(({ some }) => some),
      ),
    ],
  };
}

/** Of the medians: a load's p99 of a few milliseconds moves by half when the machine looks away once. */
function ratioTable(rounds: readonly Round[], { waiting }: Parameters): Table {
  const rows = figures.map(([name, figure]) => {
    const ofNone = rounds.map(({ none }) => Math.max(1, figure(none)));
    const ofSome = rounds.map(({ some }) => figure(some));
    const pairs = ofSome.map((value, round) => value / (ofNone[round] ?? 1));
    const ratios = [median(ofSome) / median(ofNone), Math.min(...pairs), Math.max(...pairs)];
    return [name, ...ratios.map((ratio) => ratio.toFixed(2))];
  });
  return {
    title: `The same with ${waiting.toLocaleString('en-US')} waiting retries over the load before it, without`,
    columns: ['figure', 'waiting over none', 'min', 'max'],
    rows,
  };
}
