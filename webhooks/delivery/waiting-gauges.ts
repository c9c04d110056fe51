// Asks the broker how many deliveries wait, by lane, by tier and parked: right for all processes together.

import { everyBeat } from '../../platform/broker/beat.ts';
import { leaderInfo } from '../../platform/broker/cluster/leader-info.ts';
import type { NatsConnection } from '../../platform/broker/nats.ts';
import {
  dueConsumer,
  dueLanes,
  dueStream,
  parkStream,
  retryConsumer,
  retryStream,
  retryTiers,
} from '../../platform/webhooks/webhook-streams.ts';
import type { Breakers } from './health/breaker.ts';
import type { DeliveryMetrics } from './metrics.ts';
import { consumerState } from './queueing/queue-consumer.ts';

const measureEveryMs = 2_000;

interface GaugeOptions {
  connection: NatsConnection;
  breakers: Pick<Breakers, 'openCount'>;
  metrics: Pick<DeliveryMetrics, 'waiting' | 'openBreakers'>;
}

const queues = [
  ...dueLanes.map((lane) => ({ tier: lane, stream: dueStream, consumer: dueConsumer(lane) })),
  ...retryTiers.map(({ name }) => {
    return { tier: name, stream: retryStream, consumer: retryConsumer(name) };
  }),
];

/** Measures every two seconds until it is closed. */
export function openWaitingGauges(options: GaugeOptions): { close(): void } {
  let isAsking = false;
  const measure = async (): Promise<void> => {
    options.metrics.openBreakers.set(options.breakers.openCount());
    if (isAsking) return;
    isAsking = true;
    try {
      await measureQueues(options);
    } catch {
      // The check of the broker tells that it does not answer.
    } finally {
      isAsking = false;
    }
  };
  void measure();
  return { close: everyBeat(measureEveryMs, () => void measure()) };
}

async function measureQueues({ connection, metrics }: GaugeOptions): Promise<void> {
  // All at once: one write to the broker.
  const measureQueue = async ({ tier, stream, consumer }: (typeof queues)[number]) => {
    const state = await consumerState(connection, stream, consumer);
    metrics.waiting.set({ tier }, (state?.waiting ?? 0) + (state?.pending ?? 0));
  };
  await Promise.all(queues.map(measureQueue));
  const manager = await connection.jetstreamManager({ checkAPI: false });
  const { state } = await leaderInfo(manager, parkStream);
  metrics.waiting.set({ tier: 'parked' }, state.messages);
}
