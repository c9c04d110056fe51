// The first two steps: the persons are hidden as Delete hides them, and all ids that were merged into them are looked
// up.

import {
  type ErasureRecord,
  packIds,
  sealPurpose,
  unpackIds,
} from '../../platform/erasure/erasure-record.ts';
import type { ErasureParts, StepContext, StepEnd } from '../erasure-parts.ts';
import { selectRows } from '../tables/select-rows.ts';

/** The key that sealed the id of a request is gone: nobody can work on it. */
export class IdLost extends Error {
  readonly requestId: string;

  constructor(requestId: string) {
    super('the id of this request cannot be read any more: ask for the erasure once more');
    this.requestId = requestId;
  }
}

export async function hide(
  { profiles, box }: ErasureParts,
  { requests, change }: StepContext,
  signal: AbortSignal,
): Promise<StepEnd> {
  for (const request of requests) {
    if (request.status === 'pending') await change(request.requestId, { status: 'processing' });
    const distinctId = openId(box, request);
    await profiles.change(request.projectId, { kind: 'delete', distinctId }, signal);
  }
  return 'done';
}

/** Throws IdLost. */
export function openId(
  box: ErasureParts['box'],
  { requestId, sealedId }: Pick<ErasureRecord, 'requestId' | 'sealedId'>,
): string {
  const distinctId = box.open(sealedId, sealPurpose(requestId));
  if (distinctId === undefined) throw new IdLost(requestId);
  return distinctId;
}

/** Ids stay listed that were found in an earlier round. */
export async function find(
  _: ErasureParts,
  { requests, store, change }: StepContext,
): Promise<StepEnd> {
  for (const request of requests) {
    const found = await idsOf(store, request);
    const ids = new Set([request.profileId, ...unpackIds(request.ids), ...found]);
    if (ids.size > unpackIds(request.ids).length) {
      await change(request.requestId, { ids: packIds(ids) });
    }
  }
  return 'done';
}

/** The root of the id, and all that are merged into the root, in hex. */
async function idsOf(
  store: StepContext['store'],
  { projectId, profileId }: Pick<ErasureRecord, 'projectId' | 'profileId'>,
): Promise<string[]> {
  const params = { project: projectId, id: profileId };
  const own = 'project_id = {project:String} AND edge';
  const id = 'toFixedString(unhex({id:String}), 16)';
  const root = `assumeNotNull(ifNull((SELECT root_id FROM profiles FINAL
    WHERE ${own} AND profile_id = ${id} AND root != ''), ${id}))`;
  const rows = await selectRows(
    store,
    `WITH ${root} AS person SELECT lower(hex(person))
      UNION ALL SELECT lower(hex(profile_id)) FROM profiles FINAL WHERE ${own} AND root != '' AND root_id = ${root}`,
    params,
  );
  return rows.map(([found]) => String(found));
}
