// The port's edges that no request reaches: slow senders, prefaces in pieces, connections that are idle at the end.

import { connect as connectHttp2 } from 'node:http2';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { type Dialled, dial as dialPort } from '../../test/harness/clients/dial.ts';
import { type HttpServer, startHttp } from './http.ts';

const opened: { sockets: Socket[]; servers: HttpServer[] } = { sockets: [], servers: [] };

afterEach(async () => {
  for (const socket of opened.sockets.splice(0)) socket.destroy();
  for (const server of opened.servers.splice(0)) await server.close(0);
});

async function start(arrival?: { requestMs: number; headersMs: number }): Promise<HttpServer> {
  const server = await startHttp({
    host: '127.0.0.1',
    port: 0,
    nodeHttpRoutes: [
      (request, response) => {
        request.resume();
        request.once('end', () => response.end('whole'));
        return true;
      },
    ],
    connect: { routes: () => {} },
    serviceAliases: new Map(),
    ...(arrival === undefined ? {} : { arrival }),
  });
  opened.servers.push(server);
  return server;
}

/** A connection that is destroyed after the test. */
function dial(port: number): Dialled {
  const dialled = dialPort(port);
  opened.sockets.push(dialled.socket);
  return dialled;
}

describe('one port', () => {
  it.each([
    ['headers', 'GET / HTTP/1.1\r\nhost: a\r\n', 'x: y\r\n'],
    ['a body', 'POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 100000\r\n\r\n', ' '],
  ])('ends a sender that drips %s', async (_name, opening, drop) => {
    const { port } = await start({ requestMs: 400, headersMs: 200 });
    const { socket, received, closed } = dial(port);
    socket.write(opening);
    const dripping = setInterval(() => socket.write(drop), 20);
    await closed;
    clearInterval(dripping);
    expect(received()).toMatch(/^HTTP\/1.1 408 /);
  });

  it('closes idle connections at once when it closes', async () => {
    const server = await start();
    const { socket, received, closed } = dial(server.port);
    socket.write('GET / HTTP/1.1\r\nhost: a\r\n\r\n');
    while (!received().endsWith('whole')) await new Promise((resolve) => setTimeout(resolve, 5));
    await Promise.all([server.close(60_000), closed]);
  });

  it('recognises HTTP/2 by a preface that comes byte by byte', async () => {
    const { port } = await start();
    const socket = connect(port, '127.0.0.1');
    opened.sockets.push(socket);
    socket.setNoDelay(true);
    const write = socket.write.bind(socket);
    for (const byte of 'PRI * ') {
      write(byte);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
    const answered = new Promise<Buffer>((resolve) => socket.once('data', resolve));
    write('HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0');
    // A SETTINGS frame: its type is the fourth byte.
    expect((await answered)[3]).toBe(4);
  });

  it('speaks HTTP/2 to a client that sends its preface at once', async () => {
    const { port } = await start();
    const session = connectHttp2(`http://127.0.0.1:${port}`);
    const stream = session.request({ ':path': '/' });
    stream.end();
    let text = '';
    for await (const bytes of stream) text += String(bytes);
    session.close();
    expect(text).toBe('whole');
  });
});
