// Every way into the port beside every fault of a request: the same code in each protocol, format and version of HTTP,
// for each class of service, by both names of a service, with and without a credential.

import { once } from 'node:events';
import { connect } from 'node:http2';
import { gzipSync } from 'node:zlib';
import { type DescMessage, fromJsonString, toBinary } from '@bufbuild/protobuf';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessRowOf, shortPaths } from '../platform/access/access-table.ts';
import type { RowReader } from '../platform/clickhouse/select-rows.ts';
import * as orgs from '../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import * as plain from '../proto/gen/events/v1/events_pb.js';
import * as auth from '../proto/gen/public/auth/v1/auth_pb.js';
import * as typed from '../proto/gen/sdk/events/v1/events_pb.js';
import * as sdk from '../proto/gen/sdk/profiles/v1/profiles_pb.js';
import * as profiles from '../proto/gen/shared/profiles/v1/profiles_pb.js';
import { dial } from './harness/clients/dial.ts';
import {
  contentTypeOf,
  encodingHeader,
  enveloped,
  RawClient,
  type Way,
} from './harness/clients/raw-call.ts';
import { shortBody, typedBody, valueBody } from './harness/requests/event-text.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
} from './harness/services/accounts.ts';
import {
  freeze,
  type IngestService,
  startIngestService,
} from './harness/services/ingest-service.ts';
import { startReadService } from './harness/services/read-service.ts';

let ingest: IngestService;
let accounts: AccountsProcess;
let clients: Record<Target['at'], RawClient>;
let credentials: Record<Target['at'], Record<string, string>>;

beforeAll(async () => {
  ingest = await startIngestService({ publishDeadlineMs: 600_000 });
  accounts = await startAccounts({ brokerUrl: ingest.broker.url });
  const customer = await newCustomer(accounts);
  clients = { ingest: new RawClient(ingest.baseUrl), accounts: new RawClient(accounts.baseUrl) };
  credentials = {
    ingest: { 'x-api-key': ingest.publicKey },
    accounts: bearer(customer, customer.projectId),
  };
  organizationId = customer.orgId;
});

afterAll(async () => {
  for (const client of Object.values(clients)) client.close();
  await accounts.close();
  await ingest.stop();
});

interface Target {
  at: 'ingest' | 'accounts';
  path: string;
  input: DescMessage;
  isStream?: boolean;
  json: () => string;
  /** Binary, with a text that is not UTF-8. */
  badText: string;
}

let organizationId = '';
const badText = '0a01ff';
const identify = { input: sdk.IdentifyRequestSchema, json: () => '{"externalId":"u"}', badText };
const getProfile = {
  input: profiles.GetRequestSchema,
  json: () => `{"id":"${'0'.repeat(32)}"}`,
  badText,
};
const targets: Target[] = [
  {
    at: 'ingest',
    path: '/sdk.events.v1.EventsService/BatchCreate',
    input: typed.BatchCreateRequestSchema,
    json: () => typedBody(),
    badText: '0a030a01ff',
  },
  {
    at: 'ingest',
    path: '/events.v1.EventsService/BatchCreate',
    input: plain.BatchCreateRequestSchema,
    json: () => shortBody('"k":1'),
    badText: '0a030a01ff',
  },
  {
    at: 'ingest',
    path: '/m',
    input: typed.BatchCreateRequestSchema,
    json: () => typedBody(),
    badText: '0a030a01ff',
  },
  { at: 'ingest', path: '/m/i', ...identify },
  { at: 'ingest', path: '/sdk.profiles.v1.ProfilesSDKService/Identify', ...identify },
  { at: 'ingest', path: '/profiles.v1.ProfilesSDKService/Identify', ...identify },
  {
    at: 'accounts',
    path: '/public.auth.v1.AuthService/SignOut',
    input: auth.SignOutRequestSchema,
    json: () => '{"refreshToken":"unknown"}',
    badText,
  },
  {
    at: 'accounts',
    path: '/dashboard.orgs.v1.OrgsService/Get',
    input: orgs.GetRequestSchema,
    json: () => JSON.stringify({ orgId: organizationId }),
    badText,
  },
  { at: 'accounts', path: '/shared.profiles.v1.ProfilesService/Get', ...getProfile },
  { at: 'accounts', path: '/profiles.v1.ProfilesService/Get', ...getProfile },
  {
    at: 'accounts',
    path: '/shared.profiles.v1.ProfilesService/List',
    input: profiles.ListRequestSchema,
    isStream: true,
    json: () => '{}',
    badText,
  },
];

