// A gate in front of a service: while it is closed, every connection breaks, as in front of a server that is down. It
// tells which requests passed. Bytes pass unchanged.

import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

export interface Gate {
  url: string;
  /** Method and path of each request that came to the open gate. */
  readonly requests: readonly string[];
  /** Connections that came while it was closed. */
  turnedAway(): number;
  open(): void;
  close(): void;
  /** Later connections go to another server. */
  turnTo(url: string): void;
  /** Ends all connections, and resolves once their clients know: none of them sends over one that is gone. */
  hangUp(): Promise<void>;
  stop(): Promise<void>;
}

const unreadMs = 2_000;
const requestLine = /(?:^|\n|\})([A-Z]{3,7} \/\S*) HTTP\/1\.1\r\n/g;

export async function startGate(serviceUrl: string): Promise<Gate> {
  let target = new URL(serviceUrl);
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  const clients = new Set<Socket>();
  let isOpen = true;
  let turnedAway = 0;
  const server = createServer((socket) => {
    if (!isOpen) {
      turnedAway++;
      socket.destroy();
      return;
    }
    clients.add(socket);
    socket.once('close', () => clients.delete(socket));
    const service = connect(Number(target.port), target.hostname);
    for (const [one, other] of [
      [socket, service],
      [service, socket],
    ] as const) {
      sockets.add(one);
      one.on('error', () => {});
      one.once('close', () => {
        sockets.delete(one);
        other.destroy();
      });
    }
    socket.on('data', (bytes) => {
      for (const [, line = ''] of bytes.toString('latin1').matchAll(requestLine)) {
        requests.push(line);
      }
    });
    socket.pipe(service);
    service.pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const breakAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    turnedAway: () => turnedAway,
    open() {
      isOpen = true;
    },
    close() {
      isOpen = false;
      breakAll();
    },
    turnTo(url) {
      target = new URL(url);
    },
    async hangUp() {
      const closing = [...clients].map((socket) => once(socket, 'close'));
      for (const socket of clients) socket.end();
      // A client that does not read on never knows, and uses the connection no more.
      await Promise.race([Promise.all(closing), delay(unreadMs)]);
      breakAll();
    },
    async stop() {
      breakAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
