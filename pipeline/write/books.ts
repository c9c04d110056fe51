// The books of one shard: tells metrics and log of every batch that is done, and has the audit recount the table every
// half minute. Nothing acts on what it finds.

import type { ClickHouseClient } from '@clickhouse/client';
import type { Log } from '../../platform/log.ts';
import type { PipelineMetrics } from '../metrics.ts';
import { Audit } from './audit.ts';
import type { DoneBatch } from './writer.ts';

const recountEveryMs = 30_000;

interface BooksOptions {
  clickhouse: Pick<ClickHouseClient, 'query'>;
  shard: number;
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
  return {
    record(done) {
      const { stored, duplicates, deadLetters } = done.pending.counts;
      metrics.events.inc({ ...label, outcome: 'stored' }, stored);
      metrics.events.inc({ ...label, outcome: 'duplicate' }, duplicates);
      metrics.events.inc({ ...label, outcome: 'dead_letter' }, deadLetters);
      metrics.batches.inc(label);
      metrics.batchRows.observe(label, stored);
      metrics.seenBytes.set(label, options.seenBytes());
      const { seqs } = done.pending;
      const fields = { shard, seqs, rows: stored, dropped: duplicates, deadLetters };
      log.debug({ ...fields, waitsMs: done.waitsMs }, 'batch.done');
      audit.record(done);
    },
    close: () => clearInterval(recount),
  };
}
