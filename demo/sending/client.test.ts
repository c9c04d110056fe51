// The client's decisions on answers: repeat, refuse or go on. commands.test.ts tests it with a real instance; here a
// server gives the answers of an instance that is overloaded or going down.

import { createServer, type Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type Client, createClient } from './client.ts';
import type { Delivery } from './deliveries.ts';
import { RequestRefused } from './request-refused.ts';
import { sendAll } from './send.ts';

type Reply = { status: number; body: object; retryAfter?: string } | 'hang up';

const opened: { server: Server; client: Client }[] = [];
afterEach(async () => {
  for (const { server, client } of opened.splice(0)) {
    await client.close();
    server.closeAllConnections();
    server.close();
  }
});

/** A server that gives these replies in order, the last one for ever, and a client of it. */
async function against(
  replies: Reply[],
): Promise<{ client: Client; bodies: string[]; retries: () => number }> {
  const bodies: string[] = [];
  let retries = 0;
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk) => {
      body += chunk;
    });
    request.once('end', () => {
      bodies.push(body);
      const reply = replies[Math.min(bodies.length, replies.length) - 1];
      if (reply === undefined || reply === 'hang up') return request.socket.destroy();
      const headers = reply.retryAfter === undefined ? {} : { 'retry-after': reply.retryAfter };
      return response.writeHead(reply.status, headers).end(JSON.stringify(reply.body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const baseUrl = `http://127.0.0.1:${port}`;
  const client = createClient({ baseUrl, connections: 2, onRetry: () => retries++ });
  opened.push({ server, client });
  return { client, bodies, retries: () => retries };
}

const ok: Reply = { status: 200, body: { accepted: 3 } };

describe('a request', () => {
  it('that was not queued, or may not have been, is sent again as it was', async () => {
    const exhausted: Reply = { status: 429, body: { code: 'resource_exhausted' }, retryAfter: '0' };
    const unavailable: Reply = { status: 503, body: { code: 'unavailable' } };
    const { client, bodies, retries } = await against([exhausted, unavailable, 'hang up', ok]);
    expect(await client.sendEvents([], 'pub_x')).toBe(3);
    expect(new Set(bodies)).toEqual(new Set(['{"events":[]}']));
    expect(bodies).toHaveLength(4);
    expect(retries()).toBe(3);
  });

  it('waits for as long as the answer asks', async () => {
    const { client } = await against([{ status: 429, body: {}, retryAfter: '1' }, ok]);
    const startMs = performance.now();
    await client.sendEvents([], 'pub_x');
    expect(performance.now() - startMs).toBeGreaterThanOrEqual(990);
  });

  it('for the profile of a listed event is sent again until the profile is there', async () => {
    const missing: Reply = { status: 404, body: { code: 'not_found' } };
    const { client, bodies } = await against([
      missing,
      { status: 200, body: { profile: { id: 'a' } } },
    ]);
    expect(await client.getProfile('a', 'prv_x')).toMatchObject({ id: 'a' });
    expect(bodies).toHaveLength(2);
  });

  it.each([400, 401, 403, 404, 501])(
    'answered with %i is refused with its text',
    async (status) => {
      const { client, bodies } = await against([
        { status, body: { code: 'some_code', message: 'why' } },
      ]);
      const refused = await client.sendEvents([], 'pub_x').catch((error) => error);
      expect(refused).toBeInstanceOf(RequestRefused);
      expect(refused.message).toBe(`the instance answered ${status} some_code: why`);
      expect(bodies).toHaveLength(1);
    },
  );

  it('that no server answers is refused with the advice to start one', async () => {
    const client = createClient({ baseUrl: 'http://127.0.0.1:1', connections: 1 });
    await expect(client.checkReady()).rejects.toThrow(
      'no Millrace answers at http://127.0.0.1:1 (ECONNREFUSED): start one with `npm start`, or name it with --url',
    );
    await client.close();
  });

  it('that something else than Millrace answers is refused: nothing is sent there', async () => {
    const { client, bodies } = await against([ok]);
    await expect(client.checkReady()).rejects.toThrow(
      /^no Millrace answers at .* \(\/readyz does not say ready\): /,
    );
    expect(bodies).toHaveLength(1);
  });
});

describe('sending', () => {
  it('stops at the first refusal and leaves the rest unread', async () => {
    const { client } = await against([{ status: 400, body: {} }]);
    let taken = 0;
    function* endless(): Generator<Delivery> {
      for (; taken < 10_000; taken++) yield { credential: 'public', events: [] };
    }
    const target = { baseUrl: '', publicKey: 'pub_x', privateKey: 'prv_x' };
    const options = { client, target, connections: 2, eventsPerSecond: 0, onProgress: () => {} };
    await expect(sendAll(endless(), options)).rejects.toThrow(RequestRefused);
    expect(taken).toBeLessThan(10);
  });

  it('keeps to a rate', async () => {
    const { client } = await against([{ status: 200, body: { accepted: 0 } }]);
    const event = { eventId: '', kind: 'x', distinctId: '', sessionId: '', occurTime: '' };
    const one = { ...event, autoProperties: {}, customProperties: {} };
    function* stream(): Generator<Delivery> {
      for (let index = 0; index < 30; index++) yield { credential: 'public', events: [one] };
    }
    const target = { baseUrl: '', publicKey: 'pub_x', privateKey: 'prv_x' };
    const options = {
      client,
      target,
      connections: 2,
      eventsPerSecond: 100,
      onProgress: () => {},
    };
    const sent = await sendAll(stream(), options);
    expect(sent.requests).toBe(30);
    expect(sent.elapsedMs).toBeGreaterThanOrEqual(280);
  });
});
