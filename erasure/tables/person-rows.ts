// Conditions on the rows of persons in the tables. Persons are named by keyed hashes only: the text of a deletion stays
// on the disk for a while after the rows are gone, and must not tell who was erased.

import { type ErasureRecord, unpackIds } from '../../platform/erasure/erasure-record.ts';
import type { StoredMark } from '../../platform/erasure/stored-marks.ts';

export interface Persons {
  projectIds: readonly string[];
  /** Profile ids in hex. */
  ids: readonly string[];
}

export function personsOf(requests: readonly ErasureRecord[]): Persons {
  return {
    projectIds: [...new Set(requests.map(({ projectId }) => projectId))],
    ids: [...new Set(requests.flatMap(({ ids }) => unpackIds(ids)))],
  };
}

const idPattern = /^[0-9a-f]{32}$/;

/** The id of a project or an organization: UUIDs, and short names in tests. Throws for what would need escapes. */
export function plainId(id: string): string {
  if (!/^[\w-]+$/.test(id)) throw new Error('erasure: this is no id of a project');
  return id;
}

export function projectsSql(projectIds: readonly string[]): string {
  return idsSql('project_id', projectIds);
}

export function idsSql(column: 'project_id' | 'organization_id', ids: readonly string[]): string {
  return `${column} IN (${ids.map((id) => `'${plainId(id)}'`).join(', ')})`;
}

/** For tables with `profile_key`: the first half of the profile id's bytes as a number. */
export function keysSql({ projectIds, ids }: Persons): string {
  const keys = ids.map(keyOf);
  return `${projectsSql(projectIds)} AND profile_key IN (${keys.join(', ')})`;
}

export function keyOf(id: string): bigint {
  return bytesOf(id).readBigUInt64LE(0);
}

/** For tables with `profile_id`, 16 bytes. */
export function profileIdsSql({ projectIds, ids }: Persons): string {
  return `${projectsSql(projectIds)} AND profile_id IN (${idLiterals(ids)})`;
}

export function idLiterals(ids: readonly string[]): string {
  return ids.map((id) => `'${bytesOf(id).toString('hex').replace(/../g, '\\x$&')}'`).join(', ');
}

function bytesOf(id: string): Buffer {
  if (!idPattern.test(id)) throw new Error('erasure: this is no id of a profile');
  return Buffer.from(id, 'hex');
}

/** Holds for rows of `events` that these marks have. A stream that was made anew counts from 1 again. */
export function storedSql(marks: readonly StoredMark[]): string {
  if (marks.length === 0) return 'false';
  const each = marks.map(({ shard, streamCreated, hwm, ahead }) => {
    const createdMs = Date.parse(streamCreated);
    const ranges = ahead.map(([first, last]) => `stream_seq BETWEEN ${first} AND ${last}`);
    const places = [
      `receive_time < fromUnixTimestamp64Milli(toInt64(${createdMs}))`,
      `stream_seq <= ${hwm}`,
      ...ranges,
    ];
    return `(shard = ${shard} AND (${places.join(' OR ')}))`;
  });
  return `(${each.join(' OR ')})`;
}
