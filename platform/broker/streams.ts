// The broker's streams and their consumer: names, subjects, configurations. Making them is ensure-stream.ts; what flows
// through them is not known here.

import { hourMs } from '../clock.ts';
import {
  AckPolicy,
  type ConsumerConfig,
  DeliverPolicy,
  DiscardPolicy,
  nanos,
  RetentionPolicy,
  StorageType,
  type StreamConfig,
} from './nats.ts';

export const eventsStream = (shard: number): string => `EVENTS_${shard}`;
export const eventsSubject = (shard: number): string => `events.${shard}`;
/** Changes of profiles by identity calls and deletions, in the order in which they take effect. */
export const profilesStream = (shard: number): string => `PROFILES_${shard}`;
export const profilesSubject = (shard: number): string => `profiles.${shard}`;
/** The key in the bucket `ledger` of the writer of a shard's events. */
export const eventsLedgerKey = (shard: number): string => `shard.${shard}`;
/** The key in the bucket `ledger` whose `hwm` says how far the writer of a shard's profiles is. */
export const profilesLedgerKey = (shard: number): string => `profiles.${shard}`;
/** The key in the bucket `instance` that says which process's pipeline has the shards. */
export const shardsOwnerKey = 'pipeline';
/** The durable consumer of each stream of events and of profiles. */
export const writerConsumer = 'writer';
export const deadLetterStream = 'EVENTS_DLQ';
export const deadLetterSubject = (shard: number): string => `events_dlq.${shard}`;
const deadLetterSubjects = 'events_dlq.*';
export const eventsSubjects = 'events.*';
/** Every subject of a stream, with a star for the shard. */
export const publishedSubjects = [eventsSubjects, 'profiles.*', deadLetterSubjects] as const;

const MiB = 1_048_576;

/** Also the duplicate window of dead letters: long enough for a writer's restart between publish and ack. */
const deadLetterWindowMs = hourMs;
const deadLetterMaxAgeMs = 30 * 24 * hourMs;

export type OurStream = Pick<
  StreamConfig,
  'name' | 'subjects' | 'retention' | 'storage' | 'discard' | 'max_age' | 'max_bytes'
> & { num_replicas: number; duplicate_window?: number };

export function eventsConfig(shard: number, maxBytes: number, replicas: number): OurStream {
  return {
    name: eventsStream(shard),
    subjects: [eventsSubject(shard)],
    retention: RetentionPolicy.Workqueue,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    max_age: 0,
    max_bytes: maxBytes,
    num_replicas: replicas,
  };
}

export function profilesConfig(shard: number, eventsMaxBytes: number, replicas: number): OurStream {
  return {
    ...eventsConfig(shard, lesserBytes(eventsMaxBytes), replicas),
    name: profilesStream(shard),
    subjects: [profilesSubject(shard)],
  };
}

/** The limit of a stream that holds little beside the events: an eighth of theirs, from 16 MiB to 1 GiB. */
export function lesserBytes(eventsMaxBytes: number): number {
  return Math.min(1_024 * MiB, Math.max(16 * MiB, Math.floor(eventsMaxBytes / 8)));
}

export function deadLetterConfig(eventsMaxBytes: number, replicas: number): OurStream {
  return {
    name: deadLetterStream,
    subjects: [deadLetterSubjects],
    retention: RetentionPolicy.Limits,
    storage: StorageType.File,
    discard: DiscardPolicy.New,
    max_age: nanos(deadLetterMaxAgeMs),
    max_bytes: lesserBytes(eventsMaxBytes),
    num_replicas: replicas,
    duplicate_window: nanos(deadLetterWindowMs),
  };
}

// Every message of a batch waits for its ack until the insert is through, while the next batch is already being read.
// So max_ack_pending holds two batches even where most frames carry a handful of events. It is not higher because the
// server writes the list of pending messages again and again.
export const writerConfig = {
  durable_name: writerConsumer,
  ack_policy: AckPolicy.Explicit,
  deliver_policy: DeliverPolicy.All,
  ack_wait: nanos(60_000),
  max_ack_pending: 20_000,
  max_deliver: -1,
} as const satisfies Partial<ConsumerConfig>;
