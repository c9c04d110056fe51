import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createApiKey,
  createProject,
  revokeApiKey,
} from '../../control/projects/project-record.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { connectBroker, type NatsConnection } from '../broker/nats.ts';
import { openBucket } from '../broker/record-bucket.ts';
import { type WatchedBucket, watchBucket } from '../broker/watched-bucket.ts';
import { systemClock } from '../clock.ts';
import { createLog } from '../log.ts';
import { accessTable } from './access-table.ts';
import { type Authenticate, type Credentials, createAuthenticate } from './authenticate.ts';
import { type ApiKeyKind, newApiKey } from './ids.ts';
import { ProjectDirectory, type ProjectRecord, readProject } from './projects.ts';

const log = createLog('silent');
const broker = useBroker();
let connection: NatsConnection;
let projects: WatchedBucket<ProjectRecord>;
let authenticate: Authenticate;
let projectId: string;
let otherProjectId: string;
let pub: string;
let prv: string;
let revoked: string;
/** Longer than a busy machine takes to confirm: all but one of the tests are to find memory fresh. */
const staleAfterMs = 5_000;

async function makeKey(id: string, kind: ApiKeyKind): Promise<{ raw: string; id: string }> {
  const result = await createApiKey(projects, id, { kind }, systemClock);
  if (result.kind !== 'created') throw new Error(result.kind);
  return { raw: result.key.raw, id: result.key.record.id };
}

beforeAll(async () => {
  connection = await connectBroker(broker.url, log);
  await connection.jetstream().views.kv('projects');
  const bucket = await openBucket(connection, 'projects', readProject);
  projects = await watchBucket(connection, bucket, { log, confirmEveryMs: 50 });
  authenticate = createAuthenticate(new ProjectDirectory(projects, { staleAfterMs }));
  const options = { organizationId: 'org', displayName: 'Shop' };
  projectId = (await createProject(projects, options, systemClock)).id;
  otherProjectId = (await createProject(projects, options, systemClock)).id;
  pub = (await makeKey(projectId, 'public')).raw;
  prv = (await makeKey(projectId, 'private')).raw;
  const gone = await makeKey(projectId, 'private');
  await revokeApiKey(projects, projectId, gone.id, systemClock);
  revoked = gone.raw;
});

afterAll(async () => {
  await projects.close();
  await connection.close();
});

const write = 'sdk.events.v1.EventsService/BatchCreate';
const read = 'shared.profiles.v1.ProfilesService/Get';

/** The kind of the credential that got through, or the code of the refusal. */
async function verdict(method: string, credentials: Credentials): Promise<string> {
  const result = await authenticate(method, credentials);
  if (result.kind === 'refused') return result.code;
  if (result.kind !== 'ok') return result.kind;
  expect(result.principal).toMatchObject({ projectId, organizationId: 'org' });
  return result.principal.credential;
}

describe('the row of a method', () => {
  it('is found by either name of a service', async () => {
    const alias = 'profiles.v1.ProfilesService/Get';
    expect(await verdict(alias, { apiKey: prv })).toBe('private');
    expect(await verdict(alias, { apiKey: pub })).toBe('permission_denied');
  });

  it('is missing: the method is closed', async () => {
    for (const method of ['a.v1.NewService/Get', 'shared.profiles.v1.ProfilesService/Got', '']) {
      expect(await verdict(method, { apiKey: prv })).toBe('permission_denied');
    }
  });
});

