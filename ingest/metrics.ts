// Ingest's metrics. Labels come from closed sets: rules, refusal reasons and outcomes.

import type { Counter, Gauge, Histogram, Metrics } from '../platform/metrics.ts';
import type { FrameReport } from './publish/publish.ts';

export interface IngestMetrics {
  /** Those of requests included that were answered with 503, and whose frame the broker acknowledged afterwards. */
  acceptedEvents: Counter;
  acceptedChanges: Counter;
  /** Cookieless events that got no id, and events that their project excludes, of requests that were accepted. */
  droppedEvents: Counter<'reason'>;
  /** Requests that were refused, by rule or reason. */
  refusedRequests: Counter<'reason'>;
  /** Of requests of other vendors' SDKs, which are taken without them. */
  leftOutItems: Counter<'reason'>;
  recordFrame(frame: FrameReport): void;
}

const kibibytes = [0.25, 1, 4, 16, 64, 256, 1_024, 8_192].map((size) => size * 1_024);
const counts = [1, 2, 4, 8, 16, 32, 64, 128, 256];
const seconds = [0.000_5, 0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];

export function createIngestMetrics(metrics: Metrics): IngestMetrics {
  const frames: Counter<'outcome'> = metrics.counter(
    'millrace_frames_total',
    'Messages sent to the broker, by what became of them.',
    ['outcome'],
  );
  const frameBytes: Histogram = metrics.histogram(
    'millrace_frame_bytes',
    'Size of the messages sent to the broker.',
    kibibytes,
  );
  const unpackedBytes: Counter = metrics.counter(
    'millrace_frame_plain_bytes_total',
    'Size that the messages sent to the broker would have if none were packed.',
  );
  const frameRequests: Histogram = metrics.histogram(
    'millrace_frame_requests',
    'Requests that shared one message.',
    counts,
  );
  const publishSeconds: Histogram = metrics.histogram(
    'millrace_publish_seconds',
    'From a message’s first request to the broker’s acknowledgement.',
    seconds,
  );
  const inFlightBytes: Gauge = metrics.gauge(
    'millrace_inflight_bytes',
    'Bytes that wait for the broker’s acknowledgement.',
  );
  return {
    acceptedEvents: metrics.counter(
      'millrace_accepted_events_total',
      'Events that were validated and durably queued.',
    ),
    acceptedChanges: metrics.counter(
      'millrace_accepted_profile_changes_total',
      'Identify and Alias calls that were validated and durably queued.',
    ),
    droppedEvents: metrics.counter(
      'millrace_dropped_events_total',
      'Cookieless events that could be given no identity, and events that their project excludes, by reason.',
      ['reason'],
    ),
    refusedRequests: metrics.counter(
      'millrace_refused_requests_total',
      'Requests that were refused, by rule or reason.',
      ['reason'],
    ),
    leftOutItems: metrics.counter(
      'millrace_left_out_items_total',
      'Events and identity calls of other vendors’ SDKs that broke a rule, by rule.',
      ['reason'],
    ),
    recordFrame(frame) {
      frames.inc({ outcome: frame.outcome.kind });
      frameBytes.observe(frame.sentBytes);
      unpackedBytes.inc(frame.bytes);
      frameRequests.observe(frame.requests);
      publishSeconds.observe(frame.seconds);
      inFlightBytes.set(frame.inFlightBytes);
    },
  };
}
