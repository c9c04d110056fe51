// Two engines are two groups of one service: projects are spread over both, the service is killed, one engine is away
// and comes back. Each acknowledged event is stored once, in its project's group alone.
// Takes some 90 seconds.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { shardOf } from '../platform/broker/topology.ts';
import { createClickHouse } from '../platform/clickhouse/clickhouse.ts';
import { createLog } from '../platform/log.ts';
import {
  batchCreate,
  call,
  eventually,
  listActivity,
  newEvent,
  rows,
} from './harness/clients/client.ts';
import { removeFolder } from './harness/remove-folder.ts';
import { startBroker } from './harness/servers/broker.ts';
import type { ChildServer } from './harness/servers/child-server.ts';
import { startEngine } from './harness/servers/engine.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';
import { root } from './harness/source-tree.ts';
import { expectRollupsOfEvents } from './harness/tables/rollups.ts';

const shards = 4;
const batchEvents = 20;

interface Project {
  projectId: string;
  publicKey: string;
  privateKey: string;
  /** The place of its engine. */
  group: number;
  acknowledged: Set<string>;
}

const dataDir = mkdtempSync(join(tmpdir(), 'millrace-groups-'));
let broker: ChildServer;
let engines: [ChildServer, ChildServer];
let stack: Stack;
let projects: Project[];

beforeAll(async () => {
  broker = await startBroker();
  engines = await Promise.all([startEngine(), startEngine({ migrated: false })]);
  stack = await startStack({ dataDir, env: environment(engines) });
  projects = [ownProject(stack)];
  while (ofGroup(0).length < 2 || ofGroup(1).length < 2) projects.push(await newProject());
});
afterAll(async () => {
  await stack.stop();
  await Promise.all([broker, ...engines].map((server) => server.stop()));
  await removeFolder(dataDir);
});

function environment(groups: readonly ChildServer[]): Record<string, string> {
  return {
    NATS_URL: broker.url,
    CLICKHOUSE_URL: groups.map(({ url }) => url).join(';'),
    MILLRACE_SHARDS: String(shards),
  };
}

const ofGroup = (group: number): Project[] => projects.filter((one) => one.group === group);
const groupOf = (projectId: string): number => shardOf(projectId, shards) % 2;

function ownProject({ projectId, publicKey, privateKey }: Stack): Project {
  return { projectId, publicKey, privateKey, group: groupOf(projectId), acknowledged: new Set() };
}

async function newProject(): Promise<Project> {
  const { adminEmail: email, adminPassword: password } = JSON.parse(
    readFileSync(join(stack.dataDir, 'demo-admin.json'), 'utf8'),
  );
  const service = '/dashboard.projects.v1.ProjectsService';
  const ask = async (path: string, message: object, headers = {}): Promise<Made> => {
    const answer = await call(stack.baseUrl, path, '', message, headers);
    expect(answer).toMatchObject({ status: 200 });
    return answer.body;
  };
  const { accessToken } = await ask('/public.auth.v1.AuthService/SignIn', { email, password });
  const authorization = `Bearer ${accessToken}`;
  const made = { orgId: stack.organizationId, displayName: 'another' };
  const { project, key: publicKey = '' } = await ask(`${service}/Create`, made, { authorization });
  const projectId = project?.id ?? '';
  const headers = { authorization, 'x-project-id': projectId };
  const { key = '' } = await ask(
    `${service}/CreateApiKey`,
    { kind: 'API_KEY_KIND_PRIVATE' },
    headers,
  );
  const group = groupOf(projectId);
  return { projectId, publicKey, privateKey: key, group, acknowledged: new Set() };
}

interface Made {
  accessToken?: string;
  key?: string;
  project?: { id: string };
}

/** Each project sends batches; one without an acknowledgement is sent again, ids unchanged, until it has one. */
function startLoad(): { stop(): Promise<void> } {
  let stopping = false;
  const send = async (project: Project): Promise<void> => {
    for (let turn = 0; !stopping; turn++) {
      const events = Array.from({ length: batchEvents }, (_, index) =>
        newEvent({ distinctId: `visitor-${(turn + index) % 7}` }),
      );
      const isTaken = (): Promise<boolean> =>
        batchCreate({ ...project, baseUrl: stack.baseUrl }, events).then(
          ({ status }) => status === 200,
          () => false,
        );
      while (!(await isTaken())) await delay(50);
      for (const { eventId } of events) project.acknowledged.add(eventId);
      await delay(5);
    }
  };
  const running = Promise.all(projects.map(send));
  return {
    async stop() {
      stopping = true;
      await running;
    },
  };
}

