// Runs the pipeline of one process: for each shard a writer of events and a writer of profiles, with the builders'
// threads that they share. One shard's parts are put together in event-shard.ts and profile-shard.ts; lease/ decides
// whether this process writes, or waits for another one to end.

import { randomBytes } from 'node:crypto';
import { setMaxListeners } from 'node:events';
import type { NatsConnection } from '../platform/broker/nats.ts';
import type { DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import type { Groups } from '../platform/clickhouse/groups.ts';
import { type Clock, steadyClock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Gauge, Metrics } from '../platform/metrics.ts';
import { EventKeys } from './build/event-key.ts';
import { type BuilderPool, createBuilderPool } from './build/pool.ts';
import { runEventShard } from './event-shard.ts';
import { hearHold } from './hold.ts';
import { keepRunning } from './keep-running.ts';
import type { Lease } from './lease/lease.ts';
import { runTerms, type WriterSignals } from './lease/terms.ts';
import { createPipelineMetrics, type PipelineMetrics } from './metrics.ts';
import { runProfileShard } from './profile-shard.ts';
import { openQueueGauges } from './queue-gauges.ts';
import { hearWatchedProjects, type WatchedProjects } from './watch/watched-projects.ts';
import {
  createSubscriptions,
  type Subscriptions,
  type SubscriptionsOptions,
} from './webhooks/subscriptions.ts';
import { isWriting, type WriterEnd, type WriterState } from './write/writer-state.ts';

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
  /** By which several processes have one owner of the shards; absent where no other process reaches the broker. */
  lease?: Lease;
  /** Goes on while the process is frozen; the process's own unless given. See write/owned-calls.ts. */
  steady?: Clock;
  /** See pool.ts. */
  workerFile?: string;
  /** How long `stop` waits for the batches in hand; 10 s by default. */
  stopGraceMs?: number;
}

export interface Pipeline {
  /** The state of each shard's writer of events. */
  state(): WriterState[];
  /**
   * True once every writer writes or waits for messages, and on standby; false while one is loading, fenced or halted.
   */
  ready(): boolean;
  /** Whether another process has the shards, and this one waits for it to end. */
  isStandby(): boolean;
  /**
   * Writes the messages that were received, then ends. A batch that cannot be written within the grace stays promised
   * in the ledger, and the next writer finishes it.
   */
  stop(): Promise<void>;
}

const defaultStopGraceMs = 10_000;

/** Starts to write, or to wait for the shards, and returns at once; `ready` says when either is so. */
export function startPipeline(options: PipelineOptions): Pipeline {
  const { nats, clock, steady = steadyClock, log, shards, lease } = options;
  const metrics = createPipelineMetrics(options.metrics);
  const secret = randomBytes(32);
  const { threads, workerFile } = options;
  const pool = createBuilderPool({ threads, secret, ...(workerFile && { workerFile }) });
  const stop = new AbortController();
  const abort = new AbortController();
  const states: WriterState[] = Array.from({ length: shards }, () => 'loading');
  const profileStates: WriterState[] = Array.from({ length: shards }, () => 'loading');
  const every = Array.from({ length: shards }, (_, shard) => ({
    shard,
    onEventState: keepState(states, shard, metrics.writerState),
    onProfileState: keepState(profileStates, shard, metrics.profileWriterState),
  }));
  const setAll = (state: WriterState): void => {
    for (const { onEventState, onProfileState } of every) {
      onEventState(state);
      onProfileState(state);
    }
  };
  const hold = hearHold({ nats, clock: steady, log });
  const watched = hearWatchedProjects(nats, clock);
  const parts = {
    ...{ metrics, pool, watched, eventKeys: new EventKeys(secret), mayPromise: hold.mayPromise },
    steady,
    subscriptions: createSubscriptions(options.webhooks),
  };
  const run = (signals: WriterSignals): Promise<WriterEnd>[] => {
    // Several for each writer.
    setMaxListeners(0, signals.stop, signals.abort);
    return every.flatMap((one) => runWriters(options, { ...parts, ...signals, ...one }));
  };
  const signals = { stop: stop.signal, abort: abort.signal };
  const onStandby = (): void => setAll('standby');
  const running =
    lease === undefined
      ? Promise.all(run(signals))
      : runTerms({ lease, signals, run, onStandby, log });
  const queueGauges = openQueueGauges({ nats, shards, clock, metrics });
  const isStandby = (): boolean =>
    [...states, ...profileStates].every((state) => state === 'standby');
  return {
    state: () => [...states],
    ready: () => isStandby() || [...states, ...profileStates].every(isWriting),
    isStandby,
    async stop() {
      queueGauges.close();
      hold.close();
      stop.abort(new Error('the pipeline is being stopped'));
      const graceMs = options.stopGraceMs ?? defaultStopGraceMs;
      const grace = setTimeout(() => abort.abort(stop.signal.reason), graceMs);
      await running;
      setAll('stopped');
      clearTimeout(grace);
      watched.close();
      await pool.close();
    },
  };
}

/** The parts that the writers of all shards share, and one shard's own. */
interface WritersParts extends WriterSignals {
  shard: number;
  metrics: PipelineMetrics;
  pool: BuilderPool;
  eventKeys: EventKeys;
  watched: Pick<WatchedProjects, 'isWatched'>;
  subscriptions: Subscriptions;
  mayPromise: () => Promise<void>;
  steady: Clock;
  onEventState(state: WriterState): void;
  onProfileState(state: WriterState): void;
}

/** Runs both writers of one shard. */
function runWriters(
  { nats, clickhouse, clock, seenMaxBytes, ...options }: PipelineOptions,
  { onEventState, onProfileState, ...parts }: WritersParts,
): Promise<WriterEnd>[] {
  const common = { ...parts, nats, clickhouse: clickhouse.ofShard(parts.shard), clock };
  const ofEvents = { ...common, seenMaxBytes, log: options.log.child({ writer: 'events' }) };
  const ofProfiles = { ...common, log: options.log.child({ writer: 'profiles' }) };
  return [
    keepRunning((onState) => runEventShard({ ...ofEvents, onState }), {
      ...ofEvents,
      onState: onEventState,
    }),
    keepRunning((onState) => runProfileShard({ ...ofProfiles, onState }), {
      ...ofProfiles,
      onState: onProfileState,
    }),
  ];
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