const ways: Way[] = (['connect', 'connect stream', 'grpc', 'grpc-web'] as const).flatMap(
  (protocol) =>
    (['json', 'proto'] as const).flatMap((format) =>
      (['1.1', '1.1 chunked', '2'] as const)
        // gRPC needs HTTP/2; only unary Connect has a fast path for bodies of known length.
        .filter((http) => protocol !== 'grpc' || http === '2')
        .filter((http) => protocol === 'connect' || http !== '1.1 chunked')
        .map((http) => ({ protocol, format, http })),
    ),
);

/** A second name takes the same ways as the first one: a version of HTTP is enough. */
const waysTo = ({ path, isStream = false }: Target): Way[] =>
  ways
    .filter(({ protocol }) => protocol !== (isStream ? 'connect' : 'connect stream'))
    .filter(({ http }) => !path.startsWith('/profiles.v1.') || http === '2');

interface Sent {
  body: Buffer;
  headers?: Record<string, string>;
}

/** Made once: compressing one takes longer than sending it. */
const largeBodies = new Map<string, { plain: Buffer; gzip: Buffer }>();

/** A message a little beyond the limit. */
function largeBody(format: Way['format'], maxBytes: number): { plain: Buffer; gzip: Buffer } {
  const name = `${format} ${maxBytes}`;
  const known = largeBodies.get(name);
  if (known !== undefined) return known;
  const plain =
    format === 'json'
      ? Buffer.from(`{"x":"${' '.repeat(maxBytes)}"}`)
      : Buffer.concat([Buffer.from('7a808080', 'hex'), Buffer.alloc(maxBytes)]);
  const made = { plain, gzip: gzipSync(plain) };
  largeBodies.set(name, made);
  return made;
}

/** Requests that are all invalid, by their fault. `whole` is the message that the method takes. */
function faulty(way: Way, target: Target, whole: Buffer): Record<string, Sent> {
  const put = (message: Uint8Array) => ({ body: wrap(way, message) });
  const zipped = (message: Uint8Array) => ({
    body: way.protocol === 'connect' ? Buffer.from(message) : enveloped(message, 1),
    headers: { [encodingHeader(way)]: 'gzip' },
  });
  const path = shortPaths('/m').get(target.path) ?? target.path;
  const maxBytes = accessRowOf(path.slice(1))?.maxBodyBytes ?? 0;
  const isJson = way.format === 'json';
  const large = largeBody(way.format, maxBytes);
  const timeout = way.protocol.startsWith('grpc') ? 'grpc-timeout' : 'connect-timeout-ms';
  return {
    ...(isJson
      ? {
          'no JSON': put(Buffer.from('{')),
          'no object': put(Buffer.from('[]')),
          'invalid UTF-8': put(Buffer.from('{"x":"\xff"}', 'latin1')),
        }
      : {
          'no protobuf': put(Buffer.from('0aff', 'hex')),
          'a varint of eleven bytes': put(Buffer.from(`78${'ff'.repeat(11)}`, 'hex')),
          'invalid UTF-8': put(Buffer.from(target.badText, 'hex')),
        }),
    'gzip that is cut': zipped(gzipSync(whole).subarray(0, -9)),
    'no gzip': zipped(Buffer.from('no gzip')),
    'too large': put(large.plain),
    'too large, in gzip': zipped(large.gzip),
    'another version of Connect': { ...put(whole), headers: { 'connect-protocol-version': '2' } },
    'a malformed time-out': { ...put(whole), headers: { [timeout]: 'soon' } },
    ...(way.protocol !== 'connect' && {
      'a cut envelope': { body: enveloped(whole).subarray(0, 3) },
      'a cut message': { body: enveloped(whole, 0, whole.length + 1) },
      'a promise beyond the limit': { body: enveloped(whole, 0, 0xffff_ffff) },
      'gzip that no header names': { body: enveloped(gzipSync(whole), 1) },
    }),
  };
}

