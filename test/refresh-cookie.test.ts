// A browser sends its cookies wherever it is told to. A refresh token in the cookie of a session therefore opens no
// method that a key or an access token opens, in any protocol, and no other site may call these methods at all.

import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { create, type DescMethod, type DescService } from '@bufbuild/protobuf';
import { Code, createClient, type Interceptor, type Transport } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { AuthService } from '../proto/gen/public/auth/v1/auth_pb.js';
import { definedServices } from './harness/defined-services.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

const services = await definedServices();
const isOpen = ({ typeName }: DescService): boolean => typeName.startsWith('public.');
const isOfSdks = ({ typeName }: DescService): boolean => /^(sdk|events)\./.test(typeName);
const pathOf = (service: DescService, method: DescMethod): string =>
  `/${service.typeName}/${method.name}`;

let stack: Stack;
let refreshToken: string;
beforeAll(async () => {
  stack = await startStack();
  const admin = JSON.parse(readFileSync(join(stack.dataDir, 'demo-admin.json'), 'utf8'));
  const login = { email: admin.adminEmail, password: admin.adminPassword };
  ({ refreshToken } = await auth().signIn(login));
});
afterAll(async () => {
  await stack.stop();
});

const auth = () =>
  createClient(AuthService, createConnectTransport({ baseUrl: stack.baseUrl, httpVersion: '1.1' }));

/** As a browser sends it from the dashboard's own pages. */
function session(): Record<string, string> {
  return {
    cookie: `a=b; millrace_refresh=${refreshToken}`,
    'x-session': 'cookie',
    'x-project-id': stack.projectId,
    origin: stack.baseUrl,
    'sec-fetch-site': 'same-origin',
  };
}

const withSession: Interceptor = (next) => (request) => {
  for (const [name, value] of Object.entries(session())) request.header.set(name, value);
  return next(request);
};

const transports: [string, () => Transport][] = [
  ['Connect', () => createConnectTransport({ ...calling(), httpVersion: '1.1' })],
  ['Connect over HTTP/2', () => createConnectTransport({ ...calling(), httpVersion: '2' })],
  ['gRPC', () => createGrpcTransport(calling())],
  ['gRPC-web', () => createGrpcWebTransport({ ...calling(), httpVersion: '1.1' })],
];
const calling = () => ({ baseUrl: stack.baseUrl, interceptors: [withSession] });

describe('a valid refresh token in a cookie', () => {
  it.each(transports)('opens no method over %s', async (_name, transport) => {
    const opened: string[] = [];
    const protectedServices = services.filter((service) => !isOpen(service));
    expect(protectedServices.length).toBeGreaterThan(5);
    for (const service of protectedServices) {
      const client: Record<string, (request: object) => unknown> = createClient(
        service,
        transport(),
      );
      for (const method of service.methods) {
        const code = await codeOf(() => client[method.localName]?.(create(method.input)));
        if (code !== Code.Unauthenticated) opened.push(`${pathOf(service, method)}: ${code}`);
      }
    }
    expect(opened).toEqual([]);
  });

  it('is no key on the paths that read plain requests and beacons', async () => {
    const wanted: string[] = [];
    const got: string[] = [];
    for (const service of services.filter(isOfSdks)) {
      for (const method of service.methods) {
        for (const type of ['application/json', 'application/proto', 'text/plain']) {
          for (const query of ['', `?api_key=${refreshToken}`]) {
            const path = pathOf(service, method) + query;
            const { status } = await fetch(stack.baseUrl + path, {
              method: 'POST',
              headers: { ...session(), 'content-type': type },
              body: '{"events":[]}',
            });
            // Without a key in the address, plain text is no call of the interface at all.
            const isCall = type !== 'text/plain' || query !== '';
            wanted.push(`${path} ${type}: ${isCall ? 401 : 415}`);
            got.push(`${path} ${type}: ${status}`);
          }
        }
      }
    }
    expect(got).toEqual(wanted);
  });

  it('was valid, and is not spent', async () => {
    const renewed = await auth().refreshToken({ refreshToken });
    expect(renewed.accessToken).not.toBe('');
    refreshToken = renewed.refreshToken;
  });
});

describe('another site', () => {
  const methods = services
    .filter((service) => !isOfSdks(service))
    .flatMap((service) =>
      [...service.methods, { name: 'NoSuchMethod' }].map(
        ({ name }) => `/${service.typeName}/${name}`,
      ),
    );

  it('may call no method of accounts, of the dashboard or of shared services', async () => {
    expect(methods.length).toBeGreaterThan(30);
    const allowed: string[] = [];
    for (const path of methods) {
      for (const method of ['OPTIONS', 'POST']) {
        const { headers } = await fetch(stack.baseUrl + path, {
          method,
          headers: {
            ...session(),
            origin: 'https://elsewhere.example',
            'sec-fetch-site': 'cross-site',
            'access-control-request-method': 'POST',
            'access-control-request-headers': 'content-type,x-session',
            ...(method === 'POST' && { 'content-type': 'application/json' }),
          },
          ...(method === 'POST' && { body: '{}' }),
        });
        for (const [name] of headers) {
          if (name.startsWith('access-control-')) allowed.push(`${method} ${path}: ${name}`);
        }
      }
    }
    expect(allowed).toEqual([]);
  });

  it('may call methods of SDKs, by their keys', async () => {
    const path = '/sdk.events.v1.EventsService/BatchCreate';
    const preflight = await fetch(stack.baseUrl + path, { method: 'OPTIONS', headers: session() });
    expect(preflight.headers.has('access-control-allow-origin')).toBe(true);
  });
});

/** Undefined where the call succeeds. */
async function codeOf(call: () => unknown): Promise<Code | undefined> {
  try {
    const answer = call();
    if (isStream(answer)) for await (const _ of answer) break;
    else await answer;
    return undefined;
  } catch (error) {
    const code: unknown = Reflect.get(Object(error), 'code');
    return typeof code === 'number' ? code : Code.Unknown;
  }
}

function isStream(answer: unknown): answer is AsyncIterable<unknown> {
  return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
}
