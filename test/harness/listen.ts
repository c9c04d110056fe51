// A server of a test on a port of loopback that is free.

import type { Server } from 'node:net';

/** Resolves to the port once the server takes connections. */
export async function listen(server: Server, host = '127.0.0.1'): Promise<number> {
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const address = server.address();
  if (typeof address === 'string' || address === null) throw new Error('no port');
  return address.port;
}
