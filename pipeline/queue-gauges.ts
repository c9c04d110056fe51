// Tells how much waits in the pipeline's streams, and for how long. The broker is asked, and not the writers: so the
// figures are right while a writer is stuck, is loading, or has failed.

import { everyBeat } from '../platform/broker/beat.ts';
import type { NatsConnection } from '../platform/broker/nats.ts';
import { eventsStream, profilesStream } from '../platform/broker/streams.ts';
import type { Clock } from '../platform/clock.ts';
import { queueState } from './consume/queue-state.ts';
import type { PipelineMetrics, QueueMetrics } from './metrics.ts';

const measureEveryMs = 1_000;

interface QueueGaugesOptions {
  nats: NatsConnection;
  shards: number;
  clock: Clock;
  metrics: Pick<PipelineMetrics, 'eventQueue' | 'profileQueue'>;
}

/** Measures at once and every second until it is closed. */
export function openQueueGauges(options: QueueGaugesOptions): { close(): void } {
  const { shards, metrics } = options;
  const queues = Array.from({ length: shards }, (_, shard) => [
    new QueueGauge(options, eventsStream(shard), metrics.eventQueue, String(shard)),
    new QueueGauge(options, profilesStream(shard), metrics.profileQueue, String(shard)),
  ]).flat();
  const measure = (): void => {
    for (const queue of queues) void queue.measure();
  };
  measure();
  return { close: everyBeat(measureEveryMs, measure) };
}

class QueueGauge {
  readonly #options: Pick<QueueGaugesOptions, 'nats' | 'clock'>;
  readonly #stream: string;
  readonly #metrics: QueueMetrics;
  readonly #label: { shard: string };
  #isAsking = false;
  /** When the oldest message came; undefined while there is none. */
  #oldestMs: number | undefined;

  constructor(
    options: Pick<QueueGaugesOptions, 'nats' | 'clock'>,
    stream: string,
    metrics: QueueMetrics,
    shard: string,
  ) {
    this.#options = options;
    this.#stream = stream;
    this.#metrics = metrics;
    this.#label = { shard };
  }

  /** Never rejects. While the broker does not answer, its oldest message grows older. */
  async measure(): Promise<void> {
    this.#tellLag();
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      const { messages, bytes, oldestMs } = await queueState(this.#options.nats, this.#stream);
      this.#metrics.messages.set(this.#label, messages);
      this.#metrics.bytes.set(this.#label, bytes);
      this.#oldestMs = messages === 0 ? undefined : oldestMs;
      this.#tellLag();
    } catch {
      // The check of the broker tells that it does not answer.
    } finally {
      this.#isAsking = false;
    }
  }

  #tellLag(): void {
    const nowMs = this.#options.clock.nowMs();
    const lagMs = Math.max(0, nowMs - (this.#oldestMs ?? nowMs));
    this.#metrics.lagSeconds.set(this.#label, lagMs / 1_000);
  }
}
