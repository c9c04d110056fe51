// The metrics of the pipeline, by name and label. It sets no values: the parts that know them do.

import type { Counter, Gauge, Histogram, Metrics } from '../platform/metrics.ts';

export interface PipelineMetrics {
  /** By outcome: stored, duplicate or dead_letter. Their sum is the accepted events that are done. */
  events: Counter<'shard' | 'outcome'>;
  batches: Counter<'shard'>;
  batchRows: Histogram<'shard'>;
  batchPartitions: Histogram<'shard'>;
  /** Batches that took more than ten times as long as usual (write/slow-batches.ts). */
  slowBatches: Counter<'shard'>;
  buildSeconds: Histogram<'shard'>;
  insertSeconds: Histogram<'shard'>;
  insertFailures: Gauge<'shard'>;
  eventQueue: QueueMetrics;
  /** 1 for the state that the writer is in, 0 for the others. */
  writerState: Gauge<'shard' | 'state'>;
  /** Identify and Alias calls, deletions and unmerges that are done, by outcome: stored or dead_letter. */
  profileChanges: Counter<'shard' | 'outcome'>;
  /** Batches in which an id was not merged into a profile, counted for each profile. */
  fullProfiles: Counter<'shard'>;
  profileQueue: QueueMetrics;
  profileWriterState: Gauge<'shard' | 'state'>;
  /** Deliveries, one for each webhook and event; pipeline/webhooks/publish-deliveries.ts has the outcomes. */
  webhookMatches: Counter<'outcome'>;
  activeBuilds: Gauge<never>;
  loading: Gauge<'shard'>;
  /** Projects whose senders are told to slow down, because they fill the queue of events or of profiles. */
  slowedProjects: Gauge<'shard' | 'queue'>;
  seenBytes: Gauge<'shard'>;
  unaccountedEvents: Counter<'shard'>;
  /** By kind: missing or surplus. */
  differentRows: Counter<'shard' | 'kind'>;
}

/** What waits in one stream of a shard. */
export interface QueueMetrics {
  messages: Gauge<'shard'>;
  bytes: Gauge<'shard'>;
  lagSeconds: Gauge<'shard'>;
}

const seconds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const partitions = [1, 2, 3, 4, 6, 8, 12, 16];
const rows = [1, 10, 100, 1_000, 5_000, 10_000, 25_000, 50_000, 100_000];

const shard = ['shard'] as const;

export function createPipelineMetrics(metrics: Metrics): PipelineMetrics {
  return {
    ...profileMetrics(metrics),
    ...seenMetrics(metrics),
    ...batchMetrics(metrics),
    events: metrics.counter(
      'millrace_pipeline_events_total',
      'Events that are done, by outcome: stored, duplicate or dead_letter.',
      ['shard', 'outcome'],
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
    eventQueue: queueMetrics(metrics, 'pipeline', 'events'),
    writerState: metrics.gauge(
      'millrace_pipeline_writer_state',
      '1 for the state that the writer of events is in; alarm on failed, fenced and halted.',
      ['shard', 'state'],
    ),
    webhookMatches: metrics.counter(
      'millrace_pipeline_webhook_matches_total',
      'Deliveries by outcome: queued, skipped, queue_full, and without a record lost or unrecorded.',
      ['outcome'],
    ),
    activeBuilds: metrics.gauge(
      'millrace_pipeline_active_builds',
      'Batches being built or waiting for a thread.',
    ),
    unaccountedEvents: metrics.counter(
      'millrace_pipeline_unaccounted_events_total',
      'Events of batches whose counts do not add up; alarm above 0.',
      shard,
    ),
    differentRows: metrics.counter(
      'millrace_pipeline_audit_different_rows_total',
      'Rows missing in the table, or beyond the books, that recounts have found; alarm above 0.',
      ['shard', 'kind'],
    ),
  };
}

function batchMetrics(
  metrics: Metrics,
): Pick<PipelineMetrics, 'batches' | 'batchRows' | 'batchPartitions' | 'slowBatches'> {
  return {
    batches: metrics.counter('millrace_pipeline_batches_total', 'Batches that are done.', shard),
    batchRows: metrics.histogram(
      'millrace_pipeline_batch_rows',
      'Rows stored by one batch.',
      rows,
      shard,
    ),
    batchPartitions: metrics.histogram(
      'millrace_pipeline_batch_partitions',
      'Partitions that the rows of one batch lie in: its insert makes so many parts.',
      partitions,
      shard,
    ),
    slowBatches: metrics.counter(
      'millrace_pipeline_slow_batches_total',
      'Batches that took more than ten times as long as usual; alarm where it grows.',
      shard,
    ),
  };
}

function profileMetrics(
  metrics: Metrics,
): Pick<
  PipelineMetrics,
  'profileChanges' | 'fullProfiles' | 'profileQueue' | 'profileWriterState'
> {
  return {
    profileChanges: metrics.counter(
      'millrace_pipeline_profile_changes_total',
      'Changes of profiles that are done, by outcome: stored or dead_letter.',
      ['shard', 'outcome'],
    ),
    fullProfiles: metrics.counter(
      'millrace_pipeline_full_profiles_total',
      'Profiles in batches that were not given another id, because they have as many as a profile may have.',
      shard,
    ),
    profileQueue: queueMetrics(metrics, 'pipeline_profile', 'changes of profiles'),
    profileWriterState: metrics.gauge(
      'millrace_pipeline_profile_writer_state',
      '1 for the state that the writer of profiles is in; alarm on failed, fenced and halted.',
      ['shard', 'state'],
    ),
  };
}

function queueMetrics(metrics: Metrics, prefix: string, content: string): QueueMetrics {
  return {
    messages: metrics.gauge(
      `millrace_${prefix}_queued_messages`,
      `Messages of ${content} in the stream, those in hand included.`,
      shard,
    ),
    bytes: metrics.gauge(
      `millrace_${prefix}_queued_bytes`,
      `Bytes of ${content} in the stream, those in hand included.`,
      shard,
    ),
    lagSeconds: metrics.gauge(
      `millrace_${prefix}_lag_seconds`,
      `Age of the oldest message of ${content} that is not stored yet; 0 where none waits.`,
      shard,
    ),
  };
}

function seenMetrics(
  metrics: Metrics,
): Pick<PipelineMetrics, 'loading' | 'seenBytes' | 'slowedProjects'> {
  return {
    slowedProjects: metrics.gauge(
      'millrace_pipeline_slowed_projects',
      'Projects whose senders are told to slow down, because they fill the queue of events or of profiles.',
      ['shard', 'queue'],
    ),
    loading: metrics.gauge(
      'millrace_pipeline_loading',
      'One while a writer loads what is stored; until then it looks each event up in the tables.',
      shard,
    ),
    seenBytes: metrics.gauge(
      'millrace_pipeline_seen_bytes',
      'Memory of the keys by which duplicates are caught.',
      shard,
    ),
  };
}
