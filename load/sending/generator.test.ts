// What the generator promises of its counts and latencies, against servers that stall, refuse and hang up. run.test.ts
// runs it against the service.

import { createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { setTimeout as delay } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { selfSigned } from '../../test/harness/servers/mail-server.ts';
import { runLoad } from './generator.ts';
import { type PreparedBody, prepareBodies } from './prepared-body.ts';
import type { LoadResult } from './result.ts';

const batch = 3;
const accepted = JSON.stringify({ accepted: batch });
const nowMs = Date.UTC(2026, 10, 20, 12);

const servers: Server[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

async function listening(server: Server): Promise<number> {
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

interface Settings {
  connections?: number;
  seconds?: number;
  requestsPerSecond?: number;
  signal?: AbortSignal;
  bodies?: PreparedBody[];
}

function bodiesFor(count: number): PreparedBody[] {
  return prepareBodies({ size: 'small', batch, count, kind: 'load_x', seed: 1, nowMs });
}

function load(baseUrl: string, settings: Settings = {}): Promise<LoadResult> {
  return runLoad({
    ...{ baseUrl, publicKey: 'pub_x', seconds: 0.3, requestsPerSecond: 0, marks: undefined },
    ...{ signal: new AbortController().signal, onProgress: () => {} },
    bodies: bodiesFor(settings.connections ?? 2),
    ...settings,
  });
}

async function against(answer: RequestListener, settings: Settings = {}): Promise<LoadResult> {
  const port = await listening(
    createServer((request, response) => {
      request.resume().once('end', () => answer(request, response));
    }),
  );
  return load(`http://127.0.0.1:${port}`, settings);
}

describe('the end', () => {
  it('waits for the answers under way: nothing is stored that was not counted', async () => {
    let requests = 0;
    const result = await against(async (_, response) => {
      requests++;
      await delay(150);
      response.end(accepted);
    });
    expect(result.acknowledged).toBe(batch * requests);
    expect(result).toMatchObject({ answers: { 200: requests }, unanswered: 0 });
    expect(result.ended).toEqual({ kind: 'time' });
  });

  it('comes early where the run is interrupted, after the answers under way', async () => {
    const controller = new AbortController();
    let requests = 0;
    const result = await against(
      (_, response) => {
        if (++requests === 10) controller.abort();
        response.end(accepted);
      },
      { seconds: 600, signal: controller.signal },
    );
    expect(result.ended).toEqual({ kind: 'interrupted' });
    expect(result.acknowledged).toBe(batch * requests);
  });

  it('comes at once where nobody listens', async () => {
    const result = await load('http://127.0.0.1:1', { seconds: 600 });
    expect(result.ended).toEqual({ kind: 'gone', why: 'ECONNREFUSED' });
    expect(result).toMatchObject({ acknowledged: 0, unanswered: 0, latency: undefined });
  });

  it('comes where the server dies in the middle, with what was counted until then', async () => {
    let requests = 0;
    const result = await against(
      (_, response) => {
        if (++requests < 50) {
          response.end(accepted);
          return;
        }
        for (const server of servers) {
          server.close();
          server.closeAllConnections();
        }
      },
      { seconds: 600 },
    );
    expect(result.ended.kind).toBe('gone');
    expect(result.acknowledged).toBe(49 * batch);
    expect(result.unanswered).toBeGreaterThan(0);
  });
});

describe('a rate', () => {
  it('is even: no request goes out before it is due', async () => {
    const arrivedMs: number[] = [];
    const settings = { requestsPerSecond: 20, seconds: 0.5, bodies: bodiesFor(10) };
    const beganMs = performance.now();
    const result = await against((_, response) => {
      arrivedMs.push(performance.now());
      response.end(accepted);
    }, settings);
    for (const [index, atMs] of arrivedMs.entries()) {
      expect(atMs - beganMs).toBeGreaterThanOrEqual((1_000 * index) / settings.requestsPerSecond);
    }
    expect(result.due).toBe(10);
    expect(result.unsent).toBe(10 - arrivedMs.length);
  });

  it('counts a latency from the moment that a request was due, not from its sending', async () => {
    let requests = 0;
    const result = await against(
      async (_, response) => {
        // One stall: the requests that are due meanwhile are answered quickly once they are sent.
        if (++requests === 1) await delay(1_000);
        response.end(accepted);
      },
      { requestsPerSecond: 100, seconds: 1.5, connections: 1 },
    );
    expect(requests).toBeGreaterThan(1);
    expect(result.latency?.p50Ms).toBeGreaterThan(100);
    expect(result.latency?.highestMs).toBeGreaterThan(990);
  });

  it('that is beyond the server leaves requests unsent, and says how many', async () => {
    const result = await against(
      async (_, response) => {
        await delay(200);
        response.end(accepted);
      },
      { requestsPerSecond: 200, seconds: 0.3, connections: 2 },
    );
    const sent = result.answers['200'] ?? 0;
    expect(result).toMatchObject({ due: 60, unsent: 60 - sent });
    expect(sent).toBeLessThan(10);
  });
});

describe('answers', () => {
  it('other than 200 are counted by status, acknowledge nothing, and slow the sender down', async () => {
    const refusal = '{"code":"resource_exhausted","message":"too many"}';
    const result = await against((_, response) => response.writeHead(429).end(refusal), {
      connections: 3,
    });
    expect(Object.keys(result.answers)).toEqual(['429']);
    expect(result.answers['429']).toBeLessThanOrEqual(3 * 4);
    expect(result).toMatchObject({ acknowledged: 0, latency: undefined });
    expect(result.refusal).toBe(`429 ${refusal}`);
  });

  it('that never come are counted as such, and the connection is made anew', async () => {
    let requests = 0;
    let hungUp = 0;
    const result = await against((request, response) => {
      if (++requests % 5 > 0) return response.end(accepted);
      hungUp++;
      return request.socket.destroy();
    });
    expect(hungUp).toBeGreaterThan(0);
    expect(result.unanswered).toBe(hungUp);
    expect(result.acknowledged).toBe(batch * (requests - hungUp));
    expect(result.ended).toEqual({ kind: 'time' });
  });
});

it('a certificate that nobody vouches for gets no request, and no key', async () => {
  let requests = 0;
  const answer: RequestListener = (_, response) => {
    requests++;
    response.end(accepted);
  };
  const port = await listening(createTlsServer(selfSigned(), answer));
  const result = await load(`https://127.0.0.1:${port}`);
  expect(result.ended).toMatchObject({
    kind: 'gone',
    why: expect.stringMatching(/^certificate not trusted/),
  });
  expect(requests).toBe(0);
});
