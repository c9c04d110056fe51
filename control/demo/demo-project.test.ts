// The demo's organization, project and keys across starts, crashes and lost files, on a real broker.

import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type OrganizationRecord, readOrganization } from '../../platform/access/organizations.ts';
import {
  ProjectDirectory,
  type ProjectRecord,
  readProject,
} from '../../platform/access/projects.ts';
import { buckets } from '../../platform/broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import { openBucket, type RecordBucket } from '../../platform/broker/record-bucket.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { type WatchedBucket, watchBucket } from '../../platform/broker/watched-bucket.ts';
import { systemClock } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import { startBroker } from '../../test/harness/servers/broker.ts';
import type { ChildServer } from '../../test/harness/servers/child-server.ts';
import { revokeApiKey } from '../projects/project-record.ts';
import { type Demo, type DemoOptions, ensureDemo, readDemoRecord } from './demo-project.ts';

const log = createLog('silent');
let dataDir: string;
let broker: ChildServer;
let connection: NatsConnection;
let projects: WatchedBucket<ProjectRecord>;
let options: DemoOptions & { organizations: RecordBucket<OrganizationRecord> };

async function openBroker(): Promise<void> {
  broker = await startBroker();
  connection = await connectBroker(broker.url, log);
  await ensureTopology(connection, { eventsMaxBytes: 16 * 1_048_576, shards: 1 });
  const bucket = await openBucket(connection, buckets.projects, readProject);
  projects = await watchBucket(connection, bucket, { log });
  options = {
    instance: await openBucket(connection, buckets.instance, readDemoRecord),
    organizations: await openBucket(connection, buckets.organizations, readOrganization),
    projects,
    dataDir,
    clock: systemClock,
    log,
  };
}

async function closeBroker(): Promise<void> {
  await projects.close();
  await connection.close();
  await broker.stop();
}

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-demo-'));
  await openBroker();
});

afterEach(async () => {
  await closeBroker();
  rmSync(dataDir, { recursive: true });
});

const demoFile = () => join(dataDir, 'demo.json');

/** Both keys open the demo's project: one as a public key, one as a private key. */
function expectUsable(demo: Demo): void {
  const directory = new ProjectDirectory(projects);
  const { projectId, organizationId } = demo;
  expect(directory.findKey(demo.publicKey)).toMatchObject({
    owner: { projectId, organizationId, credential: 'public' },
  });
  expect(directory.findKey(demo.privateKey)).toMatchObject({
    owner: { projectId, organizationId, credential: 'private' },
  });
}

async function countProjects(): Promise<number> {
  return [...projects.records()].length;
}

it('makes an organization, a project and two keys, and writes a file that its owner alone can read', async () => {
  const demo = await ensureDemo(options);
  expectUsable(demo);
  expect(JSON.parse(readFileSync(demoFile(), 'utf8'))).toEqual(demo);
  expect(statSync(demoFile()).mode & 0o777).toBe(0o600);
  expect(await options.organizations.get(demo.organizationId)).toMatchObject({
    record: { id: demo.organizationId, displayName: 'Demo', members: [] },
  });
  const kinds = projects.get(demo.projectId)?.record.keys.map(({ kind }) => kind);
  expect(kinds).toEqual(['public', 'private']);
});

it('the next start finds the same demo, and narrows the mode of the file again', async () => {
  const demo = await ensureDemo(options);
  const before = projects.get(demo.projectId);
  chmodSync(demoFile(), 0o644);
  expect(await ensureDemo(options)).toEqual(demo);
  expect(projects.get(demo.projectId)).toEqual(before);
  expect(statSync(demoFile()).mode & 0o777).toBe(0o600);
});

it('a start after a crash at any step goes on with the same keys', async () => {
  const steps = ['instance', 'organizations', 'projects'] as const;
  for (const step of steps) {
    const crash = () => Promise.reject(new Error('crash'));
    const crashing = {
      ...options,
      [step]: {
        get: crash,
        create: crash,
        ask: (key: string) => options.projects.ask(key),
        update: crash,
      },
    };
    await expect(ensureDemo(crashing)).rejects.toThrow('crash');
    const kept = existsSync(demoFile()) ? readFileSync(demoFile(), 'utf8') : undefined;
    expect(kept !== undefined).toBe(step !== 'instance');
    if (step === 'projects') {
      const demo = await ensureDemo(options);
      expect(demo).toEqual(JSON.parse(kept ?? ''));
      expectUsable(demo);
    }
  }
  expect(await countProjects()).toBe(1);
});

it('the same project gets new keys if the file is gone or broken', async () => {
  const first = await ensureDemo(options);
  rmSync(demoFile());
  const second = await ensureDemo(options);
  writeFileSync(demoFile(), '{"organizationId":');
  const third = await ensureDemo(options);
  for (const demo of [second, third]) {
    expect(demo.projectId).toBe(first.projectId);
    expectUsable(demo);
  }
  expect(new Set([first, second, third].map(({ privateKey }) => privateKey)).size).toBe(3);
  expect(await countProjects()).toBe(1);
  expect(statSync(demoFile()).mode & 0o777).toBe(0o600);
});

it('replaces a revoked key, and no other', async () => {
  const first = await ensureDemo(options);
  const revoked = projects.get(first.projectId)?.record.keys[1]?.id ?? '';
  await revokeApiKey(projects, first.projectId, revoked, systemClock);
  const second = await ensureDemo(options);
  expect(second).toEqual({ ...first, privateKey: second.privateKey });
  expect(second.privateKey).not.toBe(first.privateKey);
  expectUsable(second);
});

it('an empty broker gets the demo of the file, with its ids and keys', async () => {
  const first = await ensureDemo(options);
  await closeBroker();
  await openBroker();
  const second = await ensureDemo(options);
  expect(second).toEqual(first);
  expectUsable(second);
});

it('a demo that somebody has deleted is made anew under other ids', async () => {
  const before = await ensureDemo(options);
  await projects.remove(before.projectId);
  const isDeleted = (id: string): boolean => id === before.projectId;
  const after = await ensureDemo({ ...options, isDeleted });
  expect(after.organizationId).toBe(before.organizationId);
  expect(after.projectId).not.toBe(before.projectId);
  expect([after.publicKey, after.privateKey]).not.toContain(before.publicKey);
  expectUsable(after);
  expect(await ensureDemo({ ...options, isDeleted })).toEqual(after);
  expect(projects.get(before.projectId)).toBeUndefined();
});

it('two data directories on one broker share the project, even when they start at once', async () => {
  const otherDir = mkdtempSync(join(tmpdir(), 'millrace-demo-'));
  const [demo, other] = await Promise.all([
    ensureDemo(options),
    ensureDemo({ ...options, dataDir: otherDir }),
  ]);
  expect(other.projectId).toBe(demo.projectId);
  expect(other.privateKey).not.toBe(demo.privateKey);
  expectUsable(demo);
  expectUsable(other);
  expect(await ensureDemo(options)).toEqual(demo);
  rmSync(otherDir, { recursive: true });
});

it('logs no private key', async () => {
  const lines: string[] = [];
  const spy = createLog('silent').child({}, { level: 'trace' });
  const { warn } = spy;
  spy.warn = (...args: Parameters<typeof warn>) => void lines.push(JSON.stringify(args));
  const first = await ensureDemo({ ...options, log: spy });
  rmSync(demoFile());
  const second = await ensureDemo({ ...options, log: spy });
  expect(lines.join()).toContain('the demo project has new keys');
  for (const { privateKey } of [first, second]) expect(lines.join()).not.toContain(privateKey);
});
