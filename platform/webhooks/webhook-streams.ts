// The broker's streams of webhook deliveries. Every subject ends with the webhook's id, so that what waits for one
// webhook can be counted and taken out. Their makers are topology.ts and ensure-stream.ts.
//
//   WEBHOOK_DUE    whd.<lane>.<webhook>  to be attempted now: first attempts and retries in lanes of their own
//   WEBHOOK_RETRY  whr.<tier>.<webhook>  waits for the tier's delay: in each tier the first message is due first
//   WEBHOOK_PARK   whp.<webhook>         more than its webhook takes now; taken up as the webhook's attempts end
//   WEBHOOK_LOG    whl.<webhook>         records of attempts on their way to ClickHouse

import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  DiscardPolicy,
  nanos,
  RetentionPolicy,
  StorageType,
} from '../broker/nats.ts';
import type { OurStream } from '../broker/streams.ts';
import { dayMs, minuteMs } from '../clock.ts';

export const dueStream = 'WEBHOOK_DUE';
export const retryStream = 'WEBHOOK_RETRY';
export const parkStream = 'WEBHOOK_PARK';
export const attemptLogStream = 'WEBHOOK_LOG';
export const webhookStreams = [dueStream, retryStream, parkStream, attemptLogStream] as const;

export const dueLanes = ['first', 'retry'] as const;
export type DueLane = (typeof dueLanes)[number];

/** Contract: how long a retry waits at least, a stage for each of the five. Retry n is in the tier at place n - 1. */
export const retryTiers = [
  { name: '1m', delayMs: 60_000 },
  { name: '5m', delayMs: 300_000 },
  { name: '30m', delayMs: 1_800_000 },
  { name: '2h', delayMs: 7_200_000 },
  { name: '24h', delayMs: dayMs },
] as const;
export type RetryTier = (typeof retryTiers)[number]['name'];

export const dueSubject = (lane: DueLane, webhookId: string): string => `whd.${lane}.${webhookId}`;
export const retrySubject = (tier: RetryTier, webhookId: string): string =>
  `whr.${tier}.${webhookId}`;
export const parkSubject = (webhookId: string): string => `whp.${webhookId}`;
export const attemptLogSubject = (webhookId: string): string => `whl.${webhookId}`;
/** Every subject of a stream, for permissions. */
export const webhookSubjects = ['whd.*.*', 'whr.*.*', 'whp.*', 'whl.*'] as const;

const MiB = 1_048_576;

/** Long enough for a writer's restart between publishing matches and its ledger's mark. */
const duplicateWindowMs = 10 * minuteMs;

/** `maxBytes` is the limit of each stream: beyond it the broker refuses, and the publisher says so in the log. */
export function webhookStreamConfigs(maxBytes: number, replicas: number): OurStream[] {
  const queue = (name: string, subjects: string[]): OurStream => ({
    name,
    subjects,
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    max_age: 0,
    max_bytes: Math.max(16 * MiB, maxBytes),
    num_replicas: replicas,
    duplicate_window: nanos(duplicateWindowMs),
  });
  return [
    queue(dueStream, ['whd.*.*']),
    queue(retryStream, ['whr.*.*']),
    queue(parkStream, ['whp.*']),
    queue(attemptLogStream, ['whl.*']),
  ];
}

/** The durable consumer of a lane or of a tier; all dispatchers share it. */
export const dueConsumer = (lane: DueLane): string => `due_${lane}`;
export const retryConsumer = (tier: RetryTier): string => `tier_${tier}`;
export const attemptLogConsumer = 'log_writer';

/** A message of which nobody has said for so long that it is worked on goes to the next process. */
export const queueAckWaitMs = 30_000;

/** Messages of a filtered queue that one consumer may hold: memory stays the same however many wait. */
export function queueConsumerConfig(
  durableName: string,
  filterSubject: string | undefined,
  maxAckPending: number,
  ackWaitMs = queueAckWaitMs,
): Partial<ConsumerConfig> & { durable_name: string } {
  return {
    durable_name: durableName,
    ack_policy: AckPolicy.Explicit,
    deliver_policy: DeliverPolicy.All,
    ack_wait: nanos(ackWaitMs),
    max_ack_pending: maxAckPending,
    max_deliver: -1,
    ...(filterSubject !== undefined && { filter_subject: filterSubject }),
  };
}
