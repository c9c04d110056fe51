import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createApiKey,
  createProject,
  revokeApiKey,
} from '../../control/projects/project-record.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { buckets } from '../broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../broker/nats.ts';
import { openBucket } from '../broker/record-bucket.ts';
import { ensureTopology } from '../broker/topology.ts';
import { type WatchedBucket, watchBucket } from '../broker/watched-bucket.ts';
import { systemClock } from '../clock.ts';
import { createLog } from '../log.ts';
import { newApiKey } from './ids.ts';
import { type KeyLookup, ProjectDirectory, type ProjectRecord, readProject } from './projects.ts';

const log = createLog('silent');
/** Longer than a busy machine takes to confirm: all but one of the tests are to find memory fresh. */
const staleAfterMs = 5_000;
const broker = useBroker();
const connections: NatsConnection[] = [];
const watches: WatchedBucket<ProjectRecord>[] = [];

/** The parts of one process: a connection, its watch and its directory. */
async function startProcess() {
  const connection = await connectBroker(broker.url, log);
  connections.push(connection);
  await ensureTopology(connection, { eventsMaxBytes: 16 * 1_048_576, shards: 1 });
  const bucket = await openBucket(connection, buckets.projects, readProject);
  const projects = await watchBucket(connection, bucket, { log, confirmEveryMs: 50 });
  watches.push(projects);
  return { projects, directory: new ProjectDirectory(projects, { staleAfterMs }) };
}

type Process = Awaited<ReturnType<typeof startProcess>>;
let here: Process;
let there: Process;

beforeAll(async () => {
  here = await startProcess();
  there = await startProcess();
});

afterAll(async () => {
  for (const watch of watches) await watch.close();
  for (const connection of connections) await connection.close();
});

async function makeProject(): Promise<ProjectRecord> {
  const options = { organizationId: 'org', displayName: 'Shop', timezone: 'Asia/Kolkata' };
  return await createProject(here.projects, options, systemClock);
}

async function makeKey(projectId: string): Promise<{ raw: string; id: string }> {
  const result = await createApiKey(here.projects, projectId, { kind: 'private' }, systemClock);
  if (result.kind !== 'created') throw new Error(result.kind);
  return { raw: result.key.raw, id: result.key.record.id };
}

/** Resolves once `directory` gives an answer of this kind. */
async function untilKind(
  { projects, directory }: Process,
  raw: string,
  kind: KeyLookup['kind'],
): Promise<void> {
  await new Promise<void>((resolve) => {
    const look = () => directory.findKey(raw).kind === kind && resolve();
    projects.onChange(look);
    look();
  });
}

describe('findKey', () => {
  it("finds a key's owner, at once in the process that made the key", async () => {
    const project = await makeProject();
    const { raw, id } = await makeKey(project.id);
    const owner = { projectId: project.id, organizationId: 'org' };
    expect(here.directory.findKey(raw)).toEqual({
      kind: 'found',
      owner: { ...owner, credential: 'private', keyId: id },
    });
    const [publicKey] = project.keys;
    expect(here.directory.findKey(publicKey?.publicKey ?? '')).toEqual({
      kind: 'found',
      owner: { ...owner, credential: 'public', keyId: publicKey?.id },
    });
    expect(here.directory.project(project.id)).toMatchObject({ timezone: 'Asia/Kolkata' });
    expect(here.directory.project('other')).toBeUndefined();
  });

  it('finds no well-formed key that nobody made', () => {
    for (const raw of [newApiKey('public'), newApiKey('private'), 'pub_', '', '__proto__']) {
      expect(here.directory.findKey(raw)).toEqual({ kind: 'unknown' });
    }
  });

  it('takes no hash for a key: the stored hashes open nothing', async () => {
    const project = await makeProject();
    const { id } = await makeKey(project.id);
    const hash = here.directory.project(project.id)?.keys.find((key) => key.id === id)?.hash ?? '';
    expect(hash).toMatch(/^[0-9a-f]{64}$/);
    expect(here.directory.findKey(hash).kind).toBe('unknown');
  });

  it('learns of keys that another process makes or revokes', async () => {
    const project = await makeProject();
    const { raw, id } = await makeKey(project.id);
    await untilKind(there, raw, 'found');
    // The second look-up is answered from the remembered raw keys.
    expect(there.directory.findKey(raw).kind).toBe('found');

    const revoked = revokeApiKey(here.projects, project.id, id, systemClock);
    await untilKind(there, raw, 'unknown');
    expect((await revoked).kind).toBe('revoked');
    expect(here.directory.findKey(raw).kind).toBe('unknown');
  });

  it('knows the existing keys from the start', async () => {
    const project = await makeProject();
    const { raw } = await makeKey(project.id);
    const late = await startProcess();
    expect(late.directory.findKey(raw).kind).toBe('found');
  });

  it('finds keys that it has dropped from its cache', async () => {
    const project = await makeProject();
    const raws = await Promise.all([makeKey(project.id), makeKey(project.id)]);
    const small = new ProjectDirectory(here.projects, { maxCachedKeys: 1 });
    for (let round = 0; round < 10; round++) {
      for (const { raw } of raws) expect(small.findKey(raw).kind).toBe('found');
    }
  });
});