describe('every method with every credential', () => {
  const shared = [...accessTable.keys()].filter((method) => method.startsWith('shared.'));
  const sdk = [...accessTable.keys()].filter((method) => method.endsWith('/BatchCreate'));
  const unknownKey = newApiKey('private');
  // The credentials sent, the verdict on SDK methods, the verdict on shared ones.
  const rows: [name: string, sent: () => Credentials, onSdk: string, onShared: string][] = [
    ['nothing', () => ({}), 'unauthenticated', 'unauthenticated'],
    ['empty headers', () => ({ apiKey: '', authorization: '', apiKeyParam: '' }), ...same()],
    ['a public key', () => ({ apiKey: pub }), 'public', 'permission_denied'],
    ['a private key', () => ({ apiKey: prv }), 'private', 'private'],
    ['a revoked key', () => ({ apiKey: revoked }), ...same()],
    ['a key nobody made', () => ({ apiKey: unknownKey }), ...same()],
    ['garbage', () => ({ apiKey: 'prv_1' }), ...same()],
    ['two keys in one header', () => ({ apiKey: `${prv}, ${prv}` }), ...same()],
    ['bearer public', () => ({ authorization: `Bearer ${pub}` }), 'public', 'permission_denied'],
    ['bearer private', () => ({ authorization: `bearer  ${prv}` }), 'private', 'private'],
    ['basic', () => ({ authorization: `Basic ${prv}` }), ...same()],
    ['a bare key', () => ({ authorization: prv }), ...same()],
    ['bearer nothing', () => ({ authorization: 'Bearer ' }), ...same()],
    ['a token', () => ({ authorization: 'Bearer eyJh.eyJz.c2ln' }), ...same()],
    ['public in the URL', () => ({ apiKeyParam: pub }), 'public', 'unauthenticated'],
    ['private in the URL', () => ({ apiKeyParam: prv }), ...same()],
    ['header over URL', () => ({ apiKey: 'x', apiKeyParam: pub }), ...same()],
    [
      'header over bearer',
      () => ({ apiKey: prv, authorization: 'Bearer x' }),
      'private',
      'private',
    ],
    ['its project', () => ({ apiKey: prv, projectIdHeader: projectId }), 'private', 'private'],
    ['other project', () => ({ apiKey: prv, projectIdHeader: otherProjectId }), ...missing()],
    ['no project', () => ({ apiKey: prv, projectIdHeader: 'nope' }), ...missing()],
    [
      'bearer with its project',
      () => ({ authorization: `Bearer ${pub}`, projectIdHeader: projectId }),
      'public',
      'permission_denied',
    ],
    [
      'bearer with another',
      () => ({ authorization: `Bearer ${prv}`, projectIdHeader: otherProjectId }),
      ...missing(),
    ],
    [
      'a bad key with a project',
      () => ({ apiKey: revoked, projectIdHeader: otherProjectId }),
      ...same(),
    ],
  ];
  function same(): [string, string] {
    return ['unauthenticated', 'unauthenticated'];
  }
  function missing(): [string, string] {
    return ['not_found', 'not_found'];
  }

  it.each(rows)('%s', async (_, sent, onSdk, onShared) => {
    for (const method of sdk) expect(await verdict(method, sent())).toBe(onSdk);
    for (const method of shared) expect(await verdict(method, sent())).toBe(onShared);
  });

  it('says why, and never repeats what was sent', async () => {
    const messages: [string, Credentials, string][] = [
      [
        write,
        {},
        'no credential: send an API key as x-api-key: <key> or Authorization: Bearer <key>',
      ],
      [
        read,
        {},
        'no credential: a private key is needed, as x-api-key: <key> or Authorization: Bearer <key>',
      ],
      [
        read,
        { apiKeyParam: pub },
        'no credential: a private key is needed, as x-api-key: <key> or Authorization: Bearer <key>',
      ],
      [write, { apiKey: revoked }, 'the API key is not valid'],
      [
        write,
        { authorization: prv },
        'the authorization header is not valid: send Authorization: Bearer <key or token>',
      ],
      [write, { apiKeyParam: prv }, 'a private key must not be sent in the URL'],
      [read, { apiKey: pub }, 'a public key cannot call this method: a private key is needed'],
      [read, { apiKey: prv, projectIdHeader: 'nope' }, 'there is no such project'],
    ];
    for (const [method, sent, message] of messages) {
      expect(await authenticate(method, sent)).toMatchObject({ kind: 'refused', message });
    }
  });
});

describe('while the broker is silent', () => {
  it('refuses private keys, takes public ones, and takes both again afterwards', async () => {
    const tick = () => new Promise((resolve) => setTimeout(resolve, 20));
    broker.pause();
    try {
      while (projects.unconfirmedMs() <= staleAfterMs) await tick();
      expect(await verdict(write, { apiKey: prv })).toBe('unavailable');
      expect(await verdict(read, { apiKey: prv })).toBe('unavailable');
      expect(await verdict(write, { apiKey: pub })).toBe('public');
      expect(await verdict(write, { apiKey: 'prv_1' })).toBe('unauthenticated');
    } finally {
      broker.resume();
    }
    await expect.poll(() => verdict(read, { apiKey: prv })).toBe('private');
  });
});
