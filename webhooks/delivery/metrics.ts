// What the delivery of webhooks tells of itself in figures. None of them names a webhook: labels come from closed sets.

import type { Counter, Gauge, Histogram, Metrics } from '../../platform/metrics.ts';

export interface DeliveryMetrics {
  /** `outcome`: succeeded, exhausted, skipped, dropped (its webhook is deleted), parked, repeated or unreadable. */
  deliveries: Counter<'outcome'>;
  /** `outcome`: succeeded, or the class of the error. */
  attempts: Counter<'outcome' | 'lane'>;
  attemptSeconds: Histogram;
  /** From the acceptance of the event to the beginning of the first attempt. */
  lagSeconds: Histogram;
  /** `tier`: a tier of retries, `first` and `retry` for the lanes, `parked`. */
  waiting: Gauge<'tier'>;
  inFlight: Gauge;
  openBreakers: Gauge;
  /** Webhooks that were paused by themselves, by reason. */
  paused: Counter<'reason'>;
  /** Records of attempts that the full log did not take. */
  unlogged: Counter;
}

const lagBuckets = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 5, 15, 60, 300];

export function createDeliveryMetrics(metrics: Metrics): DeliveryMetrics {
  return {
    deliveries: metrics.counter(
      'millrace_webhook_deliveries_total',
      'Deliveries to webhooks by what became of them; a parked one is counted again later',
      ['outcome'],
    ),
    attempts: metrics.counter(
      'millrace_webhook_attempts_total',
      'POSTs to endpoints of webhooks by outcome',
      ['outcome', 'lane'],
    ),
    attemptSeconds: metrics.histogram(
      'millrace_webhook_attempt_seconds',
      'Seconds that an attempt took',
      lagBuckets,
    ),
    lagSeconds: metrics.histogram(
      'millrace_webhook_first_attempt_lag_seconds',
      'Seconds from the acceptance of an event to the first attempt of its delivery',
      lagBuckets,
    ),
    waiting: metrics.gauge(
      'millrace_webhook_waiting_deliveries',
      'Deliveries that wait at the broker, by tier of retries, lane, or parked',
      ['tier'],
    ),
    inFlight: metrics.gauge('millrace_webhook_in_flight_attempts', 'Attempts at this moment'),
    openBreakers: metrics.gauge(
      'millrace_webhook_open_breakers',
      'Webhooks to which this process sends nothing for a while because their endpoint fails',
    ),
    paused: metrics.counter(
      'millrace_webhook_pauses_total',
      'Webhooks that were paused because their endpoint fails, by reason',
      ['reason'],
    ),
    unlogged: metrics.counter(
      'millrace_webhook_unlogged_attempts_total',
      'Records of attempts that were lost because the stream of the log is full',
    ),
  };
}
