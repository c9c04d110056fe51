// Cookieless events at ingest, on real HTTP and a real broker, with a clock that the test sets: their ids, the events
// that are dropped and how every encoding reports them, and that a worker finds the same from the frame alone.

import { createHmac, randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { createClient, type Interceptor } from '@connectrpc/connect';
import { createGrpcTransport } from '@connectrpc/connect-node';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { saltKey } from '../ingest/cookieless/salt.ts';
import { cookielessId } from '../ingest/cookieless/visitor-ids.ts';
import { createRequestRows, decodeRequest } from '../pipeline/build/rows/reference-rows.ts';
import { buckets } from '../platform/broker/buckets.ts';
import { dayMs } from '../platform/clock.ts';
import { metricValue } from '../platform/metrics.ts';
import {
  BatchCreateRequestSchema,
  BatchCreateResponseSchema,
  EventsService,
} from '../proto/gen/sdk/events/v1/events_pb.js';
import type { FrameRequest } from '../proto/wire/frame.ts';
import { asOperator } from './harness/servers/broker.ts';
import { type IngestService, startIngestService } from './harness/services/ingest-service.ts';

const path = '/sdk.events.v1.EventsService/BatchCreate';
const plainPath = '/events.v1.EventsService/BatchCreate';
const hourMs = 3_600_000;
const agent = 'agent/1';

let service: IngestService;
let nowMs = Date.UTC(2026, 10, 20, 12);
/** Called each time the clock is read. */
let onAsked = (): void => {};
beforeAll(async () => {
  const clock = {
    nowMs: () => {
      onAsked();
      return nowMs;
    },
  };
  service = await startIngestService({ clock });
});
afterAll(() => service.stop());

const todayMs = (): number => Math.floor(nowMs / dayMs) * dayMs;

function cookieless(timeMs: number): object {
  const occurTime = new Date(timeMs).toISOString();
  return { eventId: randomUUID(), kind: 'page_view', occurTime, cookieless: true };
}

function identified(): object {
  const occurTime = new Date(nowMs).toISOString();
  const [eventId, sessionId] = [randomUUID(), randomUUID()];
  return { eventId, kind: 'page_view', occurTime, distinctId: 'u', sessionId };
}

async function post(
  events: object[],
  headers: Record<string, string> = {},
  target = path,
): Promise<unknown> {
  const response = await fetch(service.baseUrl + target, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'x-api-key': service.publicKey,
      'user-agent': agent,
      ...headers,
    },
    body: JSON.stringify({ events }),
  });
  return response.json();
}

async function lastQueued(): Promise<FrameRequest> {
  const request = (await service.queued()).at(-1);
  if (request === undefined) throw new Error('nothing is queued');
  return request;
}

async function putSalt(day: number, text: string): Promise<void> {
  const kv = await service.nats.jetstream().views.kv(buckets.salts, { bindOnly: true });
  await kv.put(saltKey(day), text);
}

async function saltOf(timeMs: number): Promise<Buffer> {
  const kv = await service.nats.jetstream().views.kv(buckets.salts, { bindOnly: true });
  const entry = await kv.get(saltKey(Math.floor(timeMs / dayMs)));
  return Buffer.from(entry?.json<{ salt: string }>().salt ?? '', 'base64');
}

