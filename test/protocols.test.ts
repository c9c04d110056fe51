// One port speaks Connect, gRPC and gRPC-web, in JSON and binary protobuf, with gzip; generated clients and curl-like
// calls reach the same methods, with the right error for each wrong credential.

import { randomUUID } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { gzipSync } from 'node:zlib';
import {
  create,
  createFileRegistry,
  fromBinary,
  fromJsonString,
  toBinary,
} from '@bufbuild/protobuf';
import { FileDescriptorSetSchema, timestampNow } from '@bufbuild/protobuf/wkt';
import { createClient, type Transport } from '@connectrpc/connect';
import {
  compressionGzip,
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
} from '@connectrpc/connect-node';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createApiKey, revokeApiKey } from '../control/projects/project-record.ts';
import { readProject } from '../platform/access/projects.ts';
import { buckets } from '../platform/broker/buckets.ts';
import { connectBroker } from '../platform/broker/nats.ts';
import { openBucket } from '../platform/broker/record-bucket.ts';
import { watchBucket } from '../platform/broker/watched-bucket.ts';
import { systemClock } from '../platform/clock.ts';
import { createLog } from '../platform/log.ts';
import {
  BatchCreateRequestSchema,
  EventSchema,
  EventsService,
} from '../proto/gen/sdk/events/v1/events_pb.js';
import { ActivityService } from '../proto/gen/shared/activity/v1/activity_pb.js';
import { ProfilesService } from '../proto/gen/shared/profiles/v1/profiles_pb.js';
import {
  hasBrowser,
  leaveWithBeacons,
  servePage,
  startBrowser,
} from './harness/clients/browser.ts';
import {
  batchCreate,
  call,
  eventually,
  listActivity,
  newEvent,
  type Sent,
} from './harness/clients/client.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(async () => {
  await stack.stop();
});

describe('generated clients', () => {
  const transports: [string, () => Transport][] = [];
  for (const useBinaryFormat of [false, true]) {
    for (const gzip of [false, true]) {
      const name = `${useBinaryFormat ? 'binary' : 'JSON'}${gzip ? ', gzip' : ''}`;
      const options = () => ({
        baseUrl: stack.baseUrl,
        useBinaryFormat,
        ...(gzip && {
          acceptCompression: [compressionGzip],
          sendCompression: compressionGzip,
          compressMinBytes: 1,
        }),
      });
      transports.push(
        [`Connect, ${name}`, () => createConnectTransport({ ...options(), httpVersion: '1.1' })],
        [
          `Connect over HTTP/2, ${name}`,
          () => createConnectTransport({ ...options(), httpVersion: '2' }),
        ],
        [`gRPC, ${name}`, () => createGrpcTransport(options())],
        [`gRPC-web, ${name}`, () => createGrpcWebTransport({ ...options(), httpVersion: '1.1' })],
      );
    }
  }

  it.each(transports)('%s', async (_, transport) => {
    const distinctId = randomUUID();
    const event = create(EventSchema, {
      eventId: randomUUID(),
      kind: 'purchase',
      distinctId,
      sessionId: randomUUID(),
      occurTime: timestampNow(),
      customProperties: { big: { value: { case: 'intValue', value: 2n ** 63n - 1n } } },
    });
    const events = createClient(EventsService, transport());
    const sent = await events.batchCreate(
      { events: [event] },
      { headers: { 'x-api-key': stack.publicKey } },
    );
    expect(sent.accepted).toBe(1);
    await expect(events.batchCreate({ events: [event] })).rejects.toMatchObject({
      rawMessage: expect.stringContaining('no credential'),
    });

    const headers = { 'x-api-key': stack.privateKey };
    const activity = createClient(ActivityService, transport());
    const page = await eventually(
      () => activity.list({ distinctId }, { headers }),
      ({ events }) => events.length === 1,
    );
    expect(page.events[0]?.customProperties['big']?.value).toEqual({
      case: 'intValue',
      value: 2n ** 63n - 1n,
    });
    const profiles = createClient(ProfilesService, transport());
    // The view's part is committed a moment after the part of `events`.
    const profile = await eventually(
      () =>
        profiles.get({ id: page.events[0]?.profileId ?? '' }, { headers }).then(
          (answer) => answer.profile,
          () => undefined,
        ),
      (found) => found !== undefined,
    );
    expect(profile?.activity?.totalEvents).toBe(1n);
  });
});

