// The records of requests to erase or hide a person, as methods write and find them.

import { randomUUID } from 'node:crypto';
import type { RecordBucket } from '../../../platform/broker/record-bucket.ts';
import type { WatchedBucket } from '../../../platform/broker/watched-bucket.ts';
import type { Clock } from '../../../platform/clock.ts';
import {
  type ErasureRecord,
  erasureKey,
  isOpen,
} from '../../../platform/erasure/erasure-record.ts';
import type { SecretBox } from '../../../platform/secrets/secret-box.ts';

/** The records of requests. */
export interface ErasureRequests {
  /** Makes one where the bucket has room. */
  bucket: Pick<RecordBucket<ErasureRecord>, 'create' | 'get'>;
  known: Pick<WatchedBucket<ErasureRecord>, 'records'>;
  box: Pick<SecretBox, 'seal' | 'open'>;
  clock: Clock;
}

/** Writes that a profile was hidden, for whoever asks later. */
export function noteHidden(
  erasures: ErasureRequests,
  projectId: string,
  profileId: string,
): Promise<ErasureRecord> {
  const completedAtMs = erasures.clock.nowMs();
  return writeRequest(erasures, {
    ...{ requestId: randomUUID(), projectId, profileId, sealedId: '', completedAtMs },
    ...{ kind: 'hide', status: 'completed' },
  });
}

type NewRequest = Pick<
  ErasureRecord,
  'requestId' | 'projectId' | 'profileId' | 'sealedId' | 'kind' | 'status'
> &
  Partial<ErasureRecord>;

/** Throws the bucket's errors. */
export async function writeRequest(
  { bucket, clock }: ErasureRequests,
  request: NewRequest,
): Promise<ErasureRecord> {
  const record: ErasureRecord = {
    ...{ schemaVersion: 1, ids: '', events: 0, error: '' },
    ...{ requestedAtMs: clock.nowMs(), completedAtMs: 0 },
    ...request,
  };
  const written = await bucket.create(erasureKey(request.requestId), record);
  if (written.kind === 'conflict') throw new Error('a request of this random id is there already');
  return record;
}

/** A request for the same profile that is under way. */
export function openRequestOf(
  { known }: ErasureRequests,
  projectId: string,
  profileId: string,
): ErasureRecord | undefined {
  for (const [, record] of known.records()) {
    const isOf = record.projectId === projectId && record.profileId === profileId;
    if (isOf && isOpen(record)) return record;
  }
  return undefined;
}
