// Finds the ids that are merged into a profile though they were deleted before, as older versions let happen, and
// queues their separation. Taking them out is changes.ts's. Where this was done nothing is found: no claim makes such
// an id.

import type { ClickHouseClient } from '@clickhouse/client';
import type { NatsConnection } from '../../platform/broker/nats.ts';
import { profilesSubject } from '../../platform/broker/streams.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { encodeContext, projectMark } from '../../proto/wire/frame.ts';
import { encodeFrame } from '../../proto/wire/frame-writer.ts';
import { encodeChange } from '../../proto/wire/profile-change.ts';
import { loadRecords, type ProfileName } from './read-records.ts';

interface DeletedMembersParts {
  nats: NatsConnection;
  clickhouse: Pick<ClickHouseClient, 'query'>;
  shard: number;
  clock: Clock;
  log: Log;
  /** Ends the search. */
  signal: AbortSignal;
  /** Runs one call until it succeeds; rejects where the signal is aborted, or after too many tries. */
  untilAnswered: <T>(call: () => Promise<T>) => Promise<T>;
}

interface DeletedMember extends ProfileName {
  /** In hex. */
  profileId: string;
}

/** Of one message: a thousand ids of 512 code points, each of six characters in JSON, take half of a payload. */
const pageSize = 1_000;

/**
 * Runs beside the writer, which makes room where the stream is full. An id that is queued twice is taken out once.
 * Never rejects: the next start finds the rest.
 */
export async function separateDeletedMembers(parts: DeletedMembersParts): Promise<void> {
  const { shard, log, signal, untilAnswered } = parts;
  let count = 0;
  let after: Pick<DeletedMember, 'projectId' | 'profileId'> = { projectId: '', profileId: '' };
  try {
    for (;;) {
      const page = await untilAnswered(() => readPage(parts, after));
      const last = page.at(-1);
      if (last === undefined) break;
      const records = await untilAnswered(() => loadRecords(parts.clickhouse, page));
      const found = records.filter(({ deleted, owner }) => deleted && owner !== '');
      if (found.length > 0) await untilAnswered(() => queue(parts, found));
      count += found.length;
      after = last;
    }
    if (count > 0)
      log.info({ shard, ids: count }, 'ids that were merged while deleted are taken out');
  } catch (error) {
    if (!signal.aborted) log.warn({ shard, err: error }, 'ids may be merged that were deleted');
  }
}

/** Ids that have a row with an owner and one that is deleted: of each, only the newest row counts. Reads no traits. */
async function readPage(
  { clickhouse, shard }: DeletedMembersParts,
  { projectId, profileId }: Pick<DeletedMember, 'projectId' | 'profileId'>,
): Promise<DeletedMember[]> {
  const ofThose = 'project_id IN (SELECT project_id FROM project_changes WHERE deletions > 0)';
  const result = await clickhouse.query({
    query: `SELECT DISTINCT project_id AS projectId, distinct_id AS distinctId, hex(profile_id) AS profileId
      FROM profiles
      WHERE ${ofThose} AND edge AND root != '' AND shard = {shard:UInt16}
        AND profile_id IN (SELECT profile_id FROM profiles WHERE ${ofThose} AND NOT edge AND deleted)
        AND (project_id, hex(profile_id)) > ({projectId:String}, {profileId:String})
      ORDER BY projectId, profileId LIMIT ${pageSize}`,
    query_params: { shard, projectId, profileId },
    format: 'JSONEachRow',
  });
  return result.json<DeletedMember>();
}

async function queue(
  { nats, shard, clock }: DeletedMembersParts,
  ids: readonly ProfileName[],
): Promise<void> {
  const requests = ids.map(({ projectId, distinctId }) => ({
    context: encodeContext({ projectId, credential: 'private', receiveTimeMs: clock.nowMs() }),
    body: encodeChange({ kind: 'separate', distinctId }),
    events: 1,
    project: projectMark(projectId),
  }));
  await nats.jetstream().publish(profilesSubject(shard), encodeFrame(requests));
}