describe('memory that is too old', () => {
  /** A directory whose memory no longer changes and is never confirmed again; its questions reach the broker. */
  function frozenDirectory(): ProjectDirectory {
    const memory = new Map(here.projects.records());
    return new ProjectDirectory({
      get: (key) => {
        const record = memory.get(key);
        return record === undefined ? undefined : { record, revision: 0 };
      },
      records: () => here.projects.records(),
      onChange: () => {},
      unconfirmedMs: () => Number.POSITIVE_INFINITY,
      ask: (key) => here.projects.ask(key),
    });
  }

  it('takes a public key, and a private key only after asking the broker', async () => {
    const project = await makeProject();
    const { raw, id } = await makeKey(project.id);
    const directory = frozenDirectory();
    const publicKey = project.keys[0]?.publicKey ?? '';
    expect(directory.findKey(publicKey).kind).toBe('found');
    expect(directory.findKey(raw)).toEqual({ kind: 'unconfirmed' });
    expect(await directory.confirmKey(raw)).toMatchObject({ owner: { keyId: id } });

    await revokeApiKey(there.projects, project.id, id, systemClock);
    expect(directory.findKey(raw)).toEqual({ kind: 'unconfirmed' });
    expect(await directory.confirmKey(raw)).toEqual({ kind: 'unknown' });
  });

  it('leaves a key that it does not hold unconfirmed, and refuses garbage', async () => {
    const directory = frozenDirectory();
    for (const kind of ['public', 'private'] as const) {
      expect(await directory.confirmKey(newApiKey(kind))).toEqual({ kind: 'unconfirmed' });
    }
    expect(directory.findKey('prv_garbage')).toEqual({ kind: 'unknown' });
  });

  it('refuses private keys while the broker is silent, and takes them again afterwards', async () => {
    const project = await makeProject();
    const { raw } = await makeKey(project.id);
    expect(here.directory.findKey(raw).kind).toBe('found');
    broker.pause();
    try {
      while (here.projects.unconfirmedMs() <= staleAfterMs) await tick();
      expect(here.directory.findKey(raw)).toEqual({ kind: 'unconfirmed' });
      expect(here.directory.findKey(project.keys[0]?.publicKey ?? '').kind).toBe('found');
      const many = Array.from({ length: 500 }, () => here.directory.confirmKey(raw));
      for (const answer of await Promise.all(many)) expect(answer.kind).toBe('unconfirmed');
    } finally {
      broker.resume();
    }
    while (here.projects.unconfirmedMs() > staleAfterMs) await tick();
    expect(here.directory.findKey(raw).kind).toBe('found');
  });

  const tick = () => new Promise((resolve) => setTimeout(resolve, 20));
});

describe('readProject', () => {
  const key = { id: 'k', kind: 'private', hash: 'h', createTime: 't' };
  const project = {
    schemaVersion: 1,
    id: 'p',
    organizationId: 'o',
    displayName: '',
    timezone: 'UTC',
    createTime: 't',
    updateTime: 't',
    keys: [key],
  };

  it('keeps fields that it does not know', () => {
    expect(readProject({ ...project, color: 'red' })).toEqual({ ...project, color: 'red' });
  });

  it('refuses an incomplete record', () => {
    const broken = [
      null,
      7,
      {},
      { ...project, schemaVersion: 2 },
      { ...project, timezone: undefined },
      { ...project, keys: {} },
      { ...project, keys: [null] },
      { ...project, keys: [{ ...key, kind: 'root' }] },
      { ...project, keys: [{ ...key, hash: 7 }] },
      { ...project, keys: [{ ...key, revokeTime: 1_700_000_000 }] },
    ];
    for (const value of broken) expect(readProject(value)).toBeUndefined();
  });
});
