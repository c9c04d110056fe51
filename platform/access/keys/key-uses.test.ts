// The last use of keys on a real broker: to the hour, one write an hour for each key, in several processes.

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { useBroker } from '../../../test/harness/servers/use-servers.ts';
import { connectBroker, type NatsConnection } from '../../broker/nats.ts';
import { openBucket } from '../../broker/record-bucket.ts';
import { type WatchedBucket, watchBucket } from '../../broker/watched-bucket.ts';
import { createLog } from '../../log.ts';
import { createAuthenticate } from '../authenticate.ts';
import { newApiKey, newId, sha256 } from '../ids.ts';
import { ProjectDirectory, type ProjectRecord, readProject } from '../projects.ts';
import { KeyUses, notingUses } from './key-uses.ts';

const log = createLog('silent');
const broker = useBroker();
const hour = 3_600_000;
const first = Date.UTC(2026, 10, 23, 16);
let nowMs: number;
const clock = { nowMs: () => nowMs };
let connection: NatsConnection;
let projects: WatchedBucket<ProjectRecord>;
let writes: number;
let id: string;
const keys = { used: newApiKey('private'), other: newApiKey('public') };

beforeAll(async () => {
  connection = await connectBroker(broker.url, log);
  await connection.jetstream().views.kv('projects', { history: 1 });
  const bucket = await openBucket(connection, 'projects', readProject);
  projects = await watchBucket(connection, bucket, { log });
});
afterAll(async () => {
  await projects.close();
  await connection.close();
});

beforeEach(async () => {
  nowMs = first + 1_000;
  writes = 0;
  id = newId();
  const createTime = new Date(first).toISOString();
  const key = (kind: 'private' | 'public', raw: string) => {
    return { id: `${id}-${kind}`, kind, hash: sha256(raw), createTime };
  };
  await projects.create(id, {
    schemaVersion: 1,
    ...{ id, organizationId: 'org', displayName: 'Shop', timezone: 'UTC' },
    ...{ createTime, updateTime: createTime },
    keys: [key('private', keys.used), key('public', keys.other)],
  });
});

/** As a process has it. */
function openUses() {
  const counted = {
    ask: (key: string) => projects.ask(key),
    create: (key: string, record: ProjectRecord) => projects.create(key, record),
    update(key: string, record: ProjectRecord, revision: number) {
      writes++;
      return projects.update(key, record, revision);
    },
  };
  const uses = new KeyUses({ projects: counted, clock, log });
  const directory = new ProjectDirectory(projects);
  return { uses, authenticate: notingUses(createAuthenticate(directory), uses) };
}

async function lastUses(): Promise<(string | undefined)[]> {
  const found = await projects.ask(id);
  return found.kind === 'found' ? found.record.keys.map(({ lastUseTime }) => lastUseTime) : [];
}

const list = 'shared.activity.v1.ActivityService/List';
const hourText = (n: number) => new Date(first + n * hour).toISOString();

it('notes the hour of a call that a key opened, once for many calls and processes', async () => {
  const processes = [openUses(), openUses()];
  for (const { authenticate } of processes) {
    for (let call = 0; call < 100; call++) await authenticate(list, { apiKey: keys.used });
  }
  await Promise.all(processes.map(({ uses }) => uses.write()));
  expect(await lastUses()).toEqual([hourText(0), undefined]);
  const written = writes;
  expect(written).toBeLessThanOrEqual(2);
  nowMs = first + hour - 1;
  for (const { authenticate, uses } of processes) {
    await authenticate(list, { apiKey: keys.used });
    await uses.write();
  }
  expect(writes).toBe(written);
  nowMs = first + 3 * hour;
  const [{ authenticate, uses } = openUses()] = processes;
  await authenticate(list, { apiKey: keys.used });
  await uses.close();
  expect(await lastUses()).toEqual([hourText(3), undefined]);
});

it('notes no call that was refused, and no key that nobody has', async () => {
  const { authenticate, uses } = openUses();
  // A public key does not read.
  await authenticate(list, { apiKey: keys.other });
  await authenticate(list, { apiKey: keys.used, projectIdHeader: 'another' });
  await authenticate(list, { apiKey: newApiKey('private') });
  await uses.close();
  expect([writes, await lastUses()]).toEqual([0, [undefined, undefined]]);
});

it('tries again with the next use where a write failed', async () => {
  const { authenticate, uses } = openUses();
  let isDown = true;
  const failing = new KeyUses({
    clock,
    log,
    projects: {
      ask: (key) => (isDown ? Promise.reject(new Error('no answer')) : projects.ask(key)),
      create: (key, record) => projects.create(key, record),
      update: (key, record, revision) => projects.update(key, record, revision),
    },
  });
  const owner = { projectId: id, keyId: `${id}-private` };
  failing.used(owner);
  await failing.write();
  isDown = false;
  failing.used(owner);
  await failing.write();
  expect(await lastUses()).toEqual([hourText(0), undefined]);
  await authenticate(list, { apiKey: keys.used });
  await uses.close();
  expect(writes).toBe(0);
});