describe.runIf(hasBrowser)('a page of another site, in a browser', () => {
  const batchPath = '/sdk.events.v1.EventsService/BatchCreate';
  let browser: Browser;
  let site: Awaited<ReturnType<typeof servePage>>;
  let page: Page;
  beforeAll(async () => {
    site = await servePage();
    browser = await startBrowser();
    const context = await browser.newContext();
    const cookie = { name: 'millrace_refresh', value: stack.privateKey, url: stack.baseUrl };
    await context.addCookies([cookie]);
    page = await context.newPage();
    await page.goto(site.url);
  });
  afterAll(async () => {
    await browser?.close();
    await site?.stop();
  });

  /** As bytes, which a page can make a body of any type of. */
  function bytesOf(events: readonly Sent[], type: string): number[] {
    const json = JSON.stringify({ events });
    if (type !== 'application/proto') return [...Buffer.from(json)];
    return [...toBinary(BatchCreateRequestSchema, fromJsonString(BatchCreateRequestSchema, json))];
  }

  async function acceptedEvents(): Promise<number> {
    const metrics = await (await fetch(`${stack.baseUrl}/metrics`)).text();
    return Number(/^millrace_accepted_events_total (\d+)/m.exec(metrics)?.[1]);
  }

  function fetchFromPage(path: string, type: string, key: string | undefined, bytes: number[]) {
    return page.evaluate(
      async ([url, type, key, bytes]) => {
        const response = await fetch(url, {
          method: 'POST',
          credentials: 'include',
          headers: { 'content-type': type, ...(key !== undefined && { 'x-api-key': key }) },
          body: new Uint8Array(bytes),
        }).catch(() => undefined);
        return response && { status: response.status, text: await response.text() };
      },
      [stack.baseUrl + path, type, key, bytes] as const,
    );
  }

  it('stores each of its beacons once, sent while it is left', async () => {
    const distinctId = randomUUID();
    const types = ['application/json', 'application/proto', 'text/plain'];
    const sent = types.map((type) => ({ type, event: newEvent({ distinctId }) }));
    const bodies = sent.map(({ type, event }) => ({ type, bytes: bytesOf([event], type) }));
    const before = await acceptedEvents();
    const url = `${stack.baseUrl}${batchPath}?api_key=${stack.publicKey}`;
    await leaveWithBeacons(page, url, bodies);
    const stored = await eventually(
      () => listActivity(stack, { distinctId }),
      ({ events }) => events.length >= types.length,
    );
    const ids = stored.events.map(({ eventId }) => eventId);
    expect(ids.sort()).toEqual(sent.map(({ event }) => event.eventId).sort());
    expect(await acceptedEvents()).toBe(before + types.length);
    await page.goto(site.url);
  });

  it('fetches with credentials, and reads the answer', async () => {
    const distinctId = randomUUID();
    for (const type of ['application/json', 'application/proto']) {
      const bytes = bytesOf([newEvent({ distinctId })], type);
      const answer = await fetchFromPage(batchPath, type, stack.publicKey, bytes);
      expect(answer?.status).toBe(200);
    }
    await eventually(
      () => listActivity(stack, { distinctId }),
      ({ events }) => events.length === 2,
    );
  });

  it('is let in by its key alone, never by a cookie', async () => {
    const bytes = bytesOf([newEvent()], 'application/json');
    const refused = await fetchFromPage(batchPath, 'application/json', undefined, bytes);
    expect(refused?.status).toBe(401);
  });

  it('reads the answer to a method that is not there, and none of a method of servers', async () => {
    const ask = (path: string) => fetchFromPage(path, 'application/json', stack.publicKey, []);
    expect((await ask('/sdk.events.v1.EventsService/Create'))?.status).toBe(404);
    expect(await ask('/shared.profiles.v1.ProfilesService/Get')).toBeUndefined();
  });
});

