// The demo organization with its one project and two keys, so that a fresh instance can be tried at once. A record in
// the broker names the project; only a file in the data directory has the private key. Its events are ../../demo's.

import { chmodSync, existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type ApiKeyKind,
  newApiKey,
  newId,
  parseApiKey,
  sha256,
} from '../../platform/access/ids.ts';
import type { OrganizationRecord } from '../../platform/access/organizations.ts';
import type { ProjectRecord } from '../../platform/access/projects.ts';
import { hasTexts, type RecordBucket } from '../../platform/broker/record-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import {
  addApiKeys,
  makeApiKey,
  makeProject,
  type ProjectStore,
} from '../projects/project-record.ts';

export interface Demo {
  organizationId: string;
  projectId: string;
  publicKey: string;
  privateKey: string;
}

/** In the instance bucket: names the demo's project even when the file is lost. */
interface DemoRecord {
  schemaVersion: 1;
  organizationId: string;
  projectId: string;
}

export interface DemoOptions {
  instance: Pick<RecordBucket<DemoRecord>, 'get' | 'create' | 'update'>;
  organizations: Pick<RecordBucket<OrganizationRecord>, 'create'>;
  projects: ProjectStore;
  /** Whether somebody has asked for the deletion of a project or an organization; nobody has unless given. */
  isDeleted?: (id: string) => boolean;
  dataDir: string;
  clock: Clock;
  log: Log;
}

const recordKey = 'demo';

/**
 * Finds this broker's demo, or makes it. Keys are written to `demo.json` (mode 0600) before the broker learns of them,
 * so that a start after a crash goes on with the same keys. If the file is gone or holds revoked keys, the project gets
 * new keys; if the broker's records are gone, they are made again with the file's keys.
 */
export async function ensureDemo(options: DemoOptions): Promise<Demo> {
  const { log, projects } = options;
  const path = join(options.dataDir, 'demo.json');
  const file = readDemoFile(path, log);
  const ids = await demoIds(options, file);
  const found = await projects.ask(ids.projectId);
  if (found.kind === 'unreadable') throw new Error('the demo project cannot be read');
  const project = found.kind === 'found' ? found.record : undefined;

  const kept = file?.projectId === ids.projectId ? file : undefined;
  const demo: Demo = {
    organizationId: ids.organizationId,
    projectId: ids.projectId,
    publicKey: usableKey('public', kept?.publicKey, project) ?? newApiKey('public'),
    privateKey: usableKey('private', kept?.privateKey, project) ?? newApiKey('private'),
  };
  if (JSON.stringify(demo) !== JSON.stringify(file)) {
    writeDemoFile(path, demo);
    if (project !== undefined) log.warn({ path }, 'the demo project has new keys');
  }
  await ensureOrganization(options, demo);
  await ensureProject(options, demo, project);
  if (project === undefined && file !== undefined) {
    log.warn('the broker had no demo project: made with the keys of demo.json');
  }
  return demo;
}

/** Narrows the instance bucket's value under `demo`; undefined if it is no such record. */
export function readDemoRecord(value: unknown): DemoRecord | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (!hasTexts(value, ['organizationId', 'projectId'])) return undefined;
  if (Reflect.get(value, 'schemaVersion') !== 1) return undefined;
  const { organizationId, projectId } = value;
  return { schemaVersion: 1, organizationId, projectId };
}

// The broker's record wins over the file. A data directory copied to a new broker brings its ids along. What somebody
// has deleted is made anew under other ids.
async function demoIds(options: DemoOptions, file: Demo | undefined): Promise<DemoRecord> {
  const { instance, isDeleted = () => false } = options;
  const lasting = (id: string | undefined): string =>
    id === undefined || isDeleted(id) ? newId() : id;
  const proposed: DemoRecord = {
    schemaVersion: 1,
    organizationId: lasting(file?.organizationId),
    projectId: lasting(file?.projectId),
  };
  const made = await instance.create(recordKey, proposed);
  if (made.kind === 'written') return proposed;
  const found = await instance.get(recordKey);
  if (found.kind !== 'found') throw new Error(`the broker's record of the demo is ${found.kind}`);
  const { organizationId, projectId } = found.record;
  if (!isDeleted(organizationId) && !isDeleted(projectId)) return found.record;
  const renewed: DemoRecord = {
    schemaVersion: 1,
    organizationId: lasting(organizationId),
    projectId: lasting(projectId),
  };
  const written = await instance.update(recordKey, renewed, found.revision);
  return written.kind === 'written' ? renewed : demoIds(options, undefined);
}

/** `raw` unless the project has revoked it or it is no key of this kind. */
function usableKey(
  kind: ApiKeyKind,
  raw: string | undefined,
  project: ProjectRecord | undefined,
): string | undefined {
  if (raw === undefined || parseApiKey(raw) !== kind) return undefined;
  const key = project?.keys.find(({ hash }) => hash === sha256(raw));
  return key?.revokeTime === undefined ? raw : undefined;
}

async function ensureOrganization(options: DemoOptions, demo: Demo): Promise<void> {
  const now = new Date(options.clock.nowMs()).toISOString();
  await options.organizations.create(demo.organizationId, {
    schemaVersion: 1,
    id: demo.organizationId,
    displayName: 'Demo',
    createTime: now,
    updateTime: now,
    members: [],
  });
}

async function ensureProject(
  options: DemoOptions,
  demo: Demo,
  project: ProjectRecord | undefined,
): Promise<void> {
  const { projects, clock } = options;
  const wanted = [demo.publicKey, demo.privateKey].filter(
    (raw) => !project?.keys.some(({ hash }) => hash === sha256(raw)),
  );
  const keys = wanted.map((raw) => {
    const kind = raw === demo.publicKey ? 'public' : 'private';
    return makeApiKey({ kind, raw, displayName: 'Demo' }, clock).record;
  });
  if (project === undefined) {
    const { organizationId, projectId: id } = demo;
    const made = makeProject({ id, organizationId, displayName: 'Demo', keys }, clock);
    const result = await projects.create(id, made);
    if (result.kind === 'written') return;
    // A process with another data directory was first: its project gets this directory's keys too.
  }
  if (keys.length === 0) return;
  const result = await addApiKeys(projects, demo.projectId, keys, clock);
  if (result.kind !== 'added') throw new Error(`the demo project gets no new keys: ${result.kind}`);
}

function readDemoFile(path: string, log: Log): Demo | undefined {
  if (!existsSync(path)) return undefined;
  // Narrowed at each start: the file holds a secret, and an editor may have widened its mode.
  chmodSync(path, 0o600);
  try {
    const value: unknown = JSON.parse(readFileSync(path, 'utf8'));
    const names = ['organizationId', 'projectId', 'publicKey', 'privateKey'] as const;
    if (typeof value === 'object' && value !== null && hasTexts(value, names)) {
      const { organizationId, projectId, publicKey, privateKey } = value;
      return { organizationId, projectId, publicKey, privateKey };
    }
  } catch {
    // Broken JSON is replaced too.
  }
  log.warn({ path }, 'this file cannot be read and is replaced');
  return undefined;
}

// Renamed into place, so that a crash leaves the old file or the new one, never half a file.
function writeDemoFile(path: string, demo: Demo): void {
  const draft = `${path}.new`;
  writeFileSync(draft, `${JSON.stringify(demo, null, 2)}\n`, { mode: 0o600, flush: true });
  chmodSync(draft, 0o600);
  renameSync(draft, path);
}
