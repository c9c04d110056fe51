// Requests to erase or hide a person, as methods write and find them. One to erase is a record; one to hide is done at
// once, and its id holds what is known of it.

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

/** What is known of a profile that was hidden. */
export interface Hidden {
  profileId: string;
  hiddenMs: number;
}

const hiddenPrefix = 'hidden-';
/** An id of 32 digits, a time and their seal. */
const maxHiddenIdCharacters = 512;
const hiddenPurpose = (projectId: string): string => `hidden in ${projectId}`;

/** The id of a request that was done at once: it holds what is known of it, so that no record has to be kept. */
export function hiddenId(
  { box, clock }: ErasureRequests,
  projectId: string,
  profileId: string,
): string {
  const hidden: Hidden = { profileId, hiddenMs: clock.nowMs() };
  return `${hiddenPrefix}${box.seal(JSON.stringify(hidden), hiddenPurpose(projectId))}`;
}

/** Undefined for any other text, for another project's id, and once the key that sealed it is gone. */
export function readHiddenId(
  { box }: ErasureRequests,
  projectId: string,
  requestId: string,
): Hidden | undefined {
  if (!requestId.startsWith(hiddenPrefix) || requestId.length > maxHiddenIdCharacters) {
    return undefined;
  }
  const opened = box.open(requestId.slice(hiddenPrefix.length), hiddenPurpose(projectId));
  return opened === undefined ? undefined : (JSON.parse(opened) as Hidden);
}

type NewRequest = Pick<
  ErasureRecord,
  'requestId' | 'projectId' | 'profileId' | 'sealedId' | 'status'
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

/**
 * A request for the same profile that is under way. None that was opened again for late rows: it leaves who came back
 * alone, whom this one is about.
 */
export function openRequestOf(
  { known }: Pick<ErasureRequests, 'known'>,
  projectId: string,
  profileId: string,
): ErasureRecord | undefined {
  for (const [, record] of known.records()) {
    const isOf = record.projectId === projectId && record.profileId === profileId;
    const isFirst = record.firstCompletedAtMs === undefined;
    if (isOf && isFirst && isOpen(record)) return record;
  }
  return undefined;
}
