// Asks for the deletion of a project, an organization or an account as a whole: the request comes first, so that
// whatever dies afterwards, erasure/ does what is left. It is written once for each id.

import type { WatchedBucket } from '../broker/watched-bucket.ts';
import type { Clock } from '../clock.ts';
import { type ErasureRecord, erasureKey, type Whole } from './erasure-record.ts';

/** The bucket `erasures`, with the room that is kept back: a deletion makes room. */
export type DeletionRequests = Pick<WatchedBucket<ErasureRecord>, 'ask' | 'create' | 'records'>;

/** What is deleted. `id` is its own: of the project, of the organization, or of the customer. */
export interface Deletion extends Whole {
  id: string;
}

/** The request, whether of this call or of one before. Throws the bucket's errors. */
export async function askForDeletion(
  requests: Pick<DeletionRequests, 'ask' | 'create'>,
  { id, ...whole }: Deletion,
  clock: Clock,
): Promise<ErasureRecord> {
  const record = deletionRequest(id, whole, clock.nowMs());
  const written = await requests.create(erasureKey(id), record);
  if (written.kind === 'written') return record;
  const found = await requests.ask(erasureKey(id));
  if (found.kind !== 'found')
    throw new Error(`the request of the deletion of ${id} is ${found.kind}`);
  return found.record;
}

export function deletionRequest(id: string, whole: Whole, requestedAtMs: number): ErasureRecord {
  return {
    ...{ schemaVersion: 2, requestId: id, projectId: whole.kind === 'project' ? id : '', whole },
    ...{ status: 'pending', sealedId: '', profileId: '', ids: '', events: 0, error: '' },
    ...{ requestedAtMs, completedAtMs: 0 },
  };
}

/** The requests for an organization's projects, the newest first. */
export function projectDeletionsOf(
  requests: Pick<DeletionRequests, 'records'>,
  organizationId: string,
): ErasureRecord[] {
  return [...requests.records()]
    .map(([, record]) => record)
    .filter(({ whole }) => whole?.kind === 'project' && whole.organizationId === organizationId)
    .sort((one, other) => other.requestedAtMs - one.requestedAtMs);
}
