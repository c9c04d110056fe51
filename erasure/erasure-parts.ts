// What a turn of the erasure works with: both engines, the records of requests, and the record of the work.

import type { NatsConnection } from '../platform/broker/nats.ts';
import type { ProfileQueue } from '../platform/broker/queues/profile-queue.ts';
import type { RecordBucket } from '../platform/broker/record-bucket.ts';
import type { WatchedBucket } from '../platform/broker/watched-bucket.ts';
import type { DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import type { Groups } from '../platform/clickhouse/groups.ts';
import type { Clock } from '../platform/clock.ts';
import type {
  ErasureBatch,
  ErasureRecord,
  ErasureWork,
} from '../platform/erasure/erasure-record.ts';
import type { Log } from '../platform/log.ts';
import type { SecretBox } from '../platform/secrets/secret-box.ts';

/** Requests of one batch, and of one look: their ids are in the text of a dozen statements. */
export const maxRequests = 200;

export interface ErasureParts {
  nats: NatsConnection;
  clickhouse: Groups<Pick<DatabaseClient, 'query' | 'command'>>;
  shards: number;
  /** The bucket `erasures`. */
  requests: Pick<WatchedBucket<ErasureRecord>, 'records' | 'ask' | 'create' | 'update' | 'remove'>;
  /** The bucket `instance`, of which one key is the work. */
  work: Pick<RecordBucket<ErasureWork>, 'get' | 'create' | 'update'>;
  profiles: ProfileQueue;
  box: Pick<SecretBox, 'open'>;
  clock: Clock;
  log: Log;
}

/** A step at a batch, with its requests as they were when the step began. */
export interface StepContext {
  batch: ErasureBatch;
  requests: readonly ErasureRecord[];
  /** The batch's group of ClickHouse servers. */
  store: Pick<DatabaseClient, 'query' | 'command'>;
  /** Writes the batch, and keeps the lease. Throws LeaseLost. */
  keep(batch: ErasureBatch): Promise<void>;
  /** Keeps the lease where it ends soon: called between the statements of a loop. Throws LeaseLost. */
  renew(): Promise<void>;
  /** Writes a request's record. */
  change(requestId: string, changes: Partial<ErasureRecord>): Promise<void>;
}

/** `later`: the step waits for something, and is taken again after a moment. */
export type StepEnd = 'done' | 'later';

export type TakeStep = (
  parts: ErasureParts,
  context: StepContext,
  signal: AbortSignal,
) => Promise<StepEnd>;
