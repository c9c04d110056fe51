// The books of one shard: tells metrics and log of every batch that is done, and has the audit recount the table every
// half minute. Batches that take far longer than usual are told, once a minute at most. Nothing acts on what it finds.

import type { ClickHouseClient } from '@clickhouse/client';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { PipelineMetrics } from '../metrics.ts';
import { Audit } from './audit.ts';
import { SlowBatches } from './slow-batches.ts';
import type { DoneBatch } from './writer.ts';

const recountEveryMs = 30_000;
const tellSlowEveryMs = 60_000;

interface BooksOptions {
  clickhouse: Pick<ClickHouseClient, 'query'>;
  shard: number;
  clock: Pick<Clock, 'nowMs'>;
  log: Log;
  metrics: PipelineMetrics;
  /** Memory of the seen-set now. */
  seenBytes(): number;
}

interface Books {
  record(done: DoneBatch): void;
  /** Ends the recounts. */
  close(): void;
}

export function openBooks(options: BooksOptions): Books {
  const { clickhouse, shard, log, metrics } = options;
  const label = { shard: String(shard) };
  const audit = new Audit({
    clickhouse,
    shard,
    log,
    onUnaccounted: (events) => metrics.unaccountedEvents.inc(label, events),
    onDifference: (rows) => {
      metrics.differentRows.inc({ ...label, kind: 'missing' }, Math.max(0, -rows));
      metrics.differentRows.inc({ ...label, kind: 'surplus' }, Math.max(0, rows));
    },
  });
  const recount = setInterval(() => {
    audit.recount().catch((error: unknown) => log.warn({ shard, err: error }, 'a recount failed'));
  }, recountEveryMs);
  recount.unref();
  const tellIfSlow = slowBatchTeller(options);
  return {
    record(done) {
      const { stored, duplicates, deadLetters } = done.pending.counts;
      metrics.events.inc({ ...label, outcome: 'stored' }, stored);
      metrics.events.inc({ ...label, outcome: 'duplicate' }, duplicates);
      metrics.events.inc({ ...label, outcome: 'dead_letter' }, deadLetters);
      metrics.batches.inc(label);
      metrics.batchRows.observe(label, stored);
      metrics.batchPartitions.observe(label, done.partitions);
      tellIfSlow(done);
      metrics.seenBytes.set(label, options.seenBytes());
      const { seqs } = done.pending;
      const fields = { shard, seqs, rows: stored, dropped: duplicates, deadLetters };
      log.debug({ ...fields, waitsMs: done.waitsMs }, 'batch.done');
      audit.record(done);
    },
    close: () => clearInterval(recount),
  };
}

function slowBatchTeller({ shard, clock, log, metrics }: BooksOptions): (done: DoneBatch) => void {
  const slow = new SlowBatches();
  let toldMs = Number.NEGATIVE_INFINITY;
  let untold = 0;
  return ({ pending, ids, partitions, waitsMs }) => {
    const { turn: _, ...own } = waitsMs;
    const ms = Object.values(own).reduce((sum, lapMs) => sum + lapMs, 0);
    const times = slow.add(pending.counts.stored, ms);
    if (times === undefined) return;
    metrics.slowBatches.inc({ shard: String(shard) });
    const nowMs = clock.nowMs();
    if (nowMs - toldMs < tellSlowEveryMs) {
      untold++;
      return;
    }
    toldMs = nowMs;
    const fields = { shard, seqs: pending.seqs, rows: pending.counts.stored, partitions };
    const projects = ids.projects.length;
    log.warn(
      { ...fields, projects, ms, timesUsual: Math.round(times), untold, waitsMs },
      'a batch took more than ten times as long as usual',
    );
    untold = 0;
  };
}
