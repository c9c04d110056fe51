// The metrics of the pipeline, by name and label. It sets no values: the parts that know them do.

import type { Counter, Gauge, Histogram, Metrics } from '../platform/metrics.ts';

export interface PipelineMetrics {
  /** By outcome: stored, duplicate or dead_letter. Their sum is the accepted events that are done. */
  events: Counter<'shard' | 'outcome'>;
  batches: Counter<'shard'>;
  batchRows: Histogram<'shard'>;
  buildSeconds: Histogram<'shard'>;
  insertSeconds: Histogram<'shard'>;
  insertFailures: Gauge<'shard'>;
  lagSeconds: Gauge<'shard'>;
  /** Identify and Alias calls, deletions and unmerges that are done, by outcome: stored or dead_letter. */
  profileChanges: Counter<'shard' | 'outcome'>;
  profileLagSeconds: Gauge<'shard'>;
  queuedMessages: Gauge<'shard'>;
  /** 1 for the state that the writer is in, 0 for the others. */
  writerState: Gauge<'shard' | 'state'>;
  activeBuilds: Gauge<never>;
  seenBytes: Gauge<'shard'>;
  unaccountedEvents: Counter<'shard'>;
  auditDifference: Gauge<'shard'>;
}

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const rows = [1, 10, 100, 1_000, 5_000, 10_000, 25_000, 50_000];

const shard = ['shard'] as const;

export function createPipelineMetrics(metrics: Metrics): PipelineMetrics {
  return {
    ...profileMetrics(metrics),
    events: metrics.counter(
      'millrace_pipeline_events_total',
      'Events that are done, by outcome: stored, duplicate or dead_letter.',
      ['shard', 'outcome'],
    ),
    batches: metrics.counter('millrace_pipeline_batches_total', 'Batches that are done.', shard),
    batchRows: metrics.histogram(
      'millrace_pipeline_batch_rows',
      'Rows stored by one batch.',
      rows,
      shard,
    ),
    buildSeconds: metrics.histogram(
      'millrace_pipeline_build_seconds',
      'From a batch of messages to its record batches, the wait for a thread included.',
      seconds,
      shard,
    ),
    insertSeconds: metrics.histogram(
      'millrace_pipeline_insert_seconds',
      'One insert that succeeded.',
      seconds,
      shard,
    ),
    insertFailures: metrics.gauge(
      'millrace_pipeline_insert_failures',
      'Failed tries of the insert at hand; alarm where it stays above 0.',
      shard,
    ),
    lagSeconds: metrics.gauge(
      'millrace_pipeline_lag_seconds',
      'Age of the oldest event of the last batch when it was done.',
      shard,
    ),
    queuedMessages: metrics.gauge(
      'millrace_pipeline_queued_messages',
      'Messages in the stream, those in hand included.',
      shard,
    ),
    writerState: metrics.gauge(
      'millrace_pipeline_writer_state',
      '1 for the state that the writer is in; alarm on fenced and halted.',
      ['shard', 'state'],
    ),
    activeBuilds: metrics.gauge(
      'millrace_pipeline_active_builds',
      'Batches being built or waiting for a thread.',
    ),
    seenBytes: metrics.gauge(
      'millrace_pipeline_seen_bytes',
      'Memory of the keys by which duplicates are caught.',
      shard,
    ),
    unaccountedEvents: metrics.counter(
      'millrace_pipeline_unaccounted_events_total',
      'Events of batches whose counts do not add up; alarm above 0.',
      shard,
    ),
    auditDifference: metrics.gauge(
      'millrace_pipeline_audit_difference_rows',
      'Rows in the table less rows in the books, at the last recount; alarm where it is not 0.',
      shard,
    ),
  };
}

function profileMetrics(
  metrics: Metrics,
): Pick<PipelineMetrics, 'profileChanges' | 'profileLagSeconds'> {
  return {
    profileChanges: metrics.counter(
      'millrace_pipeline_profile_changes_total',
      'Changes of profiles that are done, by outcome: stored or dead_letter.',
      ['shard', 'outcome'],
    ),
    profileLagSeconds: metrics.gauge(
      'millrace_pipeline_profile_lag_seconds',
      'Age of the oldest change of the last batch when it was done.',
      shard,
    ),
  };
}
