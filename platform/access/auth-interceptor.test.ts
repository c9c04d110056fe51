import { createServer, type RequestListener, type Server } from 'node:http';
import { gzipSync } from 'node:zlib';
import {
  Code,
  ConnectError,
  type ConnectRouter,
  createClient,
  createConnectRouter,
  type Transport,
} from '@connectrpc/connect';
import {
  connectNodeAdapter,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { EventsService } from '../../proto/gen/sdk/events/v1/events_pb.js';
import { ProfilesService } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { type HttpServer, startHttp } from '../http/http.ts';
import { checkAccessFirst, createAuthInterceptor, principalOf } from './auth-interceptor.ts';
import { type Authenticate, createAuthenticate } from './authenticate.ts';

// Two keys, without a broker: authenticate.test.ts tests the check itself.
const owner = { projectId: 'p', organizationId: 'o', keyId: 'k' };
const authenticate: Authenticate = createAuthenticate({
  findKey: (raw) => {
    if (raw !== 'public' && raw !== 'private') return { kind: 'unknown' };
    return { kind: 'found', owner: { ...owner, credential: raw } };
  },
  confirmKey: async () => ({ kind: 'unconfirmed' }),
});

let calls: string[] = [];

function register(router: ConnectRouter): void {
  router.service(EventsService, {
    batchCreate(_, context) {
      calls.push(`write ${principalOf(context).credential}`);
      return { accepted: 0 };
    },
  });
  router.service(ProfilesService, {
    get(_, context) {
      calls.push(`read ${principalOf(context).projectId}`);
      return {};
    },
  });
}

let http: HttpServer;
let url: string;

function listen(server: Server): Promise<string> {
  return new Promise((resolve) => {
    server.listen(0, '127.0.0.1', () => {
      const address = server.address();
      resolve(typeof address === 'object' ? `http://127.0.0.1:${address?.port}` : '');
    });
  });
}

beforeAll(async () => {
  http = await startHttp({
    host: '127.0.0.1',
    port: 0,
    nodeHttpRoutes: [],
    connect: {
      routes(router) {
        register(router);
        checkAccessFirst(router, authenticate);
      },
      interceptors: [createAuthInterceptor(authenticate)],
    },
    serviceAliases: new Map(),
  });
  url = `http://127.0.0.1:${http.port}`;
});

afterAll(() => http.close(0));

beforeEach(() => {
  calls = [];
});

const writePath = '/sdk.events.v1.EventsService/BatchCreate';
const readPath = '/shared.profiles.v1.ProfilesService/Get';

async function post(
  path: string,
  body: string | Uint8Array<ArrayBuffer>,
  headers: Record<string, string> = {},
) {
  const response = await fetch(url + path, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });
  const { code } = JSON.parse(await response.text());
  return `${response.status} ${code}`;
}

describe('in every protocol', () => {
  const transports: [string, () => Transport][] = [
    ['Connect JSON', () => createConnectTransport({ baseUrl: url, httpVersion: '1.1' })],
    [
      'Connect binary',
      () => createConnectTransport({ baseUrl: url, httpVersion: '1.1', useBinaryFormat: true }),
    ],
    ['gRPC', () => createGrpcTransport({ baseUrl: url })],
    ['gRPC-web', () => createGrpcWebTransport({ baseUrl: url, httpVersion: '1.1' })],
  ];

  it.each(transports)(
    '%s gives the handler its principal, or the caller the refusal',
    async (_, transport) => {
      const events = createClient(EventsService, transport());
      const profiles = createClient(ProfilesService, transport());
      const headers = (key: string) => ({ headers: { 'x-api-key': key } });
      await events.batchCreate({}, headers('public'));
      await profiles.get({}, headers('private'));
      expect(calls).toEqual(['write public', 'read p']);

      const refusals = [
        profiles.get({}),
        profiles.get({}, headers('public')),
        profiles.get({}, { headers: { 'x-api-key': 'private', 'x-project-id': 'q' } }),
      ].map((call) => call.then(() => 'ok', ConnectError.from));
      const codes = (await Promise.all(refusals)).map((error) =>
        error instanceof ConnectError ? [error.code, error.rawMessage] : error,
      );
      expect(codes).toEqual([
        [
          Code.Unauthenticated,
          'no credential: a private key is needed, as x-api-key: <key> or Authorization: Bearer <key>',
        ],
        [Code.PermissionDenied, 'a public key cannot call this method: a private key is needed'],
        [Code.NotFound, 'there is no such project'],
      ]);
      expect(calls.length).toBe(2);
    },
  );
});

