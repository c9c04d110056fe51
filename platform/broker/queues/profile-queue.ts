// Queues changes of profiles that must be in force before a request is answered: publishes each to the shard's stream,
// then waits until the ledger says that the shard's writer has applied it. It applies none itself.

import { setTimeout as delay } from 'node:timers/promises';
import { Code, ConnectError } from '@connectrpc/connect';
import { encodeContext, projectMark } from '../../../proto/wire/frame.ts';
import { encodeFrame } from '../../../proto/wire/frame-writer.ts';
import { encodeChange, type ProfileChange } from '../../../proto/wire/profile-change.ts';
import type { Clock } from '../../clock.ts';
import type { Log } from '../../log.ts';
import { buckets } from '../buckets.ts';
import type { NatsConnection } from '../nats.ts';
import { openBucket, type RecordBucket, type VersionedRecord } from '../record-bucket.ts';
import { profilesLedgerKey, profilesSubject } from '../streams.ts';
import { shardOf } from '../topology.ts';

export interface ProfileQueue {
  /**
   * Resolves once the change is applied. Throws `unavailable` where the broker does not answer, whether the change is
   * queued or not, and an AbortError once the signal is aborted.
   */
  change(projectId: string, change: ProfileChange, signal: AbortSignal): Promise<void>;
}

interface ProfileQueueOptions {
  nats: NatsConnection;
  shards: number;
  clock: Clock;
  log: Log;
}

const publishTimeoutMs = 5_000;
const askEveryMs = 15;

export function createProfileQueue(options: ProfileQueueOptions): ProfileQueue {
  const { nats, shards, clock, log } = options;
  return {
    async change(projectId, change, signal) {
      const shard = shardOf(projectId, shards);
      const context = { projectId, credential: 'private', receiveTimeMs: clock.nowMs() } as const;
      const request = {
        ...{ context: encodeContext(context), body: encodeChange(change), events: 1 },
        project: projectMark(projectId),
      };
      try {
        // Before the change is queued: where this fails, nothing is. Never kept: it costs far less than the wait, and a
        // kept failure would fail every later change.
        const ledger = await openBucket(nats, buckets.ledger, readProgress);
        const jetstream = nats.jetstream({ timeout: publishTimeoutMs });
        const { seq } = await jetstream.publish(profilesSubject(shard), encodeFrame([request]));
        while (!(await isDone(ledger, shard, seq))) await delay(askEveryMs, undefined, { signal });
      } catch (error) {
        if (signal.aborted) throw error;
        log.warn({ err: error }, 'it is not known whether a change of a profile was queued');
        throw new ConnectError('it is not known whether this was queued: retry', Code.Unavailable);
      }
    },
  };
}

/** The part of a profile writer's ledger record that is read here. */
interface Progress extends VersionedRecord {
  hwm: number;
  /** Ascending ranges of messages beyond it that are done too: projects take turns. */
  ahead: readonly (readonly [number, number])[];
}

function readProgress(value: unknown): Progress | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const hwm: unknown = Reflect.get(value, 'hwm');
  const ahead: unknown = Reflect.get(value, 'ahead') ?? [];
  const isProgress = typeof hwm === 'number' && Array.isArray(ahead) && ahead.every(isRange);
  return isProgress ? { schemaVersion: 1, hwm, ahead } : undefined;
}

function isRange(value: unknown): value is [number, number] {
  return Array.isArray(value) && value.length === 2 && value.every(Number.isSafeInteger);
}

async function isDone(
  bucket: RecordBucket<Progress>,
  shard: number,
  seq: number,
): Promise<boolean> {
  const read = await bucket.get(profilesLedgerKey(shard));
  if (read.kind !== 'found') return false;
  const { hwm, ahead } = read.record;
  return hwm >= seq || ahead.some(([first, last]) => first <= seq && seq <= last);
}
