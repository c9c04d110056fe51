// Kept exports of projects: nobody knows whose rows a file has without reading it, so all of them end, and what was
// asked for is forgotten. Those with events that a project keeps no longer end, too. The process that has the files
// removes them, and who asked sees why.

import { isDeepStrictEqual } from 'node:util';
import type { JsonValue } from '@bufbuild/protobuf';
import { buckets } from '../../platform/broker/buckets.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import {
  type ExportRecord,
  exportKey,
  hasEnded,
  maxExports,
  readExportRecord,
} from '../../platform/exports/export-record.ts';
import { isObject } from '../../platform/json.ts';
import type { ErasureParts, StepEnd } from '../erasure-parts.ts';

/** What of a query names nobody. */
const plainMembers = new Set(['what', 'format', 'columns', 'compression', 'timeRange']);
/** Files of a data directory that no process has any more are waited for no longer. */
const patienceMs = 60_000;
/** Projects. Their records are read in some tenths of a second, on a slow broker in some seconds. */
const renewEvery = 20;

interface Ended {
  reason: string;
  /** Which exports end; all unless given. */
  isMeant?(record: ExportRecord, projectId: string): boolean;
  /** Unless false. */
  forgetsNames?: boolean;
  /** Keeps the lease; throws LeaseLost. Needed for more projects than `renewEvery`. */
  renew?(): Promise<void>;
}

/** `later`: files are still there. */
export async function endExports(
  { nats, clock }: Pick<ErasureParts, 'nats' | 'clock'>,
  projectIds: readonly string[],
  { reason, isMeant = () => true, forgetsNames = true, renew = async () => {} }: Ended,
): Promise<StepEnd> {
  const bucket = await openBucket(nats, buckets.exports, readExportRecord);
  const nowMs = clock.nowMs();
  const isLeft = ({ hasFiles, stateMs }: ExportRecord): boolean =>
    hasFiles && nowMs - stateMs < patienceMs;
  let end: StepEnd = 'done';
  for (const [at, projectId] of projectIds.entries()) {
    if (at > 0 && at % renewEvery === 0) await renew();
    const keys = Array.from({ length: maxExports }, (_, place) => exportKey(projectId, place));
    const reads = await Promise.all(keys.map(async (key) => [key, await bucket.get(key)] as const));
    for (const [key, found] of reads) {
      if (found.kind !== 'found') continue;
      const { record, revision } = found;
      if (!isMeant(record, projectId)) continue;
      if (isLeft(record)) end = 'later';
      const query = forgetsNames ? withoutNames(record.query) : record.query;
      if (hasEnded(record) && isDeepStrictEqual(query, record.query)) continue;
      const ended = {
        state: 'cancelled',
        stateMs: nowMs,
        leaseEndMs: 0,
        parts: [],
        reason,
      } as const;
      await bucket.update(key, { ...record, ...(hasEnded(record) ? {} : ended), query }, revision);
      // Also where another process wrote it meanwhile.
      end = 'later';
    }
  }
  return end;
}

function withoutNames(query: JsonValue): JsonValue {
  if (!isObject(query)) return query;
  return Object.fromEntries(Object.entries(query).filter(([name]) => plainMembers.has(name)));
}
