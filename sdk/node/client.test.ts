// The client against a server that gives the answers of a service in trouble, and against the real ingest service.

import { createServer, type Server } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { afterEach, describe, expect, it } from 'vitest';
import { isPlaceholder } from '../../proto/wire/placeholder-ids.ts';
import { decodeChange } from '../../proto/wire/profile-change.ts';
import { startIngestService } from '../../test/harness/services/ingest-service.ts';
import { type Client, type ClientOptions, createClient } from './client.ts';

interface Received {
  path: string;
  body: { events?: { eventId: string; kind: string }[]; externalId?: string };
}

type Reply = { status: number; body?: object; retryAfter?: string } | 'hang up' | Promise<void>;

const servers: Server[] = [];
const clients: Client[] = [];
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close(0);
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server that gives these replies in order and then accepts everything, a client of it, and what it was sent. */
async function against(replies: Reply[], options: Partial<ClientOptions> = {}) {
  const received: Received[] = [];
  const lost: [number, string][] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const bytes = Buffer.concat(chunks);
    const isPacked = request.headers['content-encoding'] === 'gzip';
    const text = (isPacked ? gunzipSync(bytes) : bytes).toString();
    received.push({ path: request.url ?? '', body: JSON.parse(text) });
    const reply = replies[received.length - 1] ?? { status: 200 };
    if (reply === 'hang up') return request.socket.destroy();
    if (reply instanceof Promise) await reply;
    const {
      status,
      body = {},
      retryAfter,
    } = reply instanceof Promise ? { status: 200 } : { ...reply };
    const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
    return response.writeHead(status, headers).end(JSON.stringify(body));
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : 0;
  const onDrop = (events: number, why: string) => void lost.push([events, why]);
  const client = createClient({
    url: `http://127.0.0.1:${port}/`,
    key: 'prv_x',
    onDrop,
    ...options,
  });
  clients.push(client);
  return { client, received, lost };
}

const event = (kind: string) => ({ kind, distinctId: 'ada' });
const kindsOf = ({ body }: Received) => body.events?.map(({ kind }) => kind);

describe('the queue', () => {
  it('sends a batch when it is full, and the rest when it is flushed, in order', async () => {
    const { client, received } = await against([], { flushAt: 2, flushMs: 60_000 });
    for (const kind of ['a', 'b', 'c']) expect(client.track(event(kind))).toBe(true);
    await client.flush();
    client.track(event('d'));
    client.identify({ externalId: 'ada', traits: { plan: 'pro' } });
    client.track(event('e'));
    await client.flush();
    expect(received.map((one) => kindsOf(one) ?? one.body.externalId)).toEqual([
      ['a', 'b'],
      ['c'],
      ['d'],
      'ada',
      ['e'],
    ]);
    const path = '/sdk.profiles.v1.ProfilesSDKService/Identify';
    expect(received[3]?.path.replace(/\?.*/, '')).toBe(path);
  });

  it('sends by itself after a while', async () => {
    const { client, received } = await against([], { flushMs: 10 });
    client.track(event('a'));
    await expect.poll(() => received.length).toBe(1);
    client.track(event('b'));
    await expect.poll(() => received.length).toBe(2);
  });

  it('repeats what failed with the same ids', async () => {
    const replies: Reply[] = [
      { status: 503, body: { code: 'unavailable' } },
      'hang up',
      { status: 429, retryAfter: '0' },
      { status: 200, body: { accepted: 0, dropped: 1, droppedByReason: { salt_unavailable: 1 } } },
    ];
    const { client, received, lost } = await against(replies, { flushMs: 60_000 });
    client.track(event('a'));
    await client.flush();
    expect(received).toHaveLength(5);
    expect(new Set(received.map(({ body }) => body.events?.[0]?.eventId)).size).toBe(1);
    expect(lost).toEqual([]);
  });

  it('tells the time of each try', async () => {
    const before = Date.now();
    const { client, received } = await against([{ status: 503 }], { flushMs: 60_000 });
    client.track(event('a'));
    await client.flush();
    const times = received.map(({ path }) => Number(/[?&]sent=(\d+)$/.exec(path)?.[1]));
    expect(times).toHaveLength(2);
    const [first = 0, second = 0] = times;
    expect(first).toBeGreaterThanOrEqual(before);
    // A timer may end a millisecond before its time on the wall.
    expect(second).toBeGreaterThanOrEqual(first + 99);
    expect(second).toBeLessThanOrEqual(Date.now());
  });

  it('takes no placeholder for an id where it would merge somebody, as the service', async () => {
    const { client, received, lost } = await against([], { flushMs: 60_000 });
    const ids: unknown[] = [
      undefined,
      null,
      Number.NaN,
      {},
      [],
      false,
      0,
      ' ',
      'Guest',
      'null\n',
      '{}',
      '(null)',
    ];
    for (const id of ids) {
      const externalId = id as string;
      expect(client.identify({ externalId, anonymousId: 'anon-1' })).toBe(false);
      expect(client.alias({ externalId, previousId: 'a' })).toBe(false);
      expect(client.alias({ externalId: 'a', previousId: externalId })).toBe(false);
      const text = String(id);
      expect(isPlaceholder(text)).toBe(true);
    }
    expect(client.dropped).toBe(3 * ids.length);
    expect(lost[0]).toEqual([1, 'the id "undefined" names nobody']);
    for (const id of ['ada', '00', 'nobody', 'guests', '[object]', 'x null']) {
      expect(client.alias({ externalId: id, previousId: 'a' })).toBe(!isPlaceholder(id));
    }
    expect(client.identify({ externalId: 'guest', traits: { plan: 'pro' } })).toBe(true);
    await client.flush();
    expect(received).toHaveLength(7);
  });

  it('drops the event that is refused alone, and tells it', async () => {
    const message = 'events[1].kind: must match ^[a-zA-Z0-9_.-]+$';
    const refusal = { status: 400, body: { code: 'invalid_argument', message } };
    const { client, received, lost } = await against([refusal], { flushMs: 60_000 });
    for (const kind of ['a', 'b!', 'c']) client.track(event(kind));
    await client.flush();
    expect(received.map(kindsOf)).toEqual([
      ['a', 'b!', 'c'],
      ['a', 'c'],
    ]);
    expect([lost, client.dropped]).toEqual([[[1, message]], 1]);
  });

  it('drops a batch that is refused as a whole, and goes on', async () => {
    const refusal = { status: 401, body: { code: 'unauthenticated', message: 'no' } };
    const { client, received, lost } = await against([refusal], { flushAt: 2, flushMs: 60_000 });
    for (const kind of ['a', 'b', 'c']) client.track(event(kind));
    await client.flush();
    expect(received.map(kindsOf)).toEqual([['a', 'b'], ['c']]);
    expect(lost).toEqual([[2, 'no']]);
  });

  it('has a bound, beyond which it refuses', async () => {
    let answer = (): void => {};
    const held = new Promise<void>((resolve) => (answer = resolve));
    const { client, received, lost } = await against([held], { maxQueued: 3, flushAt: 2 });
    const taken = ['a', 'b', 'c', 'd'].map((kind) => client.track(event(kind)));
    expect([taken, lost]).toEqual([[true, true, true, false], [[1, 'the queue is full']]]);
    answer();
    await client.flush();
    expect(client.track(event('e'))).toBe(true);
    await client.flush();
    expect(received.flatMap(kindsOf)).toEqual(['a', 'b', 'c', 'e']);
  });

  it('sends no more bytes at once than the service takes, in letters of any script', async () => {
    const { client, received } = await against([], { flushMs: 60_000, flushAt: 1_000 });
    // Two million characters, six million bytes.
    const properties = Object.fromEntries(
      Array.from({ length: 20 }, (_, at) => [`text${at}`, '文'.repeat(1_024)]),
    );
    for (let at = 0; at < 100; at++) client.track({ ...event('a'), properties });
    await client.flush();
    expect(received.map(({ body }) => body.events?.length)).toEqual([67, 33]);
  });

  it('is empty once the client is closed, or told as lost', async () => {
    const { client, received } = await against([], { flushMs: 60_000 });
    client.track(event('a'));
    await client.close();
    expect(received).toHaveLength(1);
    expect(client.track(event('b'))).toBe(false);
    const stuck = await against([new Promise(() => {})], { flushMs: 60_000 });
    stuck.client.track(event('a'));
    await stuck.client.close(20);
    expect(stuck.lost).toEqual([[1, 'the client was closed']]);
    // While it waits for another try, too.
    const down = await against([{ status: 503, retryAfter: '600' }], { flushMs: 60_000 });
    down.client.track(event('a'));
    await down.client.close(20);
    expect(down.client.dropped).toBe(1);
  });
});

