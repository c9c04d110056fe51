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
  projectOfKey,
  readExportRecord,
} from '../../platform/exports/export-record.ts';
import { isObject } from '../../platform/json.ts';
import type { ErasureParts, StepEnd } from '../erasure-parts.ts';

/** What of a query names nobody. */
const plainMembers = new Set(['what', 'format', 'columns', 'compression', 'timeRange']);
/** Files of a data directory that no process has any more are waited for no longer. */
const patienceMs = 60_000;

interface Ended {
  reason: string;
  /** Which exports end; all unless given. */
  isMeant?(record: ExportRecord, projectId: string): boolean;
  /** Unless false. */
  forgetsNames?: boolean;
}

/** `later`: files are still there. */
export async function endExports(
  { nats, clock }: Pick<ErasureParts, 'nats' | 'clock'>,
  projectIds: readonly string[],
  { reason, isMeant = () => true, forgetsNames = true }: Ended,
): Promise<StepEnd> {
  const bucket = await openBucket(nats, buckets.exports, readExportRecord);
  const nowMs = clock.nowMs();
  const isLeft = ({ hasFiles, stateMs }: ExportRecord): boolean =>
    hasFiles && nowMs - stateMs < patienceMs;
  let end: StepEnd = 'done';
  const keys = projectIds.flatMap((projectId) =>
    Array.from({ length: maxExports }, (_, place) => exportKey(projectId, place)),
  );
  for (const key of keys) {
    const found = await bucket.get(key);
    if (found.kind !== 'found') continue;
    const { record, revision } = found;
    if (!isMeant(record, projectOfKey(key))) continue;
    if (isLeft(record)) end = 'later';
    const query = forgetsNames ? withoutNames(record.query) : record.query;
    if (hasEnded(record) && isDeepStrictEqual(query, record.query)) continue;
    const ended = { state: 'cancelled', stateMs: nowMs, leaseEndMs: 0, parts: [], reason } as const;
    await bucket.update(key, { ...record, ...(hasEnded(record) ? {} : ended), query }, revision);
    // Also where another process wrote it meanwhile.
    end = 'later';
  }
  return end;
}

function withoutNames(query: JsonValue): JsonValue {
  if (!isObject(query)) return query;
  return Object.fromEntries(Object.entries(query).filter(([name]) => plainMembers.has(name)));
}
