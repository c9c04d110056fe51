// Ports of loopback for the servers of a test.

import { createSocket, type Socket } from 'node:dgram';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Below the ports that systems hand out, which begin at 32,768 on Linux. */
const ownPorts = { first: 10_000, count: 22_000 };

/** Resolves to the port once the server takes connections: one that is free. */
export async function listen(server: Server, host = '127.0.0.1', port = 0): Promise<number> {
  server.listen(port, host);
  await once(server, 'listening');
  const address = server.address();
  if (typeof address === 'string' || address === null) throw new Error('no port');
  return address.port;
}

/**
 * A port that nobody listens at, for a server that begins later or comes back to it. Neither the system nor a test
 * gives it to anybody else until this process ends; a port that was free a moment ago may be another server's now.
 */
export async function ownPort(): Promise<number> {
  for (;;) {
    const port = ownPorts.first + Math.floor(Math.random() * ownPorts.count);
    if ((await isMarked(port)) && (await isFree(port))) return port;
  }
}

/** Held until the process ends: whoever else marks one of them finds it taken. Servers use no UDP. */
const marks: Socket[] = [];

async function isMarked(port: number): Promise<boolean> {
  const mark = createSocket('udp4');
  mark.bind({ port, address: '127.0.0.1', exclusive: true });
  const isOurs = await once(mark, 'listening').then(
    () => true,
    () => false,
  );
  if (!isOurs) return false;
  marks.push(mark.unref());
  return true;
}

async function isFree(port: number): Promise<boolean> {
  const probe = createServer();
  const isOurs = await listen(probe, '127.0.0.1', port).then(
    () => true,
    () => false,
  );
  if (isOurs) await new Promise((resolve) => probe.close(resolve));
  return isOurs;
}