async function parts(): Promise<Record<string, boolean>> {
  return JSON.parse(await (await fetch(`${stack.baseUrl}/readyz?verbose`)).text());
}

/** Sends one event until it is taken, as the load does, and waits until it can be read. */
async function passes(project: Project): Promise<void> {
  const at = { ...project, baseUrl: stack.baseUrl };
  const event = newEvent({ distinctId: 'marked' });
  await eventually(
    () => batchCreate(at, [event]),
    ({ status }) => status === 200,
  );
  project.acknowledged.add(event.eventId);
  await eventually(
    () => listActivity(at, { distinctId: 'marked' }),
    ({ events }) => events.some(({ eventId }) => eventId === event.eventId),
  );
}

it('events go into the group of their project and nowhere else, whatever is killed and whoever is away', async () => {
  await eventually(parts, (all) => Object.values(all).every(Boolean));
  expect(Object.keys(await parts())).toEqual(
    expect.arrayContaining(['clickhouse_1', 'clickhouse_2']),
  );
  const load = startLoad();
  for (const project of projects) await passes(project);
  stack.kill9('service');
  stack = await stack.restart();
  for (const project of projects) await passes(project);

  await engines[1].kill9();
  await eventually(parts, (all) => all['clickhouse_2'] === false);
  expect(await parts()).toMatchObject({ clickhouse_1: true, broker: true });
  for (const project of ofGroup(0)) await passes(project);
  for (const project of ofGroup(1)) {
    const at = { ...project, baseUrl: stack.baseUrl };
    await expect(listActivity(at, {})).rejects.toThrow('List: 503');
  }
  await engines[1].restart();
  await eventually(parts, (all) => Object.values(all).every(Boolean));
  for (const project of projects) await passes(project);
  stack.kill9('service');
  stack = await stack.restart();
  await load.stop();

  for (const project of projects) {
    const { size } = project.acknowledged;
    expect(size).toBeGreaterThan(2 * batchEvents);
    const counts = () => Promise.all(engines.map(({ url }) => countsOf(url, project)));
    const isThere = (all: Counts[]) => (all[project.group]?.ids ?? 0) >= size;
    const found = await eventually(counts, isThere);
    expect(found[project.group]).toEqual({ count: size, ids: size });
    expect(found[1 - project.group]).toEqual({ count: 0, ids: 0 });
  }
  for (const { url } of engines) {
    const client = createClickHouse(url, { log: createLog('silent'), maxConnections: 1 });
    await expectRollupsOfEvents(client).finally(() => client.close());
  }
});

it('the operator checks the tables of all groups, and a backup takes those of one server only', () => {
  const admin = (...words: string[]) => {
    const command = join(root, 'dist', 'admin.js');
    const env = { ...process.env, ...environment(engines) };
    const args = [command, '--data', dataDir, ...words];
    return spawnSync(process.execPath, args, { env, encoding: 'utf8' });
  };
  const checked = admin('check');
  expect(checked.stdout).toContain('group 1, visits: as the raw rows say\n');
  expect(checked.stdout).toContain('group 2, visits: as the raw rows say\n');
  expect(checked.status).toBe(0);
  const refused =
    'backup and restore take the tables of one ClickHouse server that replicates nothing, ';
  // A file would be control records alone.
  const directory = join(dataDir, 'backup');
  mkdirSync(directory);
  for (const word of ['backup', 'restore'])
    expect(admin(word, directory).stderr).toContain(refused);
});

interface Counts {
  count: number;
  ids: number;
}

async function countsOf(url: string, { projectId }: Project): Promise<Counts> {
  const [found] = await rows<Counts>(
    url,
    `SELECT count() AS count, uniqExact(event_id) AS ids FROM events WHERE project_id = '${projectId}'`,
  );
  return found ?? { count: -1, ids: -1 };
}

it('the groups of the first start are those of every later one, in their order', async () => {
  expect(await stack.stop()).toMatchObject({ code: 0 });
  const [first, second] = engines;
  await expect(startStack({ dataDir, env: environment([second, first]) })).rejects.toThrow(
    'millrace: CLICKHOUSE_URL names the groups of ClickHouse in another order than at the first start: ',
  );
  await expect(startStack({ dataDir, env: environment([first]) })).rejects.toThrow(
    'millrace: the events of this broker are in 2 groups of ClickHouse, and CLICKHOUSE_URL names one group: ',
  );
  const empty = await startEngine({ migrated: false });
  await expect(startStack({ dataDir, env: environment([first, empty]) })).rejects.toThrow(
    'in another ClickHouse than the one at CLICKHOUSE_URL (group 2), or that one has lost its data: ',
  );
  await empty.stop();
  stack = await stack.restart();
  await passes(projects[0] ?? ownProject(stack));
});
