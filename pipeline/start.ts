// Runs the pipeline of one process: for each shard a writer of events and a writer of profiles, with the builders'
// threads that they share. One shard's parts are put together in event-shard.ts and profile-shard.ts.

import { randomBytes } from 'node:crypto';
import type { NatsConnection } from '../platform/broker/nats.ts';
import type { DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import type { Groups } from '../platform/clickhouse/groups.ts';
import { type Clock, steadyClock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Gauge, Metrics } from '../platform/metrics.ts';
import { EventKeys } from './build/event-key.ts';
import { createBuilderPool } from './build/pool.ts';
import { runEventShard } from './event-shard.ts';
import { hearHold } from './hold.ts';
import { keepRunning } from './keep-running.ts';
import { createPipelineMetrics } from './metrics.ts';
import { runProfileShard } from './profile-shard.ts';
import { openQueueGauges } from './queue-gauges.ts';
import { hearWatchedProjects } from './watch/watched-projects.ts';
import { createSubscriptions, type SubscriptionsOptions } from './webhooks/subscriptions.ts';
import { isWriting, type WriterState } from './write/writer-state.ts';

export interface PipelineOptions {
  /** Connected to a broker on which ensureTopology was called. */
  nats: NatsConnection;
  /** Clients of engines with all migrations. */
  clickhouse: Groups<DatabaseClient>;
  shards: number;
  /** Threads that build batches. */
  threads: number;
  /** Memory for the keys that find duplicates, per shard; less than `minSeenBytes` of seen-set.ts counts as that. */
  seenMaxBytes: number;
  webhooks: SubscriptionsOptions;
  clock: Clock;
  log: Log;
  metrics: Metrics;
  /** See pool.ts. */
  workerFile?: string;
  /** How long `stop` waits for the batches in hand; 10 s by default. */
  stopGraceMs?: number;
}

export interface Pipeline {
  /** The state of each shard's writer of events. */
  state(): WriterState[];
  /** True once every writer writes or waits for messages; false while one is loading, fenced or halted. */
  ready(): boolean;
  /**
   * Writes the messages that were received, then ends. A batch that cannot be written within the grace stays promised
   * in the ledger, and the next writer finishes it.
   */
  stop(): Promise<void>;
}

const defaultStopGraceMs = 10_000;

/** Starts to write and returns at once; `ready` says when every writer writes. */
export function startPipeline(options: PipelineOptions): Pipeline {
  const { nats, clock, log, shards } = options;
  const metrics = createPipelineMetrics(options.metrics);
  const secret = randomBytes(32);
  const { threads, workerFile } = options;
  const pool = createBuilderPool({ threads, secret, ...(workerFile && { workerFile }) });
  const eventKeys = new EventKeys(secret);
  const stop = new AbortController();
  const abort = new AbortController();
  const states: WriterState[] = Array.from({ length: shards }, () => 'loading');
  const profileStates: WriterState[] = Array.from({ length: shards }, () => 'loading');
  const { clickhouse, seenMaxBytes } = options;
  const hold = hearHold({ nats, clock: steadyClock, log });
  const { mayPromise } = hold;
  const signals = { stop: stop.signal, abort: abort.signal };
  const common = { nats, clock, metrics, mayPromise, ...signals };
  const eventsLog = log.child({ writer: 'events' });
  const watched = hearWatchedProjects(nats, clock);
  const subscriptions = createSubscriptions(options.webhooks);
  const running = states.map((_, shard) => {
    const parts = { ...common, shard, watched, subscriptions, log: eventsLog };
    const store = clickhouse.ofShard(shard);
    return keepRunning(
      (onState) =>
        runEventShard({ ...parts, clickhouse: store, pool, eventKeys, seenMaxBytes, onState }),
      { ...parts, onState: keepState(states, shard, metrics.writerState) },
    );
  });
  const profilesLog = log.child({ writer: 'profiles' });
  const runningProfiles = profileStates.map((_, shard) => {
    const parts = { ...common, shard, log: profilesLog };
    const store = clickhouse.ofShard(shard);
    return keepRunning((onState) => runProfileShard({ ...parts, clickhouse: store, onState }), {
      ...parts,
      onState: keepState(profileStates, shard, metrics.profileWriterState),
    });
  });
  const queueGauges = openQueueGauges({ nats, shards, clock, metrics });
  return {
    state: () => [...states],
    ready: () => states.every(isWriting) && profileStates.every(isWriting),
    async stop() {
      queueGauges.close();
      hold.close();
      stop.abort(new Error('the pipeline is being stopped'));
      const graceMs = options.stopGraceMs ?? defaultStopGraceMs;
      const grace = setTimeout(() => abort.abort(stop.signal.reason), graceMs);
      await Promise.all([...running, ...runningProfiles]);
      clearTimeout(grace);
      watched.close();
      await pool.close();
    },
  };
}

/** Keeps a writer's state, and shows it. */
function keepState(
  states: WriterState[],
  shard: number,
  gauge: Gauge<'shard' | 'state'>,
): (state: WriterState) => void {
  const label = String(shard);
  return (state) => {
    const before = states[shard];
    if (before !== undefined) gauge.set({ shard: label, state: before }, 0);
    gauge.set({ shard: label, state }, 1);
    states[shard] = state;
  };
}
