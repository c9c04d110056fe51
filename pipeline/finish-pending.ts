// Stores the batches that earlier writers promised, and nothing else, before tables are made anew: the new ones do not
// know the tokens of inserts that the old ones had, so that a batch which is repeated would be stored twice.

import { randomBytes } from 'node:crypto';
import { buckets } from '../platform/broker/buckets.ts';
import { openBucket } from '../platform/broker/record-bucket.ts';
import { eventsLedgerKey } from '../platform/broker/streams.ts';
import { createMetrics } from '../platform/metrics.ts';
import { sleep } from '../platform/retry.ts';
import { EventKeys } from './build/event-key.ts';
import { type BuilderPool, createBuilderPool } from './build/pool.ts';
import { runEventShard } from './event-shard.ts';
import { createPipelineMetrics } from './metrics.ts';
import type { PipelineOptions } from './start.ts';
import { createSubscriptions } from './webhooks/subscriptions.ts';
import { readLedgerRecord } from './write/ledger-record.ts';

const fencedWaitMs = 500;

/**
 * Resolves once no ledger of events of these shards has a batch pending. No writer may start meanwhile, except by this
 * function in other processes. Throws one sentence where a batch cannot be stored, and the errors of the broker and of
 * the engine.
 */
export async function finishPendingBatches(
  options: PipelineOptions,
  shards: readonly number[],
): Promise<void> {
  const ledgers = await openBucket(options.nats, buckets.ledger, readLedgerRecord);
  const isPending = async (shard: number): Promise<boolean> => {
    const read = await ledgers.get(eventsLedgerKey(shard));
    return read.kind === 'found' && read.record.pending !== undefined;
  };
  for (const shard of shards) {
    while (await isPending(shard)) await finishShard(shard, options);
  }
}

async function finishShard(shard: number, options: PipelineOptions): Promise<void> {
  const { threads, workerFile, log } = options;
  const secret = randomBytes(32);
  const pool = createBuilderPool({ threads, secret, ...(workerFile && { workerFile }) });
  try {
    log.info({ shard }, 'a promised batch is stored before tables are made anew');
    await finishBy(pool, secret, shard, options);
  } finally {
    await pool.close();
  }
}

async function finishBy(
  pool: BuilderPool,
  secret: Buffer,
  shard: number,
  { nats, clickhouse, seenMaxBytes, webhooks, clock, log }: PipelineOptions,
): Promise<void> {
  const abort = new AbortController().signal;
  const end = await runEventShard({
    ...{ nats, clickhouse: clickhouse.ofShard(shard), shard, pool, seenMaxBytes, clock, log },
    eventKeys: new EventKeys(secret),
    // The writer of the product counts in the metrics.
    metrics: createPipelineMetrics(createMetrics()),
    watched: { isWatched: () => false },
    subscriptions: createSubscriptions(webhooks),
    // It ends after the promised batch: its source has ended.
    stop: AbortSignal.abort(new Error('only the promised batch is stored')),
    abort,
    onState: () => {},
  });
  // Another process does the same.
  if (end.kind === 'fenced') await sleep(fencedWaitMs, abort);
  if (end.kind === 'halted') {
    throw new Error(`the promised batch of shard ${shard} cannot be stored: ${end.reason}`);
  }
}
