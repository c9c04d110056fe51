// Pages of other sites may call SDK methods with credentials, so a browser sends its cookies along. No cookie counts
// there, nor on any other method of the table of access: whatever it holds, the method answers as it does without. Two
// methods of AuthService look at one, and not for pages of other sites.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  accessRowOf,
  accessTable,
  serviceAliases,
  shortPaths,
} from '../platform/access/access-table.ts';
import { enveloped, RawClient, type Verdict, type Way } from './harness/clients/raw-call.ts';
import { definedServices } from './harness/defined-services.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

const authPath = '/public.auth.v1.AuthService';
const isOpen = (method: string): boolean =>
  accessRowOf(method)?.credentials.includes('none') ?? false;

/** Every method that a credential opens, by all its names. */
const methods = [...accessTable.keys()].filter((method) => !isOpen(method));
const aliases = [...serviceAliases].flatMap(([alias, name]) =>
  methods
    .filter((method) => method.startsWith(`${name}/`))
    .map((method) => alias + method.slice(name.length)),
);
const paths = [
  ...[...methods, ...aliases].map((method) => `/${method}`),
  ...shortPaths('/m').keys(),
];
const openPaths = [...accessTable.keys()].filter(isOpen).map((method) => `/${method}`);
const readCookies = ['RefreshToken', 'SignOut'].map((method) => `${authPath}/${method}`);
const streams = (await definedServices()).flatMap(({ typeName, methods }) =>
  methods
    .filter(({ methodKind }) => methodKind !== 'unary')
    .map(({ name }) => `${typeName}/${name}`),
);

let stack: Stack;
let client: RawClient;
/** What a browser sends that is signed in, and what somebody may have put into its cookies besides. */
let cookies: Record<string, string>;
let signedIn = '';
let accessToken = '';

beforeAll(async () => {
  stack = await startStack();
  client = new RawClient(stack.baseUrl);
  const admin = JSON.parse(readFileSync(join(stack.dataDir, 'demo-admin.json'), 'utf8'));
  const login = JSON.stringify({ email: admin.adminEmail, password: admin.adminPassword });
  const { headers, body } = await ownPage('SignIn', '', login);
  signedIn = cookieOf(headers);
  const refreshToken = signedIn.slice(signedIn.indexOf('=') + 1);
  ({ accessToken } = JSON.parse(body.toString()));
  cookies = {
    'its session': signedIn,
    'an access token': ['millrace_refresh', 'session', 'token', 'access_token', 'jwt']
      .map((name) => `${name}=${accessToken}`)
      .join('; '),
    'every credential by the name of its header': [
      `authorization=Bearer ${accessToken}`,
      `x-api-key=${stack.privateKey}`,
      `api_key=${stack.publicKey}`,
      `x-project-id=${stack.projectId}`,
      `x-session=cookie`,
      `refreshToken=${refreshToken}`,
    ].join('; '),
    'a key in place of a session': `millrace_refresh=${stack.privateKey}`,
    'no cookie at all': '',
  };
});
afterAll(async () => {
  client.close();
  await stack.stop();
});

/** A call of AuthService from the own pages. */
function ownPage(method: string, cookie: string, body: string) {
  const headers = {
    ...{ 'content-type': 'application/json', 'x-session': 'cookie', origin: stack.baseUrl },
    ...(cookie !== '' && { cookie }),
  };
  return client.send('1.1', 'POST', `${authPath}/${method}`, headers, Buffer.from(body));
}

function cookieOf(headers: Record<string, unknown>): string {
  const set = [headers['set-cookie']].flat().map(String);
  return set.find((text) => text.startsWith('millrace_refresh='))?.split(';')[0] ?? '';
}

const waysTo = (path: string): Way[] =>
  streams.includes(path.slice(1).replace(/^profiles\.v1\.ProfilesService/, 'shared.$&'))
    ? [
        { protocol: 'connect stream', format: 'json', http: '1.1' },
        { protocol: 'grpc', format: 'proto', http: '2' },
      ]
    : [
        { protocol: 'connect', format: 'json', http: '1.1' },
        { protocol: 'connect', format: 'json', http: '1.1 chunked' },
        { protocol: 'connect', format: 'json', http: '2' },
        { protocol: 'grpc-web', format: 'proto', http: '1.1' },
      ];

function call(way: Way, path: string, headers: Record<string, string>): Promise<Verdict> {
  const content = Buffer.from(way.format === 'json' ? '{}' : '');
  const body = way.protocol === 'connect' ? content : enveloped(content);
  return client.call(way, path, headers, body);
}