/** Requests that are unusual and valid. */
function unusual(way: Way, whole: Buffer): Record<string, Sent> {
  const sent = { body: wrap(way, whole) };
  const isGrpc = way.protocol.startsWith('grpc');
  const timeouts = isGrpc ? ['2147484S', '99999999H'] : ['2147483648', '9999999999'];
  const types = ['; charset="utf-8"', ';charset=UTF-8', ' ; charset=utf-8'];
  const name = isGrpc ? 'grpc-timeout' : 'connect-timeout-ms';
  return {
    usual: sent,
    'version 1': { ...sent, headers: { 'connect-protocol-version': '1' } },
    gzip: {
      body: way.protocol === 'connect' ? gzipSync(whole) : enveloped(gzipSync(whole), 1),
      headers: { [encodingHeader(way)]: 'gzip' },
    },
    ...Object.fromEntries(
      timeouts.map((timeout) => [`time-out ${timeout}`, { ...sent, headers: { [name]: timeout } }]),
    ),
    ...(way.format === 'json' && {
      'a byte order mark': { body: wrap(way, Buffer.concat([Buffer.from('\ufeff'), whole])) },
      ...Object.fromEntries(
        types.map((charset) => {
          const type = `${contentTypeOf(way)}${charset}`;
          return [type, { ...sent, headers: { 'content-type': type } }];
        }),
      ),
    }),
  };
}

function wrap({ protocol }: Way, message: Uint8Array): Buffer {
  return protocol === 'connect' ? Buffer.from(message) : enveloped(message);
}

function wholeOf(target: Target, { format }: Way): Buffer {
  const text = target.json();
  if (format === 'json') return Buffer.from(text);
  return Buffer.from(toBinary(target.input, fromJsonString(target.input, text)));
}

/** The codes of the answers, by the requests' names. */
async function codesOf(
  target: Target,
  way: Way,
  requests: Record<string, Sent>,
  credential: Record<string, string>,
): Promise<Record<string, string>> {
  const codes: Record<string, string> = {};
  for (const [name, { body, headers }] of Object.entries(requests)) {
    const answer = await clients[target.at].call(
      way,
      target.path,
      { ...credential, ...headers },
      body,
    );
    codes[name] = answer.code;
  }
  return codes;
}

const all = (requests: Record<string, Sent>, code: string): Record<string, string> =>
  Object.fromEntries(Object.keys(requests).map((name) => [name, code]));

const isOpen = ({ path }: Target): boolean => path.startsWith('/public.');

