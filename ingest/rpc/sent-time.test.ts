// The query parameter `sent` on every way in: a sender whose clock is off has its times moved before any rule on time
// is asked, with a public key alone.

import { fromJson, type JsonObject, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient, type Interceptor } from '@connectrpc/connect';
import { createGrpcTransport, createGrpcWebTransport } from '@connectrpc/connect-node';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BatchCreateRequestSchema as ShortRequestSchema } from '../../proto/gen/events/v1/events_pb.js';
import {
  BatchCreateRequestSchema,
  EventsService,
} from '../../proto/gen/sdk/events/v1/events_pb.js';
import { messageOf, postCall } from '../../test/harness/clients/post-call.ts';
import {
  type IngestService,
  startIngestService,
} from '../../test/harness/services/ingest-service.ts';

const minuteMs = 60_000;
const dayMs = 86_400_000;
/** Two minutes before a UTC day ends. */
const nowMs = Math.floor(Date.now() / dayMs) * dayMs + dayMs - 2 * minuteMs;
const typed = '/sdk.events.v1.EventsService/BatchCreate';
const short = '/events.v1.EventsService/BatchCreate';
const uuid = '0190a5e0-7c3e-7000-8000-00000000abcd';

let service: IngestService;
beforeAll(async () => {
  service = await startIngestService({ clock: { nowMs: () => nowMs } });
});
afterAll(() => service.stop());

/** An event of this moment by the sender's clock. */
const eventAt = (ms: number): JsonObject => ({
  ...{ eventId: uuid, kind: 'view', distinctId: 'ada', sessionId: uuid },
  occurTime: new Date(ms).toISOString(),
});
const visitAt = (ms: number): JsonObject => ({
  ...{ eventId: uuid, kind: 'view', cookieless: true, occurTime: new Date(ms).toISOString() },
});

interface Sent {
  target?: string;
  key?: string;
  baseUrl?: string;
  type?: string;
}

async function post(body: JsonObject | Uint8Array, sent: number | string, given: Sent = {}) {
  const { target = '/m', key = service.publicKey, baseUrl = service.baseUrl } = given;
  const path = `${target}?sent=${sent}`;
  const bytes = body instanceof Uint8Array ? body : JSON.stringify(body);
  return postCall(baseUrl, key, {
    ...{ path, body: bytes },
    headers: { 'content-type': given.type ?? 'application/json', 'user-agent': 'test/1' },
  });
}

async function lastContext() {
  return (await service.queued()).at(-1)?.context;
}