describe('an id', () => {
  it('is the first half of an HMAC over project, address and agent, each with its length', async () => {
    expect(await post([cookieless(nowMs), identified()])).toEqual({ accepted: 2 });
    const { context, events } = await lastQueued();
    const fields = [service.projectId, '127.0.0.1', agent].map((field) => {
      const length = Buffer.alloc(4);
      length.writeUInt32BE(field.length);
      return Buffer.concat([length, Buffer.from(field)]);
    });
    const hash = createHmac('sha256', await saltOf(nowMs))
      .update(Buffer.concat(fields))
      .digest();
    expect(context.cookieless).toEqual({
      today: `cookieless-${hash.subarray(0, 16).toString('base64url')}`,
    });
    expect(events).toBe(2);
    expect(JSON.stringify(context)).not.toContain('127.0.0.1');
  });

  it('changes with each of its inputs, and inputs cannot run into each other', () => {
    const base = { address: '192.0.2.1', userAgent: 'ua' };
    const salt = Buffer.alloc(32, 1);
    const ids = [
      cookielessId(salt, 'p', base),
      cookielessId(Buffer.alloc(32, 2), 'p', base),
      cookielessId(salt, 'q', base),
      cookielessId(salt, 'p', { ...base, address: '192.0.2.2' }),
      cookielessId(salt, 'p', { ...base, userAgent: 'ub' }),
      cookielessId(salt, 'p1', { ...base, address: '92.0.2.1' }),
      cookielessId(salt, 'p', { address: '192.0.2.1u', userAgent: 'a' }),
    ];
    expect(new Set(ids).size).toBe(ids.length);
    expect(ids.every((id) => /^cookieless-[A-Za-z0-9_-]{22}$/.test(id))).toBe(true);
    expect(cookielessId(salt, 'p', { ...base })).toBe(ids[0]);
  });

  it('is the same for a private key, and nothing else of its headers is kept', async () => {
    await post([cookieless(nowMs)]);
    const byPublic = (await lastQueued()).context;
    await post([cookieless(nowMs)], { 'x-api-key': service.privateKey });
    const { context } = await lastQueued();
    expect(context.cookieless).toEqual(byPublic.cookieless);
    expect(context.userAgent).toBeUndefined();
  });

  it('of the other day is there too only where a visit may go on over midnight', async () => {
    await post([cookieless(todayMs() + hourMs), cookieless(todayMs() - hourMs)]);
    const { today, yesterday } = (await lastQueued()).context.cookieless ?? {};
    expect(today).not.toBe(yesterday);
    await post([cookieless(todayMs() + hourMs)]);
    expect((await lastQueued()).context.cookieless).toEqual({ today });
    await post([cookieless(todayMs() - hourMs)]);
    expect((await lastQueued()).context.cookieless).toEqual({ yesterday });
    for (const minutes of [-30, 0, 30]) {
      await post([cookieless(todayMs() + minutes * 60_000)]);
      expect((await lastQueued()).context.cookieless).toEqual({ today, yesterday });
    }
    await post([identified()]);
    expect((await lastQueued()).context.cookieless).toBeUndefined();
  });
});

describe('without a user agent or an address', () => {
  it('the whole request is refused', async () => {
    const before = (await service.queued()).length;
    const body = JSON.stringify({ events: [identified(), cookieless(nowMs)] });
    const answer = await new Promise<{ status: number | undefined; text: string }>((resolve) => {
      const request = httpRequest(service.baseUrl + path, { method: 'POST' }, (response) => {
        let text = '';
        response.on('data', (chunk) => {
          text += chunk;
        });
        response.on('end', () => resolve({ status: response.statusCode, text }));
      });
      request.setHeader('content-type', 'application/json');
      request.setHeader('x-api-key', service.publicKey);
      request.end(body);
    });
    expect(answer.status).toBe(400);
    expect(JSON.parse(answer.text)).toEqual({
      code: 'invalid_argument',
      message: expect.stringMatching(/^identity_headers_missing: /),
    });
    expect(await service.queued()).toHaveLength(before);
    const labels = { reason: 'identity_headers_missing' };
    expect(await metricValue(service.metrics, 'millrace_refused_requests_total', labels)).toBe(1);
  });
});

