// BatchCreate beyond one path: the fast path of plain requests and node:http answer alike, and the Connect router
// serves every other protocol and content type.

import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { create, toBinary } from '@bufbuild/protobuf';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { Code, createClient, type Interceptor } from '@connectrpc/connect';
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { maxBodyBytes } from '../../platform/limits.ts';
import { EventsService as ShortEventsService } from '../../proto/gen/events/v1/events_pb.js';
import {
  BatchCreateRequestSchema,
  EventsService,
} from '../../proto/gen/sdk/events/v1/events_pb.js';
import { newEvent } from '../../test/harness/clients/client.ts';
import {
  type IngestService,
  startIngestService,
} from '../../test/harness/services/ingest-service.ts';

const path = '/sdk.events.v1.EventsService/BatchCreate';
const shortPath = '/events.v1.EventsService/BatchCreate';

let service: IngestService;
beforeAll(async () => {
  service = await startIngestService();
});
afterAll(() => service.stop());

const batch = (...events: object[]): string => JSON.stringify({ events });

describe('the fast path and node:http', () => {
  const binary = () => {
    const message = create(BatchCreateRequestSchema, { events: [] });
    return toBinary(BatchCreateRequestSchema, message);
  };
  const cases: [string, string | Uint8Array, Record<string, string>, string?][] = [
    ['valid JSON', batch(newEvent({ kind: 'click' })), {}],
    ['valid protobuf', binary(), { 'content-type': 'application/proto' }],
    ['invalid JSON', '{', {}],
    ['a violation', batch({}), {}],
    ['an unknown key', batch(newEvent({ kind: 'click' })), { 'x-api-key': 'pub_nobody' }],
    [
      'another version of the protocol',
      batch(newEvent({ kind: 'click' })),
      { 'connect-protocol-version': '2' },
    ],
    ['a malformed timeout', batch(newEvent({ kind: 'click' })), { 'connect-timeout-ms': 'soon' }],
    ['cookieless events', batch({ ...newEvent({ kind: 'click' }), cookieless: true }), {}],
    ['the short shape', batch(newEvent({ kind: 'click' })), {}, shortPath],
    ['a beacon', '{}', { 'content-type': 'text/plain' }, `${path}?api_key=`],
    [
      'a content type of the router’s',
      batch(newEvent({ kind: 'click' })),
      { 'content-type': 'application/x' },
    ],
    ['a body beyond the limit', Buffer.alloc(maxBodyBytes + 1), {}],
    [
      'compressed JSON',
      gzipSync(batch(newEvent({ kind: 'click' }))),
      { 'content-encoding': 'gzip' },
    ],
  ];
  it.each(cases)('answer %s alike', async (_name, body, headers, target = path) => {
    const answers = [service.baseUrl, service.nodeUrl].map(async (baseUrl) => {
      const response = await fetch(baseUrl + target.replace(/=$/, `=${service.publicKey}`), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': service.publicKey, ...headers },
        body,
      });
      const kept = [...response.headers].filter(([name]) => name !== 'date');
      return { status: response.status, headers: kept, body: await response.text() };
    });
    const [fast, reference] = await Promise.all(answers);
    expect(fast).toEqual(reference);
  });
});

describe('other protocols', () => {
  const transports = {
    'Connect, JSON': createConnectTransport,
    'gRPC-web': createGrpcWebTransport,
  };
  const interceptors: Interceptor[] = [
    (next) => (request) => {
      request.header.set('x-api-key', service.publicKey);
      return next(request);
    },
  ];
  const good = () => ({
    eventId: randomUUID(),
    kind: 'click',
    distinctId: 'u',
    sessionId: randomUUID(),
    occurTime: timestampNow(),
  });

  for (const [name, createTransport] of Object.entries(transports)) {
    for (const httpVersion of ['1.1', '2'] as const) {
      it(`${name} over HTTP/${httpVersion}`, async () => {
        const transport = createTransport({
          baseUrl: service.baseUrl,
          httpVersion,
          useBinaryFormat: false,
          interceptors,
        });
        const client = createClient(EventsService, transport);
        expect((await client.batchCreate({ events: [good()] })).accepted).toBe(1);
        const broken = client.batchCreate({ events: [{ ...good(), kind: '' }] });
        await expect(broken).rejects.toMatchObject({
          code: Code.InvalidArgument,
          rawMessage: 'events[0].kind: is required',
        });
        const short = createClient(ShortEventsService, transport);
        const named = { name: 'click', properties: { distinct_id: 'u' } };
        expect((await short.batchCreate({ events: [named] })).eventsCreated).toBe(1);
      });
    }
  }

  it('gRPC', async () => {
    const transport = createGrpcTransport({
      baseUrl: service.baseUrl,
      interceptors,
    });
    const client = createClient(EventsService, transport);
    expect((await client.batchCreate({ events: [good()] })).accepted).toBe(1);
    await expect(client.batchCreate({ events: [{}] })).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: 'events[0].eventId: is required',
    });
  });

  // Each took seconds and a gigabyte to decode.
  it.each([
    ['events without number', Buffer.from('0a00'.repeat(1_000_000), 'hex'), 'at most 1000 events'],
    [
      'fields without number',
      Buffer.from('7801'.repeat(1_000_000), 'hex'),
      'among the first 10000 members',
    ],
  ])('%s are refused before they are decoded', async (_, message, rule) => {
    const envelope = Buffer.alloc(5);
    envelope.writeUInt32BE(message.length, 1);
    const response = await fetch(service.baseUrl + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/grpc-web+proto',
        'x-api-key': service.publicKey,
      },
      body: Buffer.concat([envelope, message]),
    });
    const trailers = `${decodeURIComponent(response.headers.get('grpc-message') ?? '')} ${decodeURIComponent(await response.text())}`;
    expect(trailers).toContain(rule);
  });

  const inPieces = (body: Buffer) =>
    new ReadableStream<Uint8Array>({
      start(controller) {
        for (let at = 0; at < body.length; at += 1_048_576) {
          controller.enqueue(new Uint8Array(body.subarray(at, at + 1_048_576)));
        }
        controller.close();
      },
    });
  const types = ['application/json', 'application/grpc-web+proto'];
  const sizes = [9, 17, 40].flatMap((MiB) =>
    types.flatMap((type) => [true, false].map((hasLength) => ({ MiB, type, hasLength }))),
  );
  it.each(sizes)('a body too large is answered: %j', async ({ MiB, type, hasLength }) => {
    const body = Buffer.alloc(MiB * 1_048_576, ' ');
    const request: RequestInit & { duplex?: 'half' } = {
      method: 'POST',
      headers: { 'content-type': type, 'x-api-key': service.publicKey },
      body: hasLength ? body : inPieces(body),
      ...(!hasLength && { duplex: 'half' }),
    };
    const response = await fetch(service.baseUrl + path, request);
    expect(decodeURIComponent(await response.text())).toMatch(
      /larger than (the limit, )?8388608 bytes/,
    );
  });

  it('GET and foreign content types get Connect’s answers', async () => {
    const get = await fetch(service.baseUrl + path);
    expect(get.status).toBe(405);
    const origin = 'https://shop.example';
    const form = await fetch(service.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'text/plain', 'x-api-key': service.publicKey, origin },
      body: batch(newEvent({ kind: 'click' })),
    });
    expect(form.status).toBe(415);
    expect(form.headers.get('access-control-allow-origin')).toBe(origin);
  });
});
