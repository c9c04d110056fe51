// Finds an export by its id among the places of its project: in memory, and where it is not there, in the broker, as
// another process may have made it a moment ago.

import { Code, ConnectError } from '@connectrpc/connect';
import { createTokenBuckets } from '../../platform/access/token-bucket.ts';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import { type ExportRecord, exportKey, maxExports } from '../../platform/exports/export-record.ts';

export type KeptBucket = Pick<WatchedBucket<ExportRecord>, 'get' | 'ask' | 'create' | 'update'>;

export type FoundExport = { key: string; record: ExportRecord };

/** Throws not_found. */
export type FindExport = (projectId: string, id: string) => Promise<FoundExport>;

/** Each asks the broker for all places. Of a project: whoever guesses ids is told from memory. */
const asks = { perSecond: 1, burst: 20 };

export function createFindExport(bucket: KeptBucket, clock: Clock): FindExport {
  const buckets = createTokenBuckets({ ...asks, clock });
  const ask = async (key: string): Promise<FoundExport | undefined> => {
    const read = await bucket.ask(key);
    return read.kind === 'found' ? { key, record: read.record } : undefined;
  };
  return async (projectId, id) => {
    const keys = placesOf(projectId);
    for (const key of keys) {
      const record = bucket.get(key)?.record;
      if (record?.id === id) return { key, record };
    }
    const mayAsk = /^[0-9a-f-]{36}$/.test(id) && buckets.take(projectId, 1) === 0;
    const asked = mayAsk ? await Promise.all(keys.map(ask)) : [];
    const found = asked.find((one) => one?.record.id === id);
    if (found !== undefined) return found;
    throw new ConnectError('there is no such export', Code.NotFound);
  };
}

/** The keys of the project's exports. */
export function placesOf(projectId: string): string[] {
  return Array.from({ length: maxExports }, (_, place) => exportKey(projectId, place));
}