describe('a day outside today and yesterday', () => {
  const outside = () => [cookieless(todayMs() - dayMs - 1), cookieless(todayMs() + dayMs)];
  const said = { accepted: 3, dropped: 2, droppedByReason: { day_out_of_range: 2 } };
  const inside = () => [cookieless(todayMs() - dayMs), cookieless(todayMs() + dayMs - 1)];

  it('loses its events and no others, in JSON', async () => {
    expect(await post([identified(), ...outside(), ...inside()])).toEqual(said);
    expect((await lastQueued()).events).toBe(3);
  });

  it('loses them in binary and gRPC too', async () => {
    const message = create(BatchCreateRequestSchema, {
      events: [
        ...[todayMs() - dayMs - 1, todayMs() + dayMs, nowMs].map((timeMs) => ({
          eventId: randomUUID(),
          kind: 'x',
          occurTime: timestampFromMs(timeMs),
          cookieless: true,
        })),
        ...Array.from({ length: 2 }, () => ({
          eventId: randomUUID(),
          kind: 'x',
          occurTime: timestampFromMs(nowMs),
          distinctId: 'u',
          sessionId: randomUUID(),
        })),
      ],
    });
    const headers = {
      'content-type': 'application/proto',
      'x-api-key': service.publicKey,
      'user-agent': agent,
    };
    const body = toBinary(BatchCreateRequestSchema, message);
    const response = await fetch(service.baseUrl + path, { method: 'POST', headers, body });
    const bytes = new Uint8Array(await response.arrayBuffer());
    expect(fromBinary(BatchCreateResponseSchema, bytes)).toMatchObject(said);
    const withKey: Interceptor = (next) => (call) => {
      call.header.set('x-api-key', service.publicKey);
      return next(call);
    };
    const transport = createGrpcTransport({ baseUrl: service.baseUrl, interceptors: [withKey] });
    expect(await createClient(EventsService, transport).batchCreate(message)).toMatchObject(said);
  });

  it('queues nothing where it is the day of every event', async () => {
    const before = (await service.queued()).length;
    expect(await post(outside())).toEqual({ ...said, accepted: 0 });
    expect(await service.queued()).toHaveLength(before);
  });

  it('lowers the count of created events in the short shape', async () => {
    const events = [
      { name: 'a', timestamp: new Date(todayMs() - 3 * dayMs).toISOString() },
      { name: 'b' },
      { name: 'c', properties: { distinct_id: 'u' } },
    ];
    expect(await post(events, {}, plainPath)).toEqual({ eventsCreated: 2 });
    expect((await lastQueued()).events).toBe(2);
  });

  it('is counted', async () => {
    const labels = { reason: 'day_out_of_range' };
    const count = () => metricValue(service.metrics, 'millrace_dropped_events_total', labels);
    const before = await count();
    await post(outside());
    expect(await count()).toBe(before + 2);
  });
});

describe('the worker', () => {
  it('makes rows of exactly the accepted events, from the frame alone', async () => {
    const minutes = fc.integer({ min: -3 * 1_440, max: 2 * 1_440 });
    const agreement = fc.asyncProperty(fc.array(minutes, { maxLength: 12 }), async (times) => {
      const events = times.map((minute) => cookieless(todayMs() + minute * 60_000));
      const before = (await service.queued()).length;
      const answer = await post(events);
      const { accepted = 0, dropped = 0 } = answer as { accepted?: number; dropped?: number };
      expect(accepted + dropped).toBe(times.length);
      const queued = (await service.queued()).slice(before);
      const rows = createRequestRows();
      let count = 0;
      for (const request of queued) {
        expect(decodeRequest(request, rows)).toEqual([]);
        expect(rows.count).toBe(request.events);
        count += rows.count;
      }
      expect(count).toBe(accepted);
      const kept = times.filter((minute) => minute >= -1_440 && minute < 1_440);
      expect(accepted).toBe(kept.length);
    });
    await fc.assert(agreement, { numRuns: 30 });
  });
});

// From here on days pass.

describe('a salt that cannot be decoded', () => {
  it('loses its own day’s cookieless events', async () => {
    await putSalt(nowMs / dayMs + 2, 'nonsense');
    nowMs += 2 * dayMs;
    const events = [identified(), cookieless(nowMs), cookieless(nowMs), cookieless(nowMs - dayMs)];
    expect(await post(events)).toEqual({
      accepted: 2,
      dropped: 2,
      droppedByReason: { salt_corrupt: 2 },
    });
    const { context, events: queued } = await lastQueued();
    expect(queued).toBe(2);
    expect(Object.keys(context.cookieless ?? {})).toEqual(['yesterday']);
    nowMs += dayMs;
    expect(await post([cookieless(nowMs), cookieless(nowMs - dayMs)])).toEqual({
      accepted: 1,
      dropped: 1,
      droppedByReason: { salt_corrupt: 1 },
    });
  });
});

