// The operator's commands that keep the log of erasures and deletions, and repeat them on an instance that was restored
// from an older backup. The log has no text of a person: ids of profiles are keyed hashes, which the restored tables
// have too, and what was deleted as a whole is named by its id alone.

import { readFileSync } from 'node:fs';
import { buckets } from '../../platform/broker/buckets.ts';
import { openBucket, type RecordBucket } from '../../platform/broker/record-bucket.ts';
import { deletionRequest } from '../../platform/erasure/ask-for-deletion.ts';
import {
  type ErasureRecord,
  erasureKey,
  readErasure,
  type Whole,
  wholeKinds,
} from '../../platform/erasure/erasure-record.ts';
import type { Operator } from './commands.ts';

/** A line of the log. */
type Logged = LoggedErasure | LoggedDeletion;

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

interface LoggedDeletion {
  /** The id of what was deleted as a whole. */
  requestId: string;
  whole: Whole['kind'];
  /** Of a project: its organization's. */
  organizationId: string;
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
    .map((record) => JSON.stringify(lineOf(record)))
    .join('\n');
}

function lineOf({ requestId, whole, requestedAtMs, ...record }: ErasureRecord): Logged {
  const requestedAt = new Date(requestedAtMs).toISOString();
  if (whole !== undefined) {
    const { kind, organizationId } = whole;
    return { requestId, whole: kind, organizationId, requestedAt };
  }
  const { projectId, profileId, ids } = record;
  return { requestId, projectId, profileId, ids, requestedAt };
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
  for (const line of logged) {
    // One that the backup has was done before it, or goes on by itself.
    const written = await bucket.create(erasureKey(line.requestId), requestOf(line));
    if (written.kind === 'written') repeated += 1;
  }
  const known = logged.length - repeated;
  return `asked for once more: ${repeated}, known before: ${known}; the service erases while it runs`;
}

function requestOf(line: Logged): ErasureRecord {
  const requestedAtMs = Date.parse(line.requestedAt);
  if ('whole' in line) {
    const { requestId, whole: kind, organizationId } = line;
    return deletionRequest(requestId, { kind, organizationId, displayName: '' }, requestedAtMs);
  }
  const { requestId, projectId, profileId, ids } = line;
  return {
    ...{ schemaVersion: 1, requestId, projectId, profileId, ids, status: 'pending' },
    ...{ sealedId: '', events: 0, completedAtMs: 0, error: '', requestedAtMs },
  };
}

function openErasures({ connection }: Operator): Promise<RecordBucket<ErasureRecord>> {
  return openBucket(connection, buckets.erasures, readErasure);
}

function readLine(line: string, number: number): Logged {
  const read = parsed(line);
  if (read !== undefined) return read;
  throw new Error(`line ${number} is none that the command erasures has printed`);
}

function parsed(line: string): Logged | undefined {
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
  const whole = wholeKinds.find((kind) => kind === text('whole'));
  if (whole !== undefined) {
    const organizationId = text('organizationId');
    const isId = /^[\w-]+$/.test(requestId ?? '') && /^[\w-]*$/.test(organizationId);
    if (!isId || Number.isNaN(Date.parse(requestedAt))) return undefined;
    return { requestId: requestId ?? '', whole, organizationId, requestedAt };
  }
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
