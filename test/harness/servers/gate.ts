// A gate in front of a service: while it is closed, every connection breaks, as in front of a server that is down. It
// tells which requests passed. Bytes pass unchanged.

import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

export interface Gate {
  url: string;
  /** Method and path of each request that came to the open gate. */
  readonly requests: readonly string[];
  /** Connections that came while it was closed. */
  turnedAway(): number;
  open(): void;
  close(): void;
  stop(): Promise<void>;
}

const requestLine = /(?:^|\n|\})([A-Z]{3,7} \/\S*) HTTP\/1\.1\r\n/g;

export async function startGate(serviceUrl: string): Promise<Gate> {
  const { hostname, port } = new URL(serviceUrl);
  const requests: string[] = [];
  const sockets = new Set<Socket>();
  let isOpen = true;
  let turnedAway = 0;
  const server = createServer((socket) => {
    if (!isOpen) {
      turnedAway++;
      socket.destroy();
      return;
    }
    const service = connect(Number(port), hostname);
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
    async stop() {
      breakAll();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
