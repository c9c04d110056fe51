// The books of one shard: counts every batch that is done in the metrics and has the audit recount the table every half
// minute. Nothing acts on what it finds.

import type { ClickHouseClient } from '@clickhouse/client';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { PipelineMetrics } from '../metrics.ts';
import { Audit } from './audit.ts';
import type { DoneBatch } from './writer.ts';

const recountEveryMs = 30_000;

interface BooksOptions {
  clickhouse: Pick<ClickHouseClient, 'query'>;
  shard: number;
  clock: Clock;
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
  const { clickhouse, shard, clock, log, metrics } = options;
  const label = { shard: String(shard) };
  const audit = new Audit({
    clickhouse,
    shard,
    log,
    onUnaccounted: (events) => metrics.unaccountedEvents.inc(label, events),
    onDifference: (rows) => metrics.auditDifference.set(label, rows),
  });
  const recount = setInterval(() => {
    audit.recount().catch((error: unknown) => log.warn({ shard, err: error }, 'a recount failed'));
  }, recountEveryMs);
  recount.unref();
  return {
    record(done) {
      const { stored, duplicates, deadLetters } = done.pending.counts;
      metrics.events.inc({ ...label, outcome: 'stored' }, stored);
      metrics.events.inc({ ...label, outcome: 'duplicate' }, duplicates);
      metrics.events.inc({ ...label, outcome: 'dead_letter' }, deadLetters);
      metrics.batches.inc(label);
      metrics.batchRows.observe(label, stored);
      metrics.seenBytes.set(label, options.seenBytes());
      if (done.ids.rows > 0) {
        metrics.lagSeconds.set(label, (clock.nowMs() - done.ids.minReceiveTimeMs) / 1_000);
      }
      audit.record(done);
    },
    close: () => clearInterval(recount),
  };
}
