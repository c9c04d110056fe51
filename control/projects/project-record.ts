// Makes projects and their API keys, and revokes keys: each changes one record by compare-and-set. Finding a key's
// project is platform/access/projects.ts's; the methods are project-rpc.ts's.

import { type ApiKeyKind, newApiKey, newId, sha256 } from '../../platform/access/ids.ts';
import type { ApiKeyRecord, KeyScope, ProjectRecord } from '../../platform/access/projects.ts';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import { changeRecord } from '../../platform/records/change-record.ts';

/** The part of a watched bucket that changes need; a write is in this process's memory once its promise resolves. */
export type ProjectStore = Pick<WatchedBucket<ProjectRecord>, 'ask' | 'create' | 'update'>;

/** A new key: `raw` is shown once; a private key's record holds its hash only. */
interface NewApiKey {
  raw: string;
  record: ApiKeyRecord;
}

interface KeyOptions {
  kind: ApiKeyKind;
  displayName?: string;
  /** Of a private key; absent, it opens all that private keys do. */
  scope?: KeyScope | undefined;
  /** RFC 3339; absent, it opens until it is revoked. */
  expireTime?: string | undefined;
}

type CreateKeyResult =
  | { kind: 'created'; key: NewApiKey }
  | { kind: 'project_not_found' }
  | { kind: 'too_many_keys'; max: number };

/** A key revoked before is `revoked` again and keeps its time. */
type RevokeKeyResult = { kind: 'revoked'; key: ApiKeyRecord } | { kind: 'not_found' };

/** Bounds of one project's record. Beyond the second, the keys revoked first are dropped. */
export const maxLiveKeys = 100;
const maxRevokedKeys = 50;

/** Makes a key that is in no record yet; with `raw`, of that text. */
export function makeApiKey(options: KeyOptions & { raw?: string }, clock: Clock): NewApiKey {
  const { kind, displayName, scope, expireTime } = options;
  const raw = options.raw ?? newApiKey(kind);
  const record: ApiKeyRecord = {
    id: newId(),
    kind,
    hash: sha256(raw),
    ...(kind === 'public' && { publicKey: raw }),
    ...(displayName !== undefined && { displayName }),
    ...(scope !== undefined && { scope }),
    ...(expireTime !== undefined && { expireTime }),
    createTime: rfc3339(clock),
  };
  return { raw, record };
}

interface ProjectOptions {
  organizationId: string;
  displayName: string;
  /** IANA name; UTC if absent. */
  timezone?: string;
}

/** Makes a project with one public key. */
export async function createProject(
  store: ProjectStore,
  options: ProjectOptions,
  clock: Clock,
): Promise<ProjectRecord> {
  const { record } = makeApiKey({ kind: 'public' }, clock);
  const project = makeProject({ ...options, id: newId(), keys: [record] }, clock);
  const result = await store.create(project.id, project);
  if (result.kind === 'conflict') throw new Error(`project ${project.id} is there already`);
  return project;
}

/** Makes a project of this id with one public key, unless there is one. */
export async function ensureProjectWithKey(
  store: ProjectStore,
  options: ProjectOptions & { id: string },
  clock: Clock,
): Promise<void> {
  const { record } = makeApiKey({ kind: 'public' }, clock);
  await store.create(options.id, makeProject({ ...options, keys: [record] }, clock));
}

/** A project that is not stored yet. */
export function makeProject(
  options: ProjectOptions & { id: string; keys: readonly ApiKeyRecord[] },
  clock: Clock,
): ProjectRecord {
  const now = rfc3339(clock);
  const { id, organizationId, displayName, timezone = 'UTC', keys } = options;
  const times = { createTime: now, updateTime: now };
  return { schemaVersion: 1, id, organizationId, displayName, timezone, ...times, keys };
}

/** Adds a key to a project. */
export async function createApiKey(
  store: ProjectStore,
  projectId: string,
  options: KeyOptions,
  clock: Clock,
): Promise<CreateKeyResult> {
  const key = makeApiKey(options, clock);
  const result = await addApiKeys(store, projectId, [key.record], clock);
  return result.kind === 'added' ? { kind: 'created', key } : result;
}

type AddKeysResult =
  | { kind: 'added' }
  | { kind: 'project_not_found' }
  | { kind: 'too_many_keys'; max: number };

/** Adds keys of makeApiKey: all or none. */
export async function addApiKeys(
  store: ProjectStore,
  projectId: string,
  added: readonly ApiKeyRecord[],
  clock: Clock,
): Promise<AddKeysResult> {
  let tooMany = false;
  const changed = await changeProject(store, projectId, clock, (project) => {
    const live = project.keys.filter(({ revokeTime }) => revokeTime === undefined);
    tooMany = live.length + added.length > maxLiveKeys;
    return tooMany ? project : { ...project, keys: [...project.keys, ...added] };
  });
  if (changed === undefined) return { kind: 'project_not_found' };
  return tooMany ? { kind: 'too_many_keys', max: maxLiveKeys } : { kind: 'added' };
}

/** Stops a key: in this process at once, in others as soon as their watch brings the change, well within a second. */
export async function revokeApiKey(
  store: ProjectStore,
  projectId: string,
  keyId: string,
  clock: Clock,
): Promise<RevokeKeyResult> {
  const changed = await changeProject(store, projectId, clock, (project) => {
    const key = project.keys.find(({ id }) => id === keyId);
    if (key === undefined || key.revokeTime !== undefined) return project;
    const revoked = { ...key, revokeTime: rfc3339(clock) };
    // Moved to the end, so that revoked keys are in the order of their revocation.
    const others = project.keys.filter((other) => other !== key);
    return { ...project, keys: withoutOldest([...others, revoked]) };
  });
  const key = changed?.keys.find(({ id }) => id === keyId);
  return key === undefined ? { kind: 'not_found' } : { kind: 'revoked', key };
}

/**
 * Stops all private keys of a project, as fast as revokeApiKey. They leave the record, which thereby has room to be
 * written however full its bucket is.
 */
export async function revokePrivateKeys(
  store: ProjectStore,
  projectId: string,
  clock: Clock,
): Promise<void> {
  await changeProject(store, projectId, clock, (project) => {
    const isLive = ({ kind, revokeTime }: ApiKeyRecord) =>
      kind === 'private' && revokeTime === undefined;
    const keys = project.keys.filter((key) => !isLive(key));
    return keys.length === project.keys.length ? project : { ...project, keys };
  });
}

function withoutOldest(keys: readonly ApiKeyRecord[]): readonly ApiKeyRecord[] {
  const revoked = keys.filter(({ revokeTime }) => revokeTime !== undefined);
  const dropped = new Set(revoked.slice(0, Math.max(0, revoked.length - maxRevokedKeys)));
  return keys.filter((key) => !dropped.has(key));
}

/**
 * Writes the record that `change` returns for the newest one, with a new `updateTime`; nothing if `change` returns its
 * argument. Undefined if there is no such project.
 */
export async function changeProject(
  store: ProjectStore,
  projectId: string,
  clock: Clock,
  change: (project: ProjectRecord) => ProjectRecord,
): Promise<ProjectRecord | undefined> {
  const result = await changeRecord(store, projectId, (project) => {
    const changed = change(project);
    if (changed === project) return { leave: project };
    const write = { ...changed, updateTime: rfc3339(clock) };
    return { write, answer: write };
  });
  return result.kind === 'done' ? result.answer : undefined;
}

function rfc3339(clock: Clock): string {
  return new Date(clock.nowMs()).toISOString();
}
