// BatchCreate on the unary route, through real HTTP and a real broker: acceptance, refusals, access, bodies, headers
// and limits. The other protocols are in protocols.test.ts, the rules of events in ingest/validation.

import { randomUUID } from 'node:crypto';
import { Agent, request as httpRequest } from 'node:http';
import { brotliCompressSync, gzipSync } from 'node:zlib';
import { create, fromBinary, toBinary } from '@bufbuild/protobuf';
import { timestampNow } from '@bufbuild/protobuf/wkt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { revokeApiKey } from '../../control/projects/project-record.ts';
import { systemClock } from '../../platform/clock.ts';
import { maxBodyBytes } from '../../platform/limits.ts';
import { metricValue } from '../../platform/metrics.ts';
import {
  BatchCreateRequestSchema,
  BatchCreateResponseSchema,
} from '../../proto/gen/sdk/events/v1/events_pb.js';
import {
  freeze,
  type IngestService,
  startIngestService,
} from '../../test/harness/services/ingest-service.ts';

const path = '/sdk.events.v1.EventsService/BatchCreate';

let service: IngestService;
beforeAll(async () => {
  service = await startIngestService();
});
afterAll(() => service.stop());

function event(members: object = {}): object {
  return {
    eventId: randomUUID(),
    kind: 'click',
    distinctId: 'user-1',
    sessionId: randomUUID(),
    occurTime: new Date().toISOString(),
    ...members,
  };
}

const batch = (...events: object[]): string => JSON.stringify({ events });

interface Answer {
  status: number;
  headers: Headers;
  body: unknown;
}

async function post(
  body: string | Uint8Array,
  headers: Record<string, string> = {},
  target = path,
): Promise<Answer> {
  const response = await fetch(service.baseUrl + target, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': service.publicKey, ...headers },
    body,
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: JSON.parse(text) };
}

const accepted = (count: number) => ({ status: 200, body: { accepted: count } });
const refused = (status: number, code: string, message: unknown = expect.any(String)) => ({
  status,
  body: { code, message },
});

/** Contexts and events of the newest requests in the broker. */
async function lastQueued(count = 1): Promise<{ context: unknown; events: unknown[] }[]> {
  const requests = await service.queued();
  return requests.slice(-count).map(({ context, body }) => ({
    context,
    events: JSON.parse(Buffer.from(body).toString()).events,
  }));
}

describe('an accepted batch', () => {
  it('is in the broker when it is answered, its bytes unchanged, with its context', async () => {
    const body = `${batch(event(), event())} `;
    expect(await post(body, { 'user-agent': 'test/1' })).toMatchObject(accepted(2));
    const request = (await service.queued()).at(-1);
    expect(Buffer.from(request?.body ?? []).toString()).toBe(body);
    expect(request?.events).toBe(2);
    expect(request?.context).toEqual({
      projectId: service.projectId,
      credential: 'public',
      receiveTimeMs: expect.any(Number),
      userAgent: 'test/1',
    });
  });

  it('is queued without the user agent of a private key’s request', async () => {
    const headers = { 'x-api-key': service.privateKey, 'user-agent': 'test/1' };
    expect(await post(batch(event()), headers)).toMatchObject(accepted(1));
    const [request] = await lastQueued();
    expect(request?.context).toEqual({
      projectId: service.projectId,
      credential: 'private',
      receiveTimeMs: expect.any(Number),
    });
  });

  it('may be empty: it is not queued then', async () => {
    const before = (await service.queued()).length;
    for (const body of ['{}', '{"events":[]}', '{"events":null}']) {
      expect(await post(body)).toMatchObject(accepted(0));
    }
    expect(await service.queued()).toHaveLength(before);
  });

  it('must name its events where it names anything, in every encoding of JSON', async () => {
    const message = 'events: is missing: send {"events": [...]}, even for one event';
    for (const target of [path, '/events.v1.EventsService/BatchCreate']) {
      for (const body of ['{"event":[]}', JSON.stringify(event())]) {
        const answers = [
          await post(body, {}, target),
          await post(
            body,
            { 'content-type': 'text/plain' },
            `${target}?api_key=${service.publicKey}`,
          ),
          await post(gzipSync(body), { 'content-encoding': 'gzip' }, target),
        ];
        for (const answer of answers) {
          expect(answer).toMatchObject(refused(400, 'invalid_argument', message));
        }
        const length = Buffer.of(0, 0, 0, 0, body.length);
        const web = await fetch(service.baseUrl + target, {
          method: 'POST',
          headers: { 'content-type': 'application/grpc-web+json', 'x-api-key': service.publicKey },
          body: Buffer.concat([length, Buffer.from(body)]),
        });
        expect(decodeURIComponent(await web.text())).toContain(message);
      }
    }
  });

  it('is answered with Connect’s headers and no others of ours', async () => {
    const { headers } = await post(batch(event()), { 'connect-protocol-version': '1' });
    expect(headers.get('content-type')).toBe('application/json');
    expect(headers.get('content-length')).toBe('14');
    expect(headers.get('access-control-allow-origin')).toBeNull();
    expect(headers.get('vary')).toBeNull();
    expect(headers.get('content-encoding')).toBeNull();
  });

  it('is counted', async () => {
    const count = () => metricValue(service.metrics, 'millrace_accepted_events_total');
    const before = await count();
    await post(batch(event(), event(), event()));
    expect(await count()).toBe(before + 3);
  });
});

