// Changes of projects and keys on a real broker: bounds, revocation, and many writers at once.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { newId, parseApiKey, sha256 } from '../../platform/access/ids.ts';
import { type ProjectRecord, readProject } from '../../platform/access/projects.ts';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { type WatchedBucket, watchBucket } from '../../platform/broker/watched-bucket.ts';
import { createLog } from '../../platform/log.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  createApiKey,
  createProject,
  maxLiveKeys,
  revokeApiKey,
  revokePrivateKeys,
} from './project-record.ts';

const log = createLog('silent');
let nowMs = Date.UTC(2026, 0, 1);
const clock = { nowMs: () => nowMs };
const broker = useBroker();
let connection: NatsConnection;
let store: WatchedBucket<ProjectRecord>;
let project: ProjectRecord;

beforeAll(async () => {
  connection = await connectBroker(broker.url, log);
  await connection.jetstream().views.kv('projects', { history: 5 });
  const bucket = await openBucket(connection, 'projects', readProject);
  store = await watchBucket(connection, bucket, { log });
});

beforeEach(async () => {
  nowMs = Date.UTC(2026, 0, 1);
  project = await createProject(store, { organizationId: 'org', displayName: 'Shop' }, clock);
});

afterAll(async () => {
  await store.close();
  await connection.close();
});

const keysNow = () => store.get(project.id)?.record.keys ?? [];

describe('createProject', () => {
  it('makes a project with one public key, stored with its text', () => {
    const [key] = project.keys;
    expect(project).toMatchObject({
      schemaVersion: 1,
      displayName: 'Shop',
      timezone: 'UTC',
      createTime: '2026-01-01T00:00:00.000Z',
    });
    expect(project.keys.length).toBe(1);
    expect(key).toMatchObject({ kind: 'public', hash: sha256(key?.publicKey ?? '') });
    expect(parseApiKey(key?.publicKey ?? '')).toBe('public');
    expect(store.get(project.id)?.record).toEqual(project);
    expect(readProject(project)).toEqual(project);
  });
});

describe('createApiKey', () => {
  it('returns the text of a private key once and stores its hash only', async () => {
    nowMs += 1_000;
    const options = { kind: 'private', displayName: 'Server' } as const;
    const result = await createApiKey(store, project.id, options, clock);
    if (result.kind !== 'created') throw new Error(result.kind);
    const { raw, record } = result.key;
    expect(parseApiKey(raw)).toBe('private');
    expect(record).toEqual({
      id: record.id,
      kind: 'private',
      hash: sha256(raw),
      displayName: 'Server',
      createTime: '2026-01-01T00:00:01.000Z',
    });
    const stored = await store.ask(project.id);
    expect(JSON.stringify(stored)).not.toContain(raw);
    expect(stored).toMatchObject({ record: { updateTime: '2026-01-01T00:00:01.000Z' } });
  });

  it('loses no key when many are made at once', async () => {
    const made = await Promise.all(
      Array.from({ length: 5 }, () => createApiKey(store, project.id, { kind: 'public' }, clock)),
    );
    const ids = made.map((result) => (result.kind === 'created' ? result.key.record.id : ''));
    const stored = keysNow().map(({ id }) => id);
    expect(stored.slice(1).sort()).toEqual(ids.sort());
  });

  it('stops at the bound, and makes one more after a revocation', async () => {
    for (let keys = 1; keys < maxLiveKeys; keys++) {
      const result = await createApiKey(store, project.id, { kind: 'private' }, clock);
      expect(result.kind).toBe('created');
    }
    const oneMore = () => createApiKey(store, project.id, { kind: 'private' }, clock);
    expect(await oneMore()).toEqual({ kind: 'too_many_keys', max: maxLiveKeys });
    await revokeApiKey(store, project.id, keysNow()[3]?.id ?? '', clock);
    expect((await oneMore()).kind).toBe('created');
  });

  it('answers project_not_found for an unknown project', async () => {
    const result = await createApiKey(store, newId(), { kind: 'private' }, clock);
    expect(result).toEqual({ kind: 'project_not_found' });
  });
});

describe('revokeApiKey', () => {
  it('marks the key once, and answers a second call the same', async () => {
    const id = project.keys[0]?.id ?? '';
    nowMs += 5_000;
    const first = await revokeApiKey(store, project.id, id, clock);
    expect(first).toMatchObject({
      kind: 'revoked',
      key: { revokeTime: '2026-01-01T00:00:05.000Z' },
    });
    nowMs += 5_000;
    expect(await revokeApiKey(store, project.id, id, clock)).toEqual(first);
    expect(keysNow()).toMatchObject([{ id, revokeTime: '2026-01-01T00:00:05.000Z' }]);
  });

  it('finds no key in another project or an unknown one', async () => {
    const id = project.keys[0]?.id ?? '';
    const options = { organizationId: 'org', displayName: 'Other' };
    const other = await createProject(store, options, clock);
    const notFound = { kind: 'not_found' };
    expect(await revokeApiKey(store, other.id, id, clock)).toEqual(notFound);
    expect(await revokeApiKey(store, newId(), id, clock)).toEqual(notFound);
    expect(keysNow()[0]?.revokeTime).toBeUndefined();
  });

  it('drops the keys revoked first, so that the record stays small', async () => {
    const revoked = Array.from({ length: 400 }, (_, index) => ({
      id: `old${index}`,
      kind: 'private' as const,
      hash: sha256(String(index)),
      createTime: '2025-01-01T00:00:00.000Z',
      revokeTime: '2025-01-01T00:00:00.000Z',
    }));
    const [live] = project.keys;
    if (live === undefined) throw new Error('no key');
    const revision = store.get(project.id)?.revision ?? 0;
    await store.update(project.id, { ...project, keys: [...revoked, live] }, revision);
    await revokeApiKey(store, project.id, live.id, clock);
    const ids = keysNow().map(({ id }) => id);
    expect(ids.length).toBe(50);
    expect(ids.includes('old0')).toBe(false);
    expect(ids.slice(0, 1)).toEqual(['old351']);
    expect(ids.at(-1)).toBe(live.id);
  });
});

it('revokePrivateKeys needs no room: the record is shorter than before, and public keys stay', async () => {
  for (let made = 0; made < 5; made++) {
    await createApiKey(store, project.id, { kind: 'private' }, clock);
  }
  const before = JSON.stringify(store.get(project.id)?.record);
  await revokePrivateKeys(store, project.id, clock);
  expect(JSON.stringify(store.get(project.id)?.record).length).toBeLessThan(before.length);
  expect(keysNow()).toEqual(project.keys);
});