it('sends what the service takes: typed values, texts cut, changes, packed bodies', async () => {
  const service = await startIngestService();
  try {
    const lost: string[] = [];
    const { baseUrl: url, privateKey: key } = service;
    const client = createClient({ url, key, onDrop: (_, why) => lost.push(why) });
    clients.push(client);
    const properties = {
      ...{ text: 'é'.repeat(1_100), half: 'a\ud83d', int: 42, big: 2n ** 63n - 1n, double: 0.5 },
      ...{ yes: true, time: new Date(0), list: [1, 'a'], $url: 'https://shop.example/' },
      ...{
        none: null,
        nan: Number.NaN,
        absent: undefined,
        huge: 2n ** 63n,
        wrong: new Date(Number.NaN),
      },
    };
    const occurTime = new Date();
    client.track({ kind: 'typed', distinctId: 'ada', occurTime, properties });
    client.track({ kind: 'same_visit', distinctId: 'ada', occurTime });
    const [traits, traitsOnce] = [{ plan: 'pro' }, { source: 'news' }];
    client.identify({ externalId: 'ada', anonymousId: 'anon-1', traits, traitsOnce });
    client.alias({ previousId: 'old', externalId: 'ada' });
    await client.close();
    expect(lost).toEqual([]);
    const [request] = await service.queued();
    const { events } = JSON.parse(Buffer.from(request?.body ?? []).toString());
    expect(events[0].customProperties).toEqual({
      text: { stringValue: 'é'.repeat(1_024) },
      half: { stringValue: 'a\ufffd' },
      int: { intValue: '42' },
      big: { intValue: String(2n ** 63n - 1n) },
      double: { doubleValue: 0.5 },
      yes: { boolValue: true },
      time: { timestampValue: '1970-01-01T00:00:00.000Z' },
      list: { stringValue: '[1,"a"]' },
    });
    expect(events[0].autoProperties).toEqual({ $url: { stringValue: 'https://shop.example/' } });
    expect(events[1].sessionId).toBe(events[0].sessionId);
    const changes = await service.queued('PROFILES_0');
    expect(changes.map(({ body }) => decodeChange(body))).toMatchObject([
      { anonymousId: 'anon-1', traits: [['plan', '"pro"']], traitsOnce: [['source', '"news"']] },
      { kind: 'alias', previousId: 'old' },
    ]);
  } finally {
    await service.stop();
  }
});
