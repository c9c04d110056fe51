// Runs the pipeline of one process: for each shard a writer of events and a writer of profiles, with the builders'
// threads that they share. One shard's parts are put together in event-shard.ts and profile-shard.ts.

import { randomBytes } from 'node:crypto';
import type { ClickHouseClient } from '@clickhouse/client';
import type { NatsConnection } from '../platform/broker/nats.ts';
import { eventsStream } from '../platform/broker/streams.ts';
import type { Clock } from '../platform/clock.ts';
import type { Log } from '../platform/log.ts';
import type { Metrics } from '../platform/metrics.ts';
import { sleep, waitAfter } from '../platform/retry.ts';
import { EventKeys } from './build/event-key.ts';
import { createBuilderPool } from './build/pool.ts';
import { queuedMessages } from './consume/event-stream.ts';
import { type EventShardOptions, runEventShard } from './event-shard.ts';
import { createPipelineMetrics, type PipelineMetrics } from './metrics.ts';
import { runProfileShard } from './profile-shard.ts';
import type { WriterEnd, WriterState } from './write/writer-state.ts';

interface PipelineOptions {
  /** Connected to a broker on which ensureTopology was called. */
  nats: NatsConnection;
  /** A client of an engine with all migrations. */
  clickhouse: ClickHouseClient;
  shards: number;
  /** Threads that build batches. */
  threads: number;
  /** Memory for the keys that find duplicates, per shard; less than `minSeenBytes` of seen-set.ts counts as that. */
  seenMaxBytes: number;
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
const queueCheckMs = 5_000;
const restart = { baseMs: 500, capMs: 30_000 };

/** Starts to write and returns at once; `ready` says when the shards are loaded. */
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
  const parts = { nats, clickhouse, clock, log, metrics, stop: stop.signal, abort: abort.signal };
  const running = states.map((_, shard) =>
    keepRunning(runEventShard, {
      ...parts,
      shard,
      pool,
      eventKeys,
      seenMaxBytes,
      onState: (state) => {
        setState(metrics, shard, states[shard], state);
        states[shard] = state;
      },
    }),
  );
  const runningProfiles = profileStates.map((_, shard) =>
    keepRunning(runProfileShard, {
      ...parts,
      shard,
      onState: (state) => {
        profileStates[shard] = state;
      },
    }),
  );
  const queueCheck = setInterval(() => void measureQueues(nats, shards, metrics), queueCheckMs);
  queueCheck.unref();
  return {
    state: () => [...states],
    ready: () => states.every(isWriting) && profileStates.every(isWriting),
    async stop() {
      clearInterval(queueCheck);
      stop.abort(new Error('the pipeline is being stopped'));
      const graceMs = options.stopGraceMs ?? defaultStopGraceMs;
      const grace = setTimeout(() => abort.abort(stop.signal.reason), graceMs);
      await Promise.all([...running, ...runningProfiles]);
      clearTimeout(grace);
      await pool.close();
    },
  };
}

type Running = Pick<EventShardOptions, 'shard' | 'log' | 'stop' | 'onState'>;

/** Runs a shard again after each failure; not once another writer has it, and not after a halt. */
async function keepRunning<T extends Running>(
  run: (options: T) => Promise<WriterEnd>,
  options: T,
): Promise<void> {
  const { shard, log, stop } = options;
  for (let attempt = 1; !stop.aborted; attempt++) {
    try {
      const end = await run(options);
      if (end.kind === 'stopped') break;
      log.error({ shard, ...end }, 'the writer has ended: restart it once the cause is known');
      return;
    } catch (error) {
      if (stop.aborted) break;
      log.error({ shard, err: error }, 'the writer failed and starts again');
    }
    await sleep(waitAfter(attempt, restart, Math.random()), stop).catch(() => {});
  }
  options.onState('stopped');
}

function isWriting(state: WriterState): boolean {
  switch (state) {
    case 'waiting':
    case 'promising':
    case 'inserting':
    case 'finishing':
      return true;
    case 'loading':
    case 'recovering':
    case 'stopped':
    case 'fenced':
    case 'halted':
      return false;
    default:
      return state satisfies never;
  }
}

function setState(
  metrics: PipelineMetrics,
  shard: number,
  before: WriterState | undefined,
  state: WriterState,
): void {
  const label = String(shard);
  if (before !== undefined) metrics.writerState.set({ shard: label, state: before }, 0);
  metrics.writerState.set({ shard: label, state }, 1);
}

async function measureQueues(
  nats: NatsConnection,
  shards: number,
  metrics: PipelineMetrics,
): Promise<void> {
  for (let shard = 0; shard < shards; shard++) {
    const messages = await queuedMessages(nats, eventsStream(shard)).catch(() => undefined);
    if (messages !== undefined) metrics.queuedMessages.set({ shard: String(shard) }, messages);
  }
}