describe('midnight before a body has arrived', () => {
  it('takes the day before yesterday out of the window', async () => {
    const started = nowMs;
    const body = JSON.stringify({ events: [cookieless(started - dayMs), cookieless(started)] });
    const answer = await new Promise<string>((resolve) => {
      const headers = {
        'content-type': 'application/json',
        'x-api-key': service.publicKey,
        'user-agent': agent,
        'content-length': body.length,
      };
      const request = httpRequest(
        service.baseUrl + path,
        { method: 'POST', headers },
        (response) => {
          let text = '';
          response.on('data', (chunk) => {
            text += chunk;
          });
          response.on('end', () => resolve(text));
        },
      );
      // The clock is first read when the headers are in: the moment of receipt.
      onAsked = () => {
        onAsked = () => {};
        setImmediate(() => {
          nowMs += dayMs;
          request.end(body.slice(20));
        });
      };
      request.write(body.slice(0, 20));
    });
    expect(JSON.parse(answer)).toEqual({
      accepted: 1,
      dropped: 1,
      droppedByReason: { day_out_of_range: 1 },
    });
  });
});

describe('a salt that can be neither read nor made', () => {
  it('loses the cookieless events and leaves the others alone, until it can', async () => {
    const manager = await service.nats.jetstreamManager();
    const { config } = await manager.streams.info(`KV_${buckets.salts}`);
    await asOperator(service.broker, ({ streams }) => streams.delete(config.name));
    nowMs += 2 * dayMs;
    const events = [cookieless(nowMs), identified(), cookieless(nowMs - dayMs)];
    expect(await post(events)).toEqual({
      accepted: 1,
      dropped: 2,
      droppedByReason: { salt_unavailable: 2 },
    });
    expect((await lastQueued()).events).toBe(1);
    await manager.streams.add(config);
    nowMs += 2_000;
    expect(await post(events)).toEqual({ accepted: 3 });
  });
});

describe('an event of the short shape that names nobody', () => {
  /** The queued event ids of a body from a visitor with this agent. */
  async function idsFrom(visitor: string, events: object[], headers = {}): Promise<string[]> {
    const sent = { 'user-agent': visitor, ...headers };
    expect(await post(events, sent, plainPath)).toEqual({ eventsCreated: events.length });
    const { body } = await lastQueued();
    const queued: { events: { eventId: string }[] } = JSON.parse(Buffer.from(body).toString());
    return queued.events.map(({ eventId }) => eventId);
  }

  const at = (timeMs: number): object => ({
    name: 'open',
    timestamp: new Date(timeMs).toISOString(),
  });

  it('has another id for each visitor, and the same id when its visitor sends it again', async () => {
    const events = [at(nowMs), at(todayMs() - hourMs), at(nowMs)];
    const first = await idsFrom('visitor/1', events);
    const other = await idsFrom('visitor/2', events);
    expect(new Set([...first, ...other]).size).toBe(6);
    expect(await idsFrom('visitor/1', events)).toEqual(first);
  });

  it('has the same id when it is sent again after midnight', async () => {
    const events = [at(nowMs)];
    const sent = await idsFrom('visitor/1', events);
    nowMs += dayMs;
    expect(await idsFrom('visitor/1', events)).toEqual(sent);
    nowMs -= dayMs;
  });

  it('has another id for each visitor under one Idempotency-Key, too', async () => {
    const events = [{ name: 'open' }, { name: 'open', properties: { distinct_id: 'u' } }];
    const key = { 'idempotency-key': 'k' };
    const [first, named] = await idsFrom('visitor/1', events, key);
    const [other, namedAgain] = await idsFrom('visitor/2', events, key);
    expect(first).not.toBe(other);
    expect(named).toBe(namedAgain);
    expect((await idsFrom('visitor/1', events, key))[0]).toBe(first);
    expect(await idsFrom('visitor/1', events)).not.toContain(first);
  });
});