describe('before the arguments', () => {
  it('come the credentials: a broken body is not looked at', async () => {
    expect(await post(readPath, '{', { 'x-api-key': 'private' })).toBe('400 invalid_argument');
    expect(await post(readPath, '{')).toBe('401 unauthenticated');
    expect(await post(readPath, '{', { 'x-api-key': 'public' })).toBe('403 permission_denied');
    const binary = { 'content-type': 'application/proto' };
    expect(await post(readPath, new Uint8Array([255]), binary)).toBe('401 unauthenticated');
  });

  it('come the credentials: size, encoding and time-out are not looked at', async () => {
    const large = `{"id":"${'x'.repeat(262_144)}"}`;
    const status = await post(readPath, large, { 'x-api-key': 'private' });
    expect(status).toBe('400 invalid_argument');
    expect(await post(readPath, large)).toBe('401 unauthenticated');
    const gzip = { 'content-encoding': 'gzip' };
    expect(await post(readPath, new Uint8Array(gzipSync(large)), gzip)).toBe('401 unauthenticated');
    expect(await post(readPath, '{}', { 'content-encoding': 'lzma' })).toBe('401 unauthenticated');
    for (const timeout of ['soon', '0']) {
      const headers = { 'connect-timeout-ms': timeout };
      expect(await post(readPath, '{}', headers)).toBe('401 unauthenticated');
    }
  });

  it('comes the URL: it may carry a public key, for SDK methods only', async () => {
    expect(await post(`${writePath}?api_key=public`, '{}')).toBe('200 undefined');
    expect(await post(`${readPath}?api_key=private`, '{}')).toBe('401 unauthenticated');
    expect(calls).toEqual(['write public']);
  });
});

describe('a handler that is set up wrongly', () => {
  it('is not registered without a row', () => {
    const router = createConnectRouter();
    const parent = { ...ProfilesService, typeName: 'x.v1.Unknown' };
    router.rpc({ ...ProfilesService.method.get, parent }, () => ({}));
    expect(() => checkAccessFirst(router, authenticate)).toThrow(
      'auth: x.v1.Unknown/Get has no row in the table of access',
    );
  });

  it('is closed where it was registered too late for the check before the body', async () => {
    const listener: RequestListener = connectNodeAdapter({
      routes: register,
      interceptors: [createAuthInterceptor(authenticate)],
    });
    const server = createServer(listener);
    const url = await listen(server);
    const call = (headers: Record<string, string>) =>
      fetch(url + readPath, {
        method: 'POST',
        body: '{}',
        headers: { 'content-type': 'application/json', ...headers },
      });
    expect((await call({})).status).toBe(401);
    expect((await call({ 'x-api-key': 'private' })).status).toBe(200);
    expect(calls).toEqual(['read p']);
    server.close();
    server.closeAllConnections();
  });

  it('has no principal where no interceptor has checked', async () => {
    const server = createServer(connectNodeAdapter({ routes: register }));
    const url = await listen(server);
    const headers = { 'content-type': 'application/json', 'x-api-key': 'private' };
    const response = await fetch(url + readPath, { method: 'POST', body: '{}', headers });
    expect(response.status).toBe(500);
    expect(calls).toEqual([]);
    server.close();
    server.closeAllConnections();
  });
});