describe.each(targets)('$path', (target) => {
  it.each(waysTo(target))('$protocol, $format, HTTP/$http', async (way) => {
    const whole = wholeOf(target, way);
    const credential = isOpen(target) ? {} : credentials[target.at];
    const faults = faulty(way, target, whole);
    expect(await codesOf(target, way, faults, credential)).toEqual(all(faults, 'invalid_argument'));
    const fine = unusual(way, whole);
    expect(await codesOf(target, way, fine, credential)).toEqual(all(fine, 'ok'));
    if (isOpen(target)) return;
    // Access is checked before arguments. A long body is left unread then, which takes its connection seconds to end.
    const short = Object.entries(faults).filter(([, { body }]) => body.length < 1_048_576);
    const refused = { ...Object.fromEntries(short), ...fine };
    expect(await codesOf(target, way, refused, {})).toEqual(all(refused, 'unauthenticated'));
  });

  it.each(waysTo(target))('no time at all: $protocol, $format, HTTP/$http', async (way) => {
    const [name, value] = way.protocol.startsWith('grpc')
      ? ['grpc-timeout', '0m']
      : ['connect-timeout-ms', '0'];
    const requests = {
      call: { body: wrap(way, wholeOf(target, way)), headers: { [name]: value } },
    };
    const credential = isOpen(target) ? {} : credentials[target.at];
    expect(await codesOf(target, way, requests, credential)).toEqual({ call: 'deadline_exceeded' });
  });

  const versions = ['1.1', '2'] as const;
  it.each(versions)('another HTTP method, over HTTP/%s', async (http) => {
    for (const method of ['GET', 'PUT', 'DELETE', 'HEAD']) {
      const answer = await clients[target.at].send(http, method, target.path, {});
      expect(answer).toMatchObject({ status: 405, headers: { allow: 'POST' } });
      if (method === 'HEAD') continue;
      expect(JSON.parse(answer.body.toString())).toMatchObject({ code: 'unimplemented' });
    }
  });

  const foreign = target.isStream
    ? ['text/plain', 'application/json', 'application/proto']
    : ['text/plain', 'application/connect+json', 'application/connect+proto'];
  it.each(versions)('another content type, over HTTP/%s', async (http) => {
    const { isStream = false } = target;
    const own = isStream ? 'application/connect+json' : 'application/json';
    for (const type of foreign) {
      const headers = { ...credentials[target.at], 'content-type': type };
      const body = Buffer.from('{}');
      const answer = await clients[target.at].send(http, 'POST', target.path, headers, body);
      expect(answer.status).toBe(415);
      expect(answer.headers['accept-post']).toContain(`${own}, `);
      const { code, message } = JSON.parse(answer.body.toString());
      expect([code, message]).toEqual(['invalid_argument', expect.stringContaining(own)]);
      const answersWith = isStream ? 'answers with a stream' : 'answers with one message';
      if (type !== 'text/plain') expect(message).toContain(answersWith);
    }
  });
});

// The router's adapter threw where nobody caught it, and that ended the process.
describe('a Host that makes no URL is invalid', () => {
  const hosts = ['[', 'a b', 'a:b', '%', ''];
  const heads = hosts.map((host) => `HTTP/1.1\r\nhost: ${host}`);
  it.each(['HTTP/1.0', ...heads])('%j', async (head) => {
    for (const { at, path } of targets) {
      const { port } = new URL({ ingest, accounts }[at].baseUrl);
      const { socket, received, closed } = dial(Number(port));
      const type = 'content-type: application/grpc-web+proto';
      socket.write(
        `POST ${path} ${head}\r\n${type}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n`,
      );
      await closed;
      expect(received()).toMatch(/^HTTP\/1.1 400 [\s\S]*"code":"invalid_argument"/);
    }
  });

  it('over HTTP/2; a host beside no authority is taken', async () => {
    const headers = { ...credentials.accounts, 'content-type': 'application/json' };
    const path = '/shared.profiles.v1.ProfilesService/Get';
    for (const [host, status] of [
      ['a:b', 400],
      ['localhost', 200],
    ] as const) {
      for (const field of [':authority', 'host']) {
        const session = connect(accounts.baseUrl);
        const fields = { ...headers, ':method': 'POST', ':path': path, [field]: host };
        const stream = session.request(fields).end('{}');
        const [answer] = await once(stream, 'response');
        expect([host, field, answer[':status']]).toEqual([host, field, status]);
        session.destroy();
      }
    }
  });
});