describe('the time of sending', () => {
  const threeDaysMs = 3 * dayMs;
  const events = [eventAt(nowMs + threeDaysMs - 1_000)];
  const shortEvents = [
    {
      ...{ name: 'view', timestamp: new Date(nowMs + threeDaysMs).toISOString() },
      properties: { distinct_id: 'ada' },
    },
  ];
  const binary = toBinary(BatchCreateRequestSchema, fromJson(BatchCreateRequestSchema, { events }));
  const shortBinary = toBinary(
    ShortRequestSchema,
    fromJson(ShortRequestSchema, { events: shortEvents }),
  );
  const bodies: [string, string, string, JsonObject | Uint8Array][] = [
    ['JSON', '/m', 'application/json', { events }],
    ['JSON', typed, 'application/json', { events }],
    ['binary', typed, 'application/proto', binary],
    ['JSON', short, 'application/json', { events: shortEvents }],
    ['binary', short, 'application/proto', shortBinary],
  ];
  for (const [format, target, type, body] of bodies) {
    it(`moves times before they are judged: ${format} to ${target}, on each route`, async () => {
      for (const baseUrl of [service.baseUrl, service.nodeUrl, service.routerUrl]) {
        const way = { target, baseUrl, type };
        expect(await post(body, nowMs + threeDaysMs, way)).toMatchObject({ status: 200 });
        expect(await lastContext()).toMatchObject({ timeShiftMs: -threeDaysMs });
        const refused = await post(body, nowMs, way);
        expect(messageOf(refused)).toMatch(/must be at most 48 hours after receipt$/);
      }
    });
  }

  it('is told by gRPC and gRPC-web too', async () => {
    const interceptor: Interceptor = (next) => (request) => {
      request.header.set('x-api-key', service.publicKey);
      return next({ ...request, url: `${request.url}?sent=${nowMs + threeDaysMs}` });
    };
    const { baseUrl } = service;
    const options = { baseUrl, interceptors: [interceptor] };
    for (const transport of [
      createGrpcTransport(options),
      createGrpcWebTransport({ ...options, httpVersion: '1.1' }),
    ]) {
      const occurTime = timestampFromMs(nowMs + threeDaysMs);
      const event = { eventId: uuid, kind: 'view', distinctId: 'ada', sessionId: uuid, occurTime };
      const answer = await createClient(EventsService, transport).batchCreate({ events: [event] });
      expect(answer.accepted).toBe(1);
      expect(await lastContext()).toMatchObject({ timeShiftMs: -threeDaysMs });
    }
  });

  it('makes no event older than the rules allow by the shifted time, and none younger', async () => {
    const sentMs = Date.UTC(1970, 0, 2);
    expect(await post({ events: [eventAt(sentMs - 5_000)] }, sentMs)).toMatchObject({
      status: 200,
    });
    expect(await lastContext()).toMatchObject({ timeShiftMs: nowMs - sentMs });
    const early = await post({ events: [eventAt(Date.UTC(2000, 0, 2))] }, nowMs + threeDaysMs);
    expect(messageOf(early)).toBe('events[0].occurTime: must not be before 2000-01-01T00:00:00Z');
  });

  it('leaves the body as it came', async () => {
    await post({ events }, nowMs + threeDaysMs);
    const body = (await service.queued()).at(-1)?.body ?? [];
    expect(JSON.parse(Buffer.from(body).toString())).toEqual({ events });
  });

  it.each([-minuteMs, -1, 0, minuteMs])('is not doubted where it is off by %s ms', async (off) => {
    const body = { events: [eventAt(nowMs + off)] };
    expect(await post(body, nowMs + off)).toMatchObject({ status: 200 });
    expect(await lastContext()).not.toHaveProperty('timeShiftMs');
    await post(body, nowMs + off + Math.sign(off || 1) * (minuteMs + 1));
    expect(await lastContext()).toHaveProperty('timeShiftMs');
  });

  it('moves nothing of a private key, whose times are its word', async () => {
    const key = service.privateKey;
    expect(await post({ events: [eventAt(nowMs)] }, nowMs + threeDaysMs, { key })).toMatchObject({
      status: 200,
    });
    expect(await lastContext()).not.toHaveProperty('timeShiftMs');
    expect(await post({ events }, nowMs + threeDaysMs, { key })).toMatchObject({ status: 400 });
  });

  it.each(['', 'now', '1.5', '-1', '1e12', '253402300800000', '9999999999999999'])(
    'is refused where it is none: %j',
    async (sent) => {
      const message = 'sent: must be the moment of sending in milliseconds since 1970, in digits';
      const refused = { status: 400, body: { code: 'invalid_argument', message } };
      for (const baseUrl of [service.baseUrl, service.routerUrl]) {
        const events = [eventAt(nowMs)];
        expect(await post({ events }, sent, { baseUrl })).toEqual(refused);
        const identify = { target: '/m/i', baseUrl };
        expect(await post({ externalId: 'ada' }, sent, identify)).toEqual(refused);
      }
    },
  );

  it('is taken by Identify, whose changes have no time', async () => {
    const identify = { target: '/m/i' };
    expect(await post({ externalId: 'ada' }, nowMs + dayMs, identify)).toMatchObject({
      status: 200,
    });
  });

  it('moves no moment of receipt, which the short shape has where its sender tells none', async () => {
    const events = [{ name: 'view', properties: { distinct_id: 'ada' } }];
    const sentMs = nowMs - 90 * dayMs;
    expect(await post({ events }, sentMs, { target: short })).toMatchObject({ status: 200 });
    const queued = (await service.queued()).at(-1);
    const [event] = JSON.parse(Buffer.from(queued?.body ?? []).toString()).events;
    expect(Date.parse(event.occurTime) + (queued?.context.timeShiftMs ?? 0)).toBe(nowMs);
  });
});

describe('a cookieless event of a device whose clock is off', () => {
  it.each([
    ['a day slow', -dayMs - minuteMs],
    ['two days slow', -2 * dayMs],
    ['a day fast', dayMs],
    // It has midnight already.
    ['five minutes fast', 5 * minuteMs],
  ])('counts on the day on which it happened: %s', async (_, off) => {
    const events = [visitAt(nowMs + off - 1_000)];
    for (const target of ['/m', typed]) {
      expect(await post({ events }, nowMs + off, { target })).toEqual({
        status: 200,
        body: { accepted: 1 },
      });
      expect(await lastContext()).toMatchObject({
        timeShiftMs: -off,
        cookieless: { today: expect.stringMatching(/^cookieless-/) },
      });
    }
  });

  it('is dropped where nobody tells so', async () => {
    const events = [visitAt(nowMs + 5 * minuteMs)];
    const answer = await postCall(service.baseUrl, service.publicKey, {
      ...{ path: '/m', body: JSON.stringify({ events }), headers: { 'user-agent': 'test/1' } },
    });
    expect(answer.body).toEqual({
      ...{ accepted: 0, dropped: 1, droppedByReason: { day_out_of_range: 1 } },
    });
  });

  it('has the short shape’s id of the visitor of that day', async () => {
    const events = [{ name: 'view', timestamp: new Date(nowMs + dayMs).toISOString() }];
    const send = () => post({ events }, nowMs + dayMs, { target: short });
    const idOf = async (): Promise<string> => {
      const body = (await service.queued()).at(-1)?.body ?? [];
      return JSON.parse(Buffer.from(body).toString()).events[0].eventId;
    };
    expect(await send()).toMatchObject({ status: 200 });
    const first = await idOf();
    await send();
    expect(await idOf()).toBe(first);
  });
});
