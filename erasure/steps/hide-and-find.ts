// The first two steps: the persons are hidden as Delete hides them, and all ids that were merged into them are looked
// up.

import {
  completion,
  type ErasureRecord,
  packIds,
  sealPurpose,
  unpackIds,
} from '../../platform/erasure/erasure-record.ts';
import type { ErasureParts, StepContext, StepEnd } from '../erasure-parts.ts';
import { personsBack } from '../tables/late-persons.ts';
import { keysSql, profileIdsSql } from '../tables/person-rows.ts';
import { selectRows } from '../tables/select-rows.ts';

/** The key that sealed the id of a request is gone: nobody can work on it. */
export class IdLost extends Error {
  readonly requestId: string;

  constructor(requestId: string) {
    super('the id of this request cannot be read any more: ask for the erasure once more');
    this.requestId = requestId;
  }
}

/**
 * Who came back is told by the rows before the first person is hidden: that is a row, too. So every request is decided
 * first, and a process that goes on after a death asks of those alone that are not.
 */
export async function hide(
  { profiles, box, clock }: ErasureParts,
  { requests, store, change, renew }: StepContext,
  signal: AbortSignal,
): Promise<StepEnd> {
  const pending = requests.filter(({ status }) => status === 'pending');
  const back = new Set(await personsBack(store, pending));
  for (const request of pending) {
    const next = back.has(request) ? completion(clock) : { status: 'processing' as const };
    await change(request.requestId, next);
  }
  for (const request of requests) {
    if (back.has(request)) continue;
    await renew();
    const distinctId = await textOf(box, store, request);
    // Nobody has rows of the id: there is nothing to hide.
    if (distinctId === undefined) continue;
    await profiles.change(request.projectId, { kind: 'delete', distinctId }, signal);
  }
  return 'done';
}

/**
 * The id that the request names. One that repeats an erasure after a restore, or was opened again for late rows, has
 * hashes alone: an id of the person is looked up, undefined where no row has one. Throws IdLost.
 */
async function textOf(
  box: ErasureParts['box'],
  store: StepContext['store'],
  request: ErasureRecord,
): Promise<string | undefined> {
  const { requestId, sealedId, projectId, profileId, ids } = request;
  if (sealedId !== '') return openId(box, { requestId, sealedId });
  const person = { projectIds: [projectId], ids: [profileId, ...unpackIds(ids)] };
  const rows = await selectRows(
    store,
    `SELECT distinct_id FROM profiles WHERE ${profileIdsSql(person)} LIMIT 1
      UNION ALL SELECT distinct_id FROM events WHERE ${keysSql(person)} AND NOT cookieless LIMIT 1`,
  );
  const text = rows[0]?.[0];
  return typeof text === 'string' ? text : undefined;
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
  { requests, store, change, renew }: StepContext,
): Promise<StepEnd> {
  for (const request of requests) {
    await renew();
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