describe('by hand', () => {
  it('reads binary texts as they were sent, or refuses them', async () => {
    const distinctId = `\ufeff${randomUUID()}`;
    const event = create(EventSchema, {
      eventId: randomUUID(),
      kind: 'k',
      distinctId,
      sessionId: randomUUID(),
      occurTime: timestampNow(),
    });
    const bytes = toBinary(
      BatchCreateRequestSchema,
      create(BatchCreateRequestSchema, { events: [event] }),
    );
    const post = (body: Uint8Array<ArrayBuffer>) =>
      fetch(`${stack.baseUrl}/sdk.events.v1.EventsService/BatchCreate`, {
        method: 'POST',
        headers: { 'content-type': 'application/proto', 'x-api-key': stack.publicKey },
        body,
      });
    expect((await post(bytes)).status).toBe(200);
    await eventually(
      () => listActivity(stack, { distinctId }),
      (page) => page.events.length === 1,
    );
    const broken = bytes.map((byte) => (byte === 0xef ? 0xff : byte));
    const refused = await post(broken);
    expect(refused.status).toBe(400);
    expect(await refused.json()).toMatchObject({ code: 'invalid_argument' });
  });

  it('takes a gzip body, and a beacon with the key in the URL', async () => {
    const body = JSON.stringify({ events: [newEvent()] });
    const path = '/sdk.events.v1.EventsService/BatchCreate';
    const zipped = await fetch(stack.baseUrl + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-encoding': 'gzip',
        'x-api-key': stack.publicKey,
      },
      body: gzipSync(body),
    });
    expect(await zipped.json()).toEqual({ accepted: 1 });
    const beacon = await fetch(`${stack.baseUrl}${path}?api_key=${stack.publicKey}`, {
      method: 'POST',
      headers: { 'content-type': 'text/plain;charset=UTF-8', origin: 'https://shop.example' },
      body,
    });
    expect(beacon.headers.get('access-control-allow-origin')).toBe('https://shop.example');
    expect(await beacon.json()).toEqual({ accepted: 1 });
    const read = await fetch(
      `${stack.baseUrl}/shared.profiles.v1.ProfilesService/Get?api_key=${stack.publicKey}`,
      { method: 'POST', headers: { 'content-type': 'text/plain' }, body: '{}' },
    );
    expect(read.status).toBe(415);
    const preflight = await fetch(stack.baseUrl + path, {
      method: 'OPTIONS',
      headers: { origin: 'https://shop.example', 'access-control-request-method': 'POST' },
    });
    expect(preflight.status).toBe(204);
    expect(preflight.headers.get('access-control-max-age')).toBe('7200');
  });

  it('serves the second names', async () => {
    const distinctId = randomUUID();
    const plain = {
      name: 'signup',
      properties: { distinct_id: distinctId, plan: 'pro' },
      sessionId: 's1',
    };
    const sent = await call(
      stack.baseUrl,
      '/events.v1.EventsService/BatchCreate',
      stack.publicKey,
      { events: [plain] },
    );
    expect(sent).toMatchObject({ status: 200, body: { eventsCreated: 1 } });
    const get = await call(stack.baseUrl, '/profiles.v1.ProfilesService/Get', stack.privateKey, {
      id: '0'.repeat(32),
    });
    expect(get).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  it('refuses each wrong credential with its own error', async () => {
    const get = (key: string) =>
      call(stack.baseUrl, '/shared.profiles.v1.ProfilesService/Get', key, { id: 'x' });
    expect(await get(stack.publicKey)).toMatchObject({
      status: 403,
      body: { code: 'permission_denied' },
    });
    expect(await get('prv_garbage')).toMatchObject({
      status: 401,
      body: { code: 'unauthenticated' },
    });
    const other = await batchCreate(stack, [], { headers: { 'x-project-id': randomUUID() } });
    expect(other).toMatchObject({ status: 404, body: { code: 'not_found' } });
    // Access is decided before the body is read.
    const path = '/sdk.events.v1.EventsService/BatchCreate';
    expect(await call(stack.baseUrl, path, 'pub_x', '{broken')).toMatchObject({ status: 401 });
    expect(await call(stack.baseUrl, path, stack.publicKey, '{broken')).toMatchObject({
      status: 400,
      body: { code: 'invalid_argument' },
    });
  });

  it('stops a revoked key', async () => {
    const log = createLog('silent');
    const nats = await connectBroker(stack.natsUrl, log);
    const store = await watchBucket(nats, await openBucket(nats, buckets.projects, readProject), {
      log,
    });
    const made = await createApiKey(store, stack.projectId, { kind: 'private' }, systemClock);
    if (made.kind !== 'created') throw new Error(made.kind);
    const { raw, record } = made.key;
    const status = async () => (await batchCreate(stack, [], { key: raw })).status;
    await eventually(status, (code) => code === 200);
    await revokeApiKey(store, stack.projectId, record.id, systemClock);
    await eventually(status, (code) => code === 401);
    await store.close();
    await nats.close();
  });

  it('answers a slow sender of headers by closing, and keeps serving', async () => {
    const path = '/sdk.events.v1.EventsService/BatchCreate';
    const { port, hostname } = new URL(stack.baseUrl);
    const slow = httpRequest({
      port,
      hostname,
      path,
      method: 'POST',
      headers: { 'x-api-key': stack.publicKey },
    });
    slow.on('error', () => {});
    slow.write('{"events":[');
    expect((await batchCreate(stack, [newEvent()])).status).toBe(200);
    slow.destroy();
  });

  it('publishes its definitions and its metrics', async () => {
    const bytes = new Uint8Array(
      await (await fetch(`${stack.baseUrl}/descriptors.binpb`)).arrayBuffer(),
    );
    const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, bytes));
    expect(
      registry.getService('sdk.events.v1.EventsService')?.methods.map(({ name }) => name),
    ).toEqual(['BatchCreate']);
    const metrics = await (await fetch(`${stack.baseUrl}/metrics`)).text();
    expect(metrics).toMatch(/^millrace_accepted_events_total [1-9]/m);
    expect(metrics).toMatch(/^millrace_refused_requests_total\{reason="\w+"\} [1-9]/m);
    for (const name of ['frames_total', 'pipeline_events_total', 'pipeline_insert_seconds_count']) {
      expect(metrics).toContain(`millrace_${name}`);
    }
  });

  it('answers an unknown path with the envelope', async () => {
    const answer = await call(stack.baseUrl, '/no.such.Service/Method', stack.publicKey, {});
    expect(answer).toMatchObject({ status: 404, body: { code: 'unimplemented' } });
    const near = await call(stack.baseUrl, '/ProfilesService/Gett', stack.publicKey, {});
    const message =
      'there is no such method: did you mean /shared.profiles.v1.ProfilesService/Get?';
    expect(near.body).toEqual({ code: 'unimplemented', message });
  });

  it('says at the address itself what it is', async () => {
    const page = await (await fetch(stack.baseUrl)).text();
    expect(page).toContain('Millrace, an analytics event service');
  });
});