describe('a refused batch', () => {
  it('names index, field and rule, and is not queued', async () => {
    const before = (await service.queued()).length;
    expect(await post(batch(event(), event({ kind: 'a b' })))).toMatchObject(
      refused(400, 'invalid_argument', 'events[1].kind: must match ^[a-zA-Z0-9_.-]+$'),
    );
    expect(await service.queued()).toHaveLength(before);
  });

  it('is counted by rule', async () => {
    const labels = { reason: 'kind_prefix' };
    const count = () => metricValue(service.metrics, 'millrace_refused_requests_total', labels);
    const before = await count();
    await post(batch(event({ kind: 'svc.x' })));
    expect(await count()).toBe(before + 1);
  });
});

describe('access', () => {
  it('is checked before the body', async () => {
    for (const headers of [{ 'x-api-key': '' }, { 'x-api-key': 'pub_nonsense' }]) {
      expect(await post('{', headers)).toMatchObject(refused(401, 'unauthenticated'));
    }
  });

  it('by bearer token requires a matching project', async () => {
    const authorization = `Bearer ${service.publicKey}`;
    const headers = { 'x-api-key': '', authorization };
    expect(await post(batch(event()), headers)).toMatchObject(accepted(1));
    const project = { ...headers, 'x-project-id': service.projectId };
    expect(await post(batch(event()), project)).toMatchObject(accepted(1));
    const other = { ...headers, 'x-project-id': randomUUID() };
    expect(await post(batch(event()), other)).toMatchObject(refused(404, 'not_found'));
  });

  it('by query parameter, for beacons: a public key, text or JSON', async () => {
    const target = `${path}?api_key=${service.publicKey}`;
    const noKey = { 'x-api-key': '' };
    for (const type of ['text/plain;charset=UTF-8', 'text/plain', 'application/json']) {
      const headers = { ...noKey, 'content-type': type };
      expect(await post(batch(event()), headers, target)).toMatchObject(accepted(1));
    }
    const inUrl = `${path}?api_key=${service.privateKey}`;
    expect(await post(batch(event()), noKey, inUrl)).toMatchObject(refused(401, 'unauthenticated'));
  });

  it('ends with revocation', async () => {
    const other = await startIngestService();
    const send = () =>
      fetch(other.baseUrl + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': other.publicKey },
        body: batch(event()),
      });
    expect((await send()).status).toBe(200);
    const found = await other.projects.ask(other.projectId);
    const keys = found.kind === 'found' ? found.record.keys : [];
    for (const { id } of keys) await revokeApiKey(other.projects, other.projectId, id, systemClock);
    expect((await send()).status).toBe(401);
    await other.stop();
  });
});

