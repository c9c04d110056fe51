// Identify and Alias through real HTTP and a real broker: rules, encodings, the queued change.

import { create, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { Code, createClient, type Interceptor } from '@connectrpc/connect';
import { createConnectTransport, createGrpcTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { metricValue } from '../../platform/metrics.ts';
import {
  IdentifyRequestSchema,
  ProfilesSDKService,
} from '../../proto/gen/sdk/profiles/v1/profiles_pb.js';
import { decodeChange } from '../../proto/wire/profile-change.ts';
import {
  type IngestService,
  startIngestService,
} from '../../test/harness/services/ingest-service.ts';

const path = '/sdk.profiles.v1.ProfilesSDKService/Identify';
const aliasPath = '/sdk.profiles.v1.ProfilesSDKService/Alias';
const device = '6F1C2C55-0f4e-4a63-9d6a-0c1f5f4f2b11';

let service: IngestService;
beforeAll(async () => {
  service = await startIngestService();
});
afterAll(() => service.stop());

interface Answer {
  status: number;
  body: unknown;
}

async function post(
  body: unknown,
  target = path,
  headers: Record<string, string> = {},
): Promise<Answer> {
  const response = await fetch(service.baseUrl + target, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': service.publicKey, ...headers },
    body:
      typeof body === 'string' || body instanceof Uint8Array
        ? Buffer.from(body)
        : JSON.stringify(body),
  });
  const bytes = Buffer.from(await response.arrayBuffer());
  const isJson = response.headers.get('content-type') === 'application/json';
  return { status: response.status, body: isJson ? JSON.parse(bytes.toString()) : bytes };
}

/** The change that the last request queued. */
async function lastChange(): Promise<unknown> {
  const queued = await service.queued('PROFILES_0');
  const last = queued.at(-1);
  if (last === undefined) throw new Error('nothing is queued');
  expect(last.context.projectId).toBe(service.projectId);
  return decodeChange(last.body);
}

describe('Identify', () => {
  it('queues its fields in either spelling, traits as exact JSON texts', async () => {
    const traits = `{"n": 1.50, "s": "\\u00fc\\"", "o": {"a": [1, null, {"b": true}]}, "z": null, "": 0, "__proto__": 1}`;
    const body = `{"external_id":"ü","traits":${traits},"anonymous_id":"anon-1","device_id":"${device}","more":[1]}`;
    expect(await post(body)).toEqual({ status: 200, body: {} });
    expect(await lastChange()).toEqual({
      kind: 'identify',
      externalId: 'ü',
      anonymousId: 'anon-1',
      deviceId: device,
      traits: [
        ['n', '1.5'],
        ['s', '"ü\\""'],
        ['o', '{"a":[1,null,{"b":true}]}'],
        ['z', 'null'],
        ['', '0'],
        ['__proto__', '1'],
      ],
    });
    const once = '{"externalId":"ü","traits_once":{"n":1.50,"$ip":"192.0.2.7"}}';
    expect(await post(once)).toEqual({ status: 200, body: {} });
    expect(await lastChange()).toMatchObject({ traits: [], traitsOnce: [['n', '1.5']] });
    expect(await post({ externalId: 'x' }, '/profiles.v1.ProfilesSDKService/Identify')).toEqual({
      status: 200,
      body: {},
    });
  });

  it('reads binary protobuf alike', async () => {
    const traits: JsonObject = { a: 1, b: { c: [null] } };
    const message = create(IdentifyRequestSchema, {
      externalId: 'b',
      traits,
      anonymousId: 'anon-b',
    });
    const answer = await post(toBinary(IdentifyRequestSchema, message), path, {
      'content-type': 'application/proto',
    });
    expect(answer).toEqual({ status: 200, body: Buffer.alloc(0) });
    expect(await lastChange()).toMatchObject({
      externalId: 'b',
      traits: [
        ['a', '1'],
        ['b', '{"c":[null]}'],
      ],
    });
  });

  const withAddresses: JsonObject = {
    $ip: '203.0.113.7',
    plan: 'pro',
    device: { $ip: { v4: '203.0.113.7' }, seen: [{ $ip: ['203.0.113.7'], at: 1 }] },
  };
  const binary = toBinary(
    IdentifyRequestSchema,
    create(IdentifyRequestSchema, { externalId: 'ip', traits: withAddresses }),
  );
  // The key is escaped, so that no search of the body's text finds it.
  const json = JSON.stringify({ externalId: 'ip', traits: withAddresses }).replace(
    /\$ip/g,
    '\\u0024ip',
  );
  const secondPath = '/profiles.v1.ProfilesSDKService/Identify';
  it.each([
    ['JSON', json, path, 'application/json'],
    ['JSON, by the second name', json, secondPath, 'application/json'],
    ['binary', binary, path, 'application/proto'],
    ['binary, by the second name', binary, secondPath, 'application/proto'],
  ])('queues no address that traits name as $ip, at any depth: %s', async (_, body, to, type) => {
    expect(await post(body, to, { 'content-type': type })).toMatchObject({ status: 200 });
    expect(await lastChange()).toMatchObject({
      traits: [
        ['plan', '"pro"'],
        ['device', '{"seen":[{"at":1}]}'],
      ],
    });
  });

  const many = Object.fromEntries(Array.from({ length: 257 }, (_, index) => [`k${index}`, 1]));
  const refused: [string, string | object, string][] = [
    ['no body', '', 'body: must be valid JSON, the text ends too early, at byte 0'],
    ['no object', '[]', 'body: must be a JSON object'],
    [
      'half a pair',
      '{"externalId":"\\ud800"}',
      'externalId: must not escape half of a surrogate pair',
    ],
    ['no id', {}, 'externalId: is required'],
    ['an empty id', { externalId: '' }, 'externalId: is required'],
    ['a null id', { externalId: null }, 'externalId: is required'],
    ['a number', { externalId: 1 }, 'externalId: must be a string'],
    [
      'a reserved id',
      { externalId: 'cookieless-x' },
      'externalId: must not start with cookieless-',
    ],
    [
      'a long id',
      { externalId: '😀'.repeat(513) },
      'externalId: must have at most 512 code points',
    ],
    [
      'two spellings',
      { externalId: 'a', external_id: 'a' },
      'externalId: must be given in one spelling, not in snake_case and camelCase at once',
    ],
    [
      'a member twice',
      '{"externalId":"a","externalId":"b"}',
      'externalId: must not be given twice',
    ],
    [
      'a trait twice',
      '{"externalId":"a","traits":{"x":1,"x":2}}',
      'traits: must not be given twice',
    ],
    [
      'another prefix',
      { externalId: 'a', anonymousId: 'user-1' },
      'anonymousId: must be empty or start with anon-',
    ],
    [
      'the prefix in capitals',
      { externalId: 'a', anonymousId: 'Anon-1' },
      'anonymousId: must be empty or start with anon-',
    ],
    [
      'a long anonymous id',
      { externalId: 'a', anonymousId: `anon-${'x'.repeat(251)}` },
      'anonymousId: must have at most 255 characters',
    ],
    [
      'a long device',
      { externalId: 'a', deviceId: `${device}0` },
      'deviceId: must have at most 36 characters',
    ],
    [
      'a device that is no UUID',
      { externalId: 'a', deviceId: 'phone' },
      'deviceId: must be a UUID',
    ],
    ['traits that are a list', { externalId: 'a', traits: [] }, 'traits: must be an object'],
    ['traits that are a text', { externalId: 'a', traits: 'x' }, 'traits: must be an object'],
    ['257 traits', { externalId: 'a', traits: many }, 'traits: must hold at most 256 keys'],
    [
      '64 KiB of traits and a byte',
      { externalId: 'a', traits: { k: 'x'.repeat(65_536 - 7) } },
      'traits: must take at most 65536 bytes as JSON',
    ],
    [
      '257 traits to be set once',
      { externalId: 'a', traitsOnce: many },
      'traitsOnce: must hold at most 256 keys',
    ],
    [
      '64 KiB of both',
      { externalId: 'a', traits: { k: 1 }, traitsOnce: { k: 'x'.repeat(65_536 - 10) } },
      'traits: must take at most 65536 bytes as JSON',
    ],
    [
      'a number without end',
      '{"externalId":"a","traits":{"x":[1e999]}}',
      'traits["x"]: must hold finite numbers only',
    ],
  ];
  it.each(refused)('refuses %s', async (_, body, message) => {
    expect(await post(body)).toEqual({ status: 400, body: { code: 'invalid_argument', message } });
  });

  it('refuses a placeholder where it would merge somebody, and takes it elsewhere', async () => {
    const placeholders = [
      ...['undefined', 'null', 'nil', 'none', 'NaN', '[object Object]', 'true', 'False', '0'],
      ...['anonymous', 'Guest', 'UNKNOWN', ' null\n', ' ', '\t\u00a0', '[object Promise]'],
      ...['{}', '[]', '(null)', '<nil>', '"undefined"', "'null'", '""', 'N/A', '(not set)'],
      ...['00000000-0000-0000-0000-000000000000', 'distinct_id', 'not_authenticated'],
    ];
    const rule = 'must name one person: it is a placeholder, which would merge strangers';
    const refusal = (field: string) => ({
      ...{ status: 400, body: { code: 'invalid_argument', message: `${field}: ${rule}` } },
    });
    for (const id of placeholders) {
      const identify = { externalId: id, anonymousId: 'anon-1' };
      expect(await post(identify)).toEqual(refusal('externalId'));
      const binary = toBinary(IdentifyRequestSchema, create(IdentifyRequestSchema, identify));
      const headers = { 'content-type': 'application/proto' };
      expect((await post(binary, path, headers)).status).toBe(400);
      expect(await post({ previousId: 'a', externalId: id }, aliasPath)).toEqual(
        refusal('externalId'),
      );
      expect(await post({ previousId: id, externalId: 'a' }, aliasPath)).toEqual(
        refusal('previousId'),
      );
      expect(await post({ externalId: id, traits: { a: 1 } })).toEqual({ status: 200, body: {} });
    }
    for (const id of ['nullius', '00', '1', 'guest-1', '[object]', 'an unknown', '(a)', '0-0']) {
      expect((await post({ externalId: id, anonymousId: 'anon-2' })).status).toBe(200);
    }
  });

  it('refuses whole numbers in traits that a double may have rounded, at any depth', async () => {
    const rule = 'must be a string where it is no integer of at most 2^53 - 1 in magnitude';
    const refusal = {
      ...{ status: 400, body: { code: 'invalid_argument', message: `traits["n"]: ${rule}` } },
    };
    const wrong = ['9007199254740993', '-9007199254740993', '9007199254740992', '1e20'];
    for (const number of [...wrong, '9007199254740993.0', '[{"a":9007199254740993}]']) {
      expect(await post(`{"externalId":"a","traits":{"n":${number}}}`)).toEqual(refusal);
    }
    const message = create(IdentifyRequestSchema, { externalId: 'a', traits: { n: 2 ** 53 } });
    const headers = { 'content-type': 'application/proto' };
    expect((await post(toBinary(IdentifyRequestSchema, message), path, headers)).status).toBe(400);
    for (const number of ['9007199254740991', '-9007199254740991', '0.1', '"9007199254740993"']) {
      expect((await post(`{"externalId":"a","traits":{"n":${number}}}`)).status).toBe(200);
    }
  });

  it('takes values at each limit', async () => {
    const within = [
      { externalId: '😀'.repeat(512) },
      { externalId: 'a', anonymousId: `anon-${'😀'.repeat(250)}`, deviceId: '' },
      { externalId: 'a', anonymousId: '', traits: null },
      { externalId: 'a', traits: { k: 'x'.repeat(65_536 - 8) } },
    ];
    for (const body of within) expect(await post(body)).toEqual({ status: 200, body: {} });
  });

  it('refuses bytes that are neither UTF-8 nor a message', async () => {
    const invalid = Buffer.from([0x7b, 0x22, 0xff, 0x22, 0x7d]);
    expect(await post(invalid)).toMatchObject({ body: { message: 'body: must be valid UTF-8' } });
    const headers = { 'content-type': 'application/proto' };
    const body = { code: 'invalid_argument', message: 'body: must be a valid protobuf message' };
    expect(await post(Buffer.from([0x0a, 0x7f]), path, headers)).toEqual({ status: 400, body });
  });

  it('answers other protocols and the router alike', async () => {
    const key: Interceptor = (next) => (request) => {
      request.header.set('x-api-key', service.publicKey);
      return next(request);
    };
    const interceptors = [key];
    const transports = [
      createGrpcTransport({ baseUrl: service.baseUrl, interceptors }),
      createConnectTransport({ baseUrl: service.routerUrl, httpVersion: '1.1', interceptors }),
    ];
    for (const transport of transports) {
      const client = createClient(ProfilesSDKService, transport);
      await client.identify({ externalId: 'router', traits: { a: 'b', $ip: '203.0.113.7' } });
      expect(await lastChange()).toMatchObject({ externalId: 'router', traits: [['a', '"b"']] });
      await client.alias({ previousId: 'p', externalId: 'e' });
      expect(await lastChange()).toEqual({ kind: 'alias', previousId: 'p', externalId: 'e' });
      await expect(client.identify({ externalId: '' })).rejects.toMatchObject({
        code: Code.InvalidArgument,
        rawMessage: 'externalId: is required',
      });
    }
  });

  it('counts at the limit of its key for each KiB, like an event, on every way in', async () => {
    const limited = await startIngestService({
      eventsPerSecond: 1,
      eventsBurst: 60,
      clock: { nowMs: () => 1_800_000_000_000 },
    });
    const traits = { text: 'x'.repeat(50_000) };
    const send = async (baseUrl: string, key: string, type: string, body: string | Uint8Array) => {
      const headers = { 'content-type': type, 'x-api-key': key };
      const sent = { method: 'POST', headers, body: Buffer.from(body) };
      return (await fetch(baseUrl + path, sent)).status;
    };
    const json = JSON.stringify({ externalId: 'u', traits });
    const { publicKey, privateKey } = limited;
    expect(await send(limited.baseUrl, publicKey, 'application/json', json)).toBe(200);
    expect(await send(limited.routerUrl, publicKey, 'application/json', json)).toBe(429);
    const message = create(IdentifyRequestSchema, { externalId: 'u', traits });
    const binary = toBinary(IdentifyRequestSchema, message);
    expect(await send(limited.routerUrl, privateKey, 'application/proto', binary)).toBe(200);
    expect(await send(limited.baseUrl, privateKey, 'application/proto', binary)).toBe(429);
    const small = JSON.stringify({ externalId: 'u' });
    for (let n = 0; n < 10; n++) {
      expect(await send(limited.baseUrl, publicKey, 'application/json', small)).toBe(200);
    }
    await limited.stop();
  });

  it('counts accepted calls, and checks the key before the body', async () => {
    const before = await metricValue(service.metrics, 'millrace_accepted_profile_changes_total');
    await post({ externalId: 'counted' });
    const after = await metricValue(service.metrics, 'millrace_accepted_profile_changes_total');
    expect((after ?? 0) - (before ?? 0)).toBe(1);
    expect(await post('{', path, { 'x-api-key': 'pub_wrong' })).toMatchObject({ status: 401 });
    expect(
      await post('{', `${path}?api_key=${service.privateKey}`, { 'x-api-key': '' }),
    ).toMatchObject({ status: 401 });
  });
});

describe('Alias', () => {
  it('queues both ids, in either spelling', async () => {
    expect(await post({ previous_id: 'old', externalId: 'new' }, aliasPath)).toEqual({
      status: 200,
      body: {},
    });
    expect(await lastChange()).toEqual({ kind: 'alias', previousId: 'old', externalId: 'new' });
  });

  it('shares a message with nothing, because the pipeline puts off messages', async () => {
    const messages = async (): Promise<number> => {
      const manager = await service.nats.jetstreamManager();
      return (await manager.streams.info('PROFILES_0')).state.messages;
    };
    const before = await messages();
    const calls = Array.from({ length: 30 }, (_, index) =>
      post({ previousId: `old ${index}`, externalId: 'new' }, aliasPath),
    );
    expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 200));
    expect(await messages()).toBe(before + calls.length);
  });

  it.each([
    ['no previous id', { externalId: 'a' }, 'previousId: is required'],
    ['no id', { previousId: 'a' }, 'externalId: is required'],
    [
      'a reserved previous id',
      { previousId: 'cookieless-1', externalId: 'a' },
      'previousId: must not start with cookieless-',
    ],
    [
      'a reserved id',
      { previousId: 'a', externalId: 'cookieless-1' },
      'externalId: must not start with cookieless-',
    ],
    [
      'a long id',
      { previousId: 'x'.repeat(513), externalId: 'a' },
      'previousId: must have at most 512 code points',
    ],
    ['a list', { previousId: [], externalId: 'a' }, 'previousId: must be a string'],
  ])('refuses %s', async (_, body, message) => {
    expect(await post(body, aliasPath)).toEqual({
      status: 400,
      body: { code: 'invalid_argument', message },
    });
  });
});
