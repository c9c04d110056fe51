// The operator's commands that keep the log of erasures, and repeat them on an instance that was restored from an older
// backup. The log has no text of a person: ids of profiles are keyed hashes, which the restored tables have too.

import { readFileSync } from 'node:fs';
import { buckets } from '../../platform/broker/buckets.ts';
import { openBucket, type RecordBucket } from '../../platform/broker/record-bucket.ts';
import {
  type ErasureRecord,
  erasureKey,
  readErasure,
} from '../../platform/erasure/erasure-record.ts';
import type { Operator } from './commands.ts';

/** A line of the log. */
interface LoggedErasure {
  requestId: string;
  projectId: string;
  /** In hex. */
  profileId: string;
  /** The profile ids of all ids of the person, as the request's record has them. */
  ids: string;
  /** RFC 3339. */
  requestedAt: string;
}

/** Returns a line of JSON for each request that was completed or is under way, oldest first. */
export async function listErasures(operator: Operator): Promise<string> {
  const bucket = await openErasures(operator);
  // All keys first: the list ends early for whoever asks for something between two of them.
  const keys: string[] = [];
  for await (const key of await bucket.kv.keys()) keys.push(key);
  const records: ErasureRecord[] = [];
  for (const key of keys) {
    const found = await bucket.get(key);
    if (found.kind === 'found' && found.record.status !== 'failed') records.push(found.record);
  }
  return records
    .sort((one, other) => one.requestedAtMs - other.requestedAtMs)
    .map(({ requestId, projectId, profileId, ids, requestedAtMs }) => {
      const requestedAt = new Date(requestedAtMs).toISOString();
      const line: LoggedErasure = { requestId, projectId, profileId, ids, requestedAt };
      return JSON.stringify(line);
    })
    .join('\n');
}

/**
 * Asks once more for each erasure of the log that this instance does not know. Throws one sentence for a line that is
 * none of the log, before anything is asked for.
 */
export async function repeatErasures(operator: Operator, file: string): Promise<string> {
  const lines = readFileSync(file, 'utf8').split('\n');
  const logged = lines.flatMap((line, at) => (line.trim() === '' ? [] : [readLine(line, at + 1)]));
  const bucket = await openErasures(operator);
  let repeated = 0;
  for (const { requestId, projectId, profileId, ids, requestedAt } of logged) {
    // One that the backup has was done before it, or goes on by itself.
    const written = await bucket.create(erasureKey(requestId), {
      ...{ schemaVersion: 1, requestId, projectId, profileId, ids, status: 'pending' },
      ...{ sealedId: '', events: 0, completedAtMs: 0, error: '' },
      requestedAtMs: Date.parse(requestedAt),
    });
    if (written.kind === 'written') repeated += 1;
  }
  const known = logged.length - repeated;
  return `asked for once more: ${repeated}, known before: ${known}; the service erases while it runs`;
}

function openErasures({ connection }: Operator): Promise<RecordBucket<ErasureRecord>> {
  return openBucket(connection, buckets.erasures, readErasure);
}

function readLine(line: string, number: number): LoggedErasure {
  const read = parsed(line);
  if (read !== undefined) return read;
  throw new Error(`line ${number} is none that the command erasures has printed`);
}

function parsed(line: string): LoggedErasure | undefined {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return undefined;
  }
  const text = (name: string): string => {
    const found: unknown = Object(value)[name];
    return typeof found === 'string' ? found : '';
  };
  const [requestId, projectId, profileId] = ['requestId', 'projectId', 'profileId'].map(text);
  const [ids, requestedAt] = [text('ids'), text('requestedAt')];
  const isLine =
    /^[0-9a-f-]{36}$/.test(requestId ?? '') &&
    /^[\w-]+$/.test(projectId ?? '') &&
    /^[0-9a-f]{32}$/.test(profileId ?? '') &&
    /^[\w-]*$/.test(ids) &&
    !Number.isNaN(Date.parse(requestedAt));
  if (!isLine) return undefined;
  return {
    ...{ requestId: requestId ?? '', projectId: projectId ?? '', profileId: profileId ?? '' },
    ...{ ids, requestedAt },
  };
}