describe('the body', () => {
  it('may be compressed', async () => {
    const body = batch(event());
    const gzip = { 'content-encoding': 'gzip' };
    expect(await post(gzipSync(body), gzip)).toMatchObject(accepted(1));
    expect(await post(brotliCompressSync(body), { 'content-encoding': 'br' })).toMatchObject(
      accepted(1),
    );
    expect(await post(body, { 'content-encoding': 'identity' })).toMatchObject(accepted(1));
    expect(await post(body, gzip)).toMatchObject(
      refused(400, 'invalid_argument', 'body: must be whole and valid in its content encoding'),
    );
    expect(await post(gzipSync(body).subarray(0, -9), gzip)).toMatchObject(
      refused(400, 'invalid_argument'),
    );
    expect(await post(body, { 'content-encoding': 'zstd' })).toMatchObject(
      refused(501, 'unimplemented'),
    );
  });

  it('has a limit before and after decompression, which the error states', async () => {
    const message = `body: must not be larger than the limit, ${maxBodyBytes} bytes`;
    const large = `{"x":"${'a'.repeat(maxBodyBytes)}"}`;
    expect(await post(large)).toMatchObject(refused(400, 'invalid_argument', message));
    expect(await post(gzipSync(large), { 'content-encoding': 'gzip' })).toMatchObject(
      refused(400, 'invalid_argument', message),
    );
    const allowed = `{"events":[],"x":"${'a'.repeat(maxBodyBytes - 20)}"}`;
    expect(allowed).toHaveLength(maxBodyBytes);
    expect(await post(allowed)).toMatchObject(accepted(0));
  });

  it('of the largest size is queued, alone in its message', async () => {
    const padding = 'a'.repeat(maxBodyBytes - 400);
    const body = batch(event()).replace(/}$/, `,"x":"${padding}"}`);
    expect(await post(body)).toMatchObject(accepted(1));
    expect((await service.queued()).at(-1)?.body.length).toBe(body.length);
  });

  it('may come in pieces', async () => {
    const body = batch(event({ distinctId: 'żółw' }));
    const bytes = Buffer.from(body);
    const response = await new Promise<number | undefined>((resolve, reject) => {
      const request = httpRequest(service.baseUrl + path, {
        method: 'POST',
        agent: new Agent(),
        headers: { 'content-type': 'application/json', 'x-api-key': service.publicKey },
      });
      request.on('response', ({ statusCode }) => resolve(statusCode));
      request.on('error', reject);
      for (let at = 0; at < bytes.length; at += 7) request.write(bytes.subarray(at, at + 7));
      request.end();
    });
    expect(response).toBe(200);
    expect(Buffer.from((await service.queued()).at(-1)?.body ?? []).toString()).toBe(body);
  });

  it('that ends early costs its connection only', async () => {
    const before = (await service.queued()).length;
    const request = httpRequest(service.baseUrl + path, {
      method: 'POST',
      agent: new Agent(),
      headers: {
        'content-type': 'application/json',
        'x-api-key': service.publicKey,
        'content-length': '1000',
      },
    });
    request.on('error', () => {});
    await new Promise((resolve) => request.write('{"events":', resolve));
    request.destroy();
    expect(await post(batch(event()))).toMatchObject(accepted(1));
    expect(await service.queued()).toHaveLength(before + 1);
  });

  it('may be binary protobuf, which the answer is then too', async () => {
    const message = create(BatchCreateRequestSchema, {
      events: [
        {
          eventId: randomUUID(),
          kind: 'click',
          distinctId: 'u',
          sessionId: randomUUID(),
          occurTime: timestampNow(),
          autoProperties: { $ip: { value: { case: 'stringValue', value: '203.0.113.9' } } },
        },
      ],
    });
    const response = await fetch(service.baseUrl + path, {
      method: 'POST',
      headers: { 'content-type': 'application/proto', 'x-api-key': service.publicKey },
      body: toBinary(BatchCreateRequestSchema, message),
    });
    expect(response.headers.get('content-type')).toBe('application/proto');
    const answer = fromBinary(
      BatchCreateResponseSchema,
      new Uint8Array(await response.arrayBuffer()),
    );
    expect(answer.accepted).toBe(1);
    expect(answer.dropped).toBeUndefined();
    const [request] = await lastQueued();
    expect(JSON.stringify(request)).not.toContain('203.0.113.9');
  });

  it('that is broken protobuf is an invalid argument, answered in JSON', async () => {
    const headers = { 'content-type': 'application/proto' };
    expect(await post('{"events":[]}', headers)).toMatchObject(
      refused(400, 'invalid_argument', 'body: must be a valid protobuf message'),
    );
  });
});