/** A call's answer, but for the time that it was given. */
function told({ status, code, message, body, headers }: Verdict): object {
  const { date: _, ...rest } = headers;
  return { status, code, message, body: body.toString('latin1'), headers: rest };
}

describe('a browser that is signed in', () => {
  it('has every method looked at, by all its names', () => {
    expect(paths.length + openPaths.length).toBeGreaterThan(accessTable.size);
    expect(openPaths).toEqual(expect.arrayContaining(readCookies));
    for (const path of ['/m', '/m/i', '/profiles.v1.ProfilesService/List']) {
      expect(paths).toContain(path);
    }
  });

  it.each(paths)('opens nothing at %s', async (path) => {
    const origins = { own: stack.baseUrl, foreign: 'https://elsewhere.example' };
    const opened: object[] = [];
    for (const way of waysTo(path)) {
      for (const [whose, origin] of [...Object.entries(origins), ['no', '']]) {
        const page = {
          ...(origin !== '' && { origin }),
          'sec-fetch-site': whose === 'foreign' ? 'cross-site' : 'same-origin',
          'x-project-id': stack.projectId,
          // A stream that opened would not end by itself.
          ...(way.protocol.startsWith('grpc')
            ? { 'grpc-timeout': '5S' }
            : { 'connect-timeout-ms': '5000' }),
        };
        const without = told(await call(way, path, page));
        expect(without).toMatchObject({ code: 'unauthenticated' });
        for (const [name, cookie] of Object.entries(cookies)) {
          for (const session of [{}, { 'x-session': 'cookie' }]) {
            const sent = { ...page, ...session, ...(cookie !== '' && { cookie }) };
            const answer = told(await call(way, path, sent));
            if (JSON.stringify(answer) === JSON.stringify(without)) continue;
            opened.push({ way, whose, name, session, answer });
          }
        }
      }
    }
    expect(opened).toEqual([]);
  });

  it.each(openPaths)('changes nothing of what everybody is answered at %s', async (path) => {
    const way: Way = { protocol: 'connect', format: 'json', http: '1.1' };
    for (const origin of [stack.baseUrl, 'https://elsewhere.example']) {
      const isForeign = origin !== stack.baseUrl;
      const page = { origin, 'sec-fetch-site': isForeign ? 'cross-site' : 'same-origin' };
      const without = told(await call(way, path, page));
      for (const cookie of [
        signedIn,
        cookies['every credential by the name of its header'] ?? '',
      ]) {
        expect(told(await call(way, path, { ...page, cookie }))).toEqual(without);
        if (!isForeign && readCookies.includes(path)) continue;
        const session = { ...page, 'x-session': 'cookie' };
        const sent = told(await call(way, path, { ...session, cookie }));
        expect(sent).toEqual(told(await call(way, path, session)));
      }
    }
  });

  it('is allowed credentials by SDK methods, to pages of other sites', async () => {
    const headers = { origin: 'https://elsewhere.example' };
    const way: Way = { protocol: 'connect', format: 'json', http: '1.1' };
    for (const path of ['/m', '/sdk.events.v1.EventsService/BatchCreate']) {
      const answer = await call(way, path, headers);
      expect(answer.headers['access-control-allow-credentials']).toBe('true');
    }
  });

  it('may send events of long ago by its token in the header, which is as good as a private key', async () => {
    const event = {
      eventId: crypto.randomUUID(),
      kind: 'click',
      occurTime: '2001-01-01T00:00:00Z',
    };
    const whose = { distinctId: 'u', sessionId: crypto.randomUUID() };
    const body = Buffer.from(JSON.stringify({ events: [{ ...event, ...whose }] }));
    const json = { 'content-type': 'application/json', 'x-project-id': stack.projectId };
    const send = (credential: Record<string, string>) =>
      client.send('1.1', 'POST', '/m', { ...json, ...credential }, body);
    expect(await send({ authorization: `Bearer ${accessToken}` })).toMatchObject({ status: 200 });
    expect(await send({ 'x-api-key': stack.publicKey })).toMatchObject({ status: 400 });
  });

  it('was signed in, and still is', async () => {
    expect(signedIn).toMatch(/^millrace_refresh=.{40}/);
    expect(await ownPage('RefreshToken', signedIn, '{}')).toMatchObject({ status: 200 });
  });
});