describe('JSON in envelopes keeps the rules of the fast path', () => {
  const inEnvelopes = ways.filter(
    ({ protocol, format }) => protocol.startsWith('grpc') && format === 'json',
  );
  const [events, shortEvents, identifies] = targets;
  const broken: [Target | undefined, string, string][] = [
    [events, valueBody('{"timestampValue":"2026-02-30T00:00:00Z"}'), 'RFC 3339'],
    [events, typedBody({ occurTime: '"2026-02-30T00:00:00Z"' }), 'RFC 3339'],
    [events, valueBody('{"intValue":9007199254740993}'), 'int'],
    [events, valueBody('{"doubleValue":"NaN"}'), 'finite'],
    [events, '{"events":[],"events":[]}', 'given twice'],
    [shortEvents, shortBody('"k":9007199254740993'), 'int'],
    [identifies, '{"externalId":"u","traits":{"a":1,"a":2}}', 'given twice'],
  ];

  it.each(inEnvelopes)('$protocol, HTTP/$http', async (way) => {
    for (const [target, json, rule] of broken) {
      if (target === undefined) throw new Error('no target');
      const { path } = target;
      const headers = credentials.ingest;
      const sent = enveloped(Buffer.from(json));
      const answer = await clients.ingest.call(way, path, headers, sent);
      expect([json, answer.code]).toEqual([json, 'invalid_argument']);
      expect(answer.message).toContain(rule);
      const unary: Way = { protocol: 'connect', format: 'json', http: way.http };
      const fast = await clients.ingest.call(unary, path, headers, Buffer.from(json));
      expect(fast.message).toBe(answer.message);
    }
  });

  it('is queued as it was sent, and may be as large', async () => {
    const json = typedBody({
      unknown: `"${'x'.repeat(2_000_000)}"`,
      occurTime: `"${new Date().toISOString().slice(0, 19)}.000000001Z"`,
    });
    const way: Way = { protocol: 'grpc', format: 'json', http: '2' };
    const { path = '' } = events ?? {};
    const sent = enveloped(Buffer.from(json));
    expect(await clients.ingest.call(way, path, credentials.ingest, sent)).toMatchObject({
      code: 'ok',
    });
    const queued = (await ingest.queued()).at(-1);
    expect(Buffer.from(queued?.body ?? []).toString()).toBe(json);
  });
});

describe('the caller’s own time-out', () => {
  const soon = { 'connect-timeout-ms': '50', 'grpc-timeout': '50m' };

  it('ends a call whose work takes longer', async () => {
    const body = JSON.stringify({ email: 'late@example.com', password: 'correct horse' });
    const codes = ways
      .filter(({ protocol, format }) => protocol !== 'connect stream' && format === 'json')
      .map(async (way) => {
        const path = '/public.auth.v1.AuthService/SignIn';
        const headers = { 'connect-timeout-ms': '1', 'grpc-timeout': '1m' };
        const sent = wrap(way, Buffer.from(body));
        return (await clients.accounts.call(way, path, headers, sent)).code;
      });
    expect(new Set(await Promise.all(codes))).toEqual(new Set(['deadline_exceeded']));
  });

  it('ends a read, and a stream, whose store does not answer', async () => {
    const silent: RowReader = {
      select: ({ signal }) =>
        new Promise((_, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason));
        }),
    };
    // The reader stands in front of the store, which is never asked.
    const reads = await startReadService({ clickhouseUrl: ingest.baseUrl, reader: () => silent });
    const client = new RawClient(reads.baseUrl);
    const calls = targets
      .filter(({ path }) => path.startsWith('/shared.'))
      .flatMap((target) => waysTo(target).map((way) => ({ target, way })))
      .map(async ({ target, way }, index) => {
        const body = wrap(way, wholeOf(target, way));
        // One project may not have so many streams open.
        const headers = { ...soon, 'x-test-project': `p${index}` };
        return (await client.call(way, target.path, headers, body)).code;
      });
    expect(new Set(await Promise.all(calls))).toEqual(new Set(['deadline_exceeded']));
    client.close();
    await reads.stop();
  });

  it('ends a write whose broker is frozen', async () => {
    await freeze(ingest.broker, ingest.nats);
    const calls = targets
      .filter(({ at }) => at === 'ingest')
      .flatMap((target) => waysTo(target).map((way) => ({ target, way })))
      .map(async ({ target, way }) => {
        const body = wrap(way, wholeOf(target, way));
        const headers = { ...soon, ...credentials.ingest };
        return (await clients.ingest.call(way, target.path, headers, body)).code;
      });
    const codes = await Promise.all(calls);
    ingest.broker.resume();
    expect(new Set(codes)).toEqual(new Set(['deadline_exceeded']));
  });
});
