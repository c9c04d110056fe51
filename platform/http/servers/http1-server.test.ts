// HTTP/1.1 under attack beyond slow senders (../http.test.ts): readers that do not read, requests without waiting for
// answers, connections without end; and long answers, which none of this may touch.

import type { ServerResponse } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { type Dialled, dial as dialPort } from '../../../test/harness/clients/dial.ts';
import { type HttpServer, startHttp } from '../http.ts';

/** Longer than any test. */
const never = 3_600_000;
const opened: { server?: HttpServer; connections: Dialled[] } = { connections: [] };

afterEach(async () => {
  for (const { socket } of opened.connections.splice(0)) socket.destroy();
  await opened.server?.close(0);
});

/** `/large` sends 64 MiB, more than the kernel's buffers take; `/wait` never answers. */
async function start(stallMs: number, connections = 100) {
  const running = new Set<ServerResponse>();
  let started = 0;
  let refused = 0;
  const server = await startHttp({
    host: '127.0.0.1',
    port: 0,
    nodeHttpRoutes: [
      (_request, response, { path }) => {
        started++;
        running.add(response);
        response.once('close', () => running.delete(response));
        if (path === '/large') response.end(Buffer.alloc(64 * 1_048_576));
        if (path === '/short') response.end('short');
        return true;
      },
    ],
    connect: { routes: () => {} },
    serviceAliases: new Map(),
    idle: { keepAliveMs: never, stallMs },
    bounds: { connections, http2Sessions: 100, http2Streams: 100 },
    onRefusedConnection: () => refused++,
  });
  opened.server = server;
  return { server, port: server.port, running, started: () => started, refused: () => refused };
}

function dial(port: number): Dialled {
  const dialled = dialPort(port);
  opened.connections.push(dialled);
  return dialled;
}

const get = (path: string): string => `GET ${path} HTTP/1.1\r\nhost: a\r\n\r\n`;

describe('a connection is closed', () => {
  it('whose answer nobody takes', async () => {
    const { port, running, started } = await start(100);
    const { socket } = dial(port);
    socket.pause();
    socket.write(get('/large'));
    await expect.poll(started).toBe(1);
    await expect.poll(() => running.size).toBe(0);
  });

  it('that sends many requests without waiting for an answer', async () => {
    const { port, started } = await start(never);
    const { socket, closed } = dial(port);
    socket.write(get('/wait').repeat(10_000));
    await closed;
    expect(started()).toBe(16);
  });

  it('that is one too many, in all or of one sender', async () => {
    // One address has a quarter of them.
    const { port, refused } = await start(never, 8);
    const served = [dial(port), dial(port)];
    for (const { socket, received } of served) {
      socket.write(get('/short'));
      await expect.poll(received).toContain('short');
    }
    await dial(port).closed;
    expect(refused()).toBe(1);
    served[0]?.socket.destroy();
    await served[0]?.closed;
    await expect
      .poll(async () => {
        const next = dial(port);
        next.socket.write(get('/short').replace('\r\n\r\n', '\r\nconnection: close\r\n\r\n'));
        await next.closed;
        return next.received();
      })
      .toContain('short');
  });
});

it('a hundred answers on one connection do not count against it', async () => {
  const { port, started } = await start(never);
  const { socket, received } = dial(port);
  for (let count = 1; count <= 250; count++) {
    socket.write(get('/short'));
    await expect.poll(() => received().split('short').length - 1, { interval: 1 }).toBe(count);
  }
  expect(started()).toBe(250);
});

it('an answer that has nothing to send yet goes on, and ends after the server has begun to close', async () => {
  const stallMs = 50;
  const { port, server, running } = await start(stallMs);
  const { socket, received, closed } = dial(port);
  socket.write(get('/wait'));
  await expect.poll(() => running.size).toBe(1);
  for (let age = 0; age < 5; age++) {
    for (const response of running) response.write('part ');
    await new Promise((resolve) => setTimeout(resolve, 2 * stallMs));
  }
  const serverClosed = server.close(60_000);
  for (const response of running) response.end('end');
  await Promise.all([serverClosed, closed]);
  expect(received().match(/part/g)).toHaveLength(5);
  expect(received()).toContain('end');
});
