// How deep traits may nest, on every way into Identify: a value that is an object or a list is one level, and each
// object or list in it one more.

import { create, type JsonObject, type JsonValue, toBinary } from '@bufbuild/protobuf';
import { Code, ConnectError, createClient } from '@connectrpc/connect';
import { createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { maxTraitLevels } from '../../platform/limits.ts';
import {
  IdentifyRequestSchema,
  ProfilesSDKService,
} from '../../proto/gen/sdk/profiles/v1/profiles_pb.js';
import { decodeChange } from '../../proto/wire/profile-change.ts';
import {
  type IngestService,
  startIngestService,
} from '../../test/harness/services/ingest-service.ts';

let service: IngestService;
beforeAll(async () => {
  service = await startIngestService();
});
afterAll(() => service.stop());

const paths = [
  '/sdk.profiles.v1.ProfilesSDKService/Identify',
  '/profiles.v1.ProfilesSDKService/Identify',
  '/m/i',
];

/** So many objects and lists, one in the other. */
function nested(levels: number, inner: JsonValue = 1): JsonValue {
  let value = inner;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? { a: value } : [value];
  return value;
}

const traitsOf = (levels: number): JsonObject => ({ plan: 'pro', k: nested(levels) });

/** What the sender reads: '' for an acceptance. */
async function send(url: string, type: string, body: Uint8Array): Promise<string> {
  const headers = { 'content-type': type, 'x-api-key': service.publicKey };
  const response = await fetch(url, { method: 'POST', headers, body: Buffer.from(body) });
  const text = await response.text();
  return response.ok ? '' : `${response.status} ${JSON.parse(text).message}`;
}

const asJson = (traits: JsonObject) => Buffer.from(JSON.stringify({ externalId: 'u', traits }));
const asBinary = (traits: JsonObject) =>
  toBinary(IdentifyRequestSchema, create(IdentifyRequestSchema, { externalId: 'u', traits }));

const rule = 'must nest objects and lists at most 20 levels deep';
const refusal = `traits["k"]: ${rule}`;

it.each(paths)('takes 20 levels and refuses 21, naming the trait: %s', async (path) => {
  for (const base of [service.baseUrl, service.nodeUrl, service.routerUrl]) {
    for (const [type, write] of [
      ['application/json', asJson],
      ['application/proto', asBinary],
    ] as const) {
      expect(await send(base + path, type, write(traitsOf(maxTraitLevels)))).toBe('');
      const queued = (await service.queued('PROFILES_0')).at(-1);
      expect(queued && decodeChange(queued.body)).toMatchObject({
        traits: [
          ['plan', '"pro"'],
          ['k', JSON.stringify(nested(maxTraitLevels))],
        ],
      });
      for (const levels of [maxTraitLevels + 1, 48]) {
        expect(await send(base + path, type, write(traitsOf(levels)))).toBe(`400 ${refusal}`);
      }
      // An empty list is a level, too, and a text full of brackets is none.
      const empty = { k: nested(maxTraitLevels, []) };
      expect(await send(base + path, type, write(empty))).toBe(`400 ${refusal}`);
      expect(await send(base + path, type, write({ k: '['.repeat(1_000) }))).toBe('');
    }
  }
});

it('in gRPC and gRPC-web as well', async () => {
  const interceptors = [
    (next: Parameters<import('@connectrpc/connect').Interceptor>[0]) =>
      (request: Parameters<typeof next>[0]) => {
        request.header.set('x-api-key', service.publicKey);
        return next(request);
      },
  ];
  for (const useBinaryFormat of [true, false]) {
    const options = { baseUrl: service.baseUrl, interceptors, useBinaryFormat };
    const transports = [
      createGrpcTransport(options),
      createGrpcWebTransport({ ...options, httpVersion: '1.1' }),
    ];
    for (const transport of transports) {
      const client = createClient(ProfilesSDKService, transport);
      await client.identify({ externalId: 'u', traits: traitsOf(maxTraitLevels) });
      const refused = client.identify({ externalId: 'u', traits: traitsOf(maxTraitLevels + 1) });
      const error = await refused.then(
        () => undefined,
        (cause) => ConnectError.from(cause),
      );
      expect([error?.code, error?.rawMessage]).toEqual([Code.InvalidArgument, refusal]);
    }
  }
});

it('refuses a body that nests without end before any rule of traits', async () => {
  const text = (levels: number) =>
    Buffer.from(`{"externalId":"u","traits":{"k":${'['.repeat(levels)}${']'.repeat(levels)}}}`);
  const deep = 'body: must not be nested deeper than 100 levels';
  for (const base of [service.baseUrl, service.nodeUrl, service.routerUrl]) {
    for (const levels of [99, 200_000]) {
      for (const path of paths) {
        expect(await send(base + path, 'application/json', text(levels))).toBe(`400 ${deep}`);
      }
    }
    const binary = asBinary(traitsOf(60));
    expect(await send(`${base}/m/i`, 'application/proto', binary)).toBe(`400 ${deep}`);
  }
});