describe('the protocol’s headers', () => {
  it('are checked: version and timeout', async () => {
    const wrongVersion = { 'connect-protocol-version': '2' };
    expect(await post(batch(event()), wrongVersion)).toMatchObject(
      refused(400, 'invalid_argument'),
    );
    for (const timeout of ['soon', '-1', '1.5', '12345678901']) {
      const headers = { 'connect-timeout-ms': timeout };
      expect(await post(batch(event()), headers)).toMatchObject(refused(400, 'invalid_argument'));
    }
    const good = { 'connect-protocol-version': '1', 'connect-timeout-ms': '9999' };
    expect(await post(batch(event()), good)).toMatchObject(accepted(1));
  });
});

describe('limits', () => {
  it('on one key’s events: 429 with Retry-After, and room again later', async () => {
    let nowMs = Date.now();
    const limited = await startIngestService({
      eventsPerSecond: 10,
      eventsBurst: 20,
      clock: { nowMs: () => nowMs },
    });
    const send = (key: string, count: number) =>
      fetch(limited.baseUrl + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': key },
        body: batch(...Array.from({ length: count }, () => event())),
      });
    expect((await send(limited.publicKey, 20)).status).toBe(200);
    const refusal = await send(limited.publicKey, 15);
    expect(refusal.status).toBe(429);
    expect(refusal.headers.get('retry-after')).toBe('2');
    expect(await refusal.json()).toEqual({
      code: 'resource_exhausted',
      message: expect.stringContaining('rate limit'),
    });
    expect((await send(limited.privateKey, 15)).status).toBe(200);
    nowMs += 2_000;
    expect((await send(limited.publicKey, 15)).status).toBe(200);
    await limited.stop();
  });

  it('on one key’s bytes: a body without events counts, whether it is refused or not', async () => {
    let nowMs = Date.now();
    const clock = { nowMs: () => nowMs };
    const limited = await startIngestService({ eventsPerSecond: 10, eventsBurst: 100, clock });
    const send = async (body: string) => {
      const headers = { 'content-type': 'application/json', 'x-api-key': limited.publicKey };
      const answer = await fetch(limited.baseUrl + path, { method: 'POST', headers, body });
      return answer.status;
    };
    const empty = ' '.repeat(90 * 1_024);
    expect(await send(`{"a":1,"a":1${empty}}`)).toBe(400);
    expect(await send(`{"events":[]${empty}}`)).toBe(429);
    nowMs += 8_000;
    expect(await send(`{"events":[]${empty}}`)).toBe(200);
    expect(await send(`{"a":1,"a":1${empty}}`)).toBe(429);
    await limited.stop();
  });

  it('of a full stream: 429 and nothing queued; a frozen broker: 504 at the sender’s timeout', async () => {
    // Longer than this test runs, so that only the sender's timeout can end the last request.
    const small = await startIngestService({
      eventsMaxBytes: 64 * 1_024,
      frameLz4: false,
      publishDeadlineMs: 600_000,
    });
    const send = (body: string, headers: Record<string, string> = {}, target = path) =>
      fetch(small.baseUrl + target, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': small.publicKey, ...headers },
        body,
      });
    const many = batch(...Array.from({ length: 150 }, () => event()));
    expect((await send(many)).status).toBe(200);
    expect((await send(many)).status).toBe(200);
    const full = await send(many);
    expect(full.status).toBe(429);
    expect(await full.json()).toMatchObject({ code: 'resource_exhausted' });
    expect(full.headers.get('retry-after')).toBe('1');
    expect(await small.queued()).toHaveLength(2);
    await freeze(small.broker, small.nats);
    const frozen = await send(batch(event()), { 'connect-timeout-ms': '200' });
    expect(frozen.status).toBe(504);
    expect(await frozen.json()).toMatchObject({ code: 'deadline_exceeded' });
    const identify = '/sdk.profiles.v1.ProfilesSDKService/Identify';
    const change = await send('{"externalId":"u"}', { 'connect-timeout-ms': '200' }, identify);
    expect(await change.json()).toEqual({
      code: 'deadline_exceeded',
      message:
        "the caller's time-out has passed: it is not known whether this request was queued: retry it unchanged",
    });
    small.broker.resume();
    // The broker queues it when it wakes, and then it counts.
    await expect.poll(async () => (await small.queued()).length).toBe(3);
    const accepted = () => metricValue(small.metrics, 'millrace_accepted_events_total');
    await expect.poll(accepted).toBe(301);
    await small.stop();
  });
});
