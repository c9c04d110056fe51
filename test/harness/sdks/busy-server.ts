// A server that answers 503 to everything, as the proxy in front of a service that is away does, with headers by which
// pages may read the answer.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface BusyServer {
  url: string;
  stop(): Promise<void>;
}

export async function startBusyServer(): Promise<BusyServer> {
  const server = createServer((request, response) => {
    const { headers, method } = request;
    request.resume().on('end', () => {
      response.writeHead(method === 'OPTIONS' ? 204 : 503, {
        'access-control-allow-origin': headers.origin ?? '*',
        'access-control-allow-credentials': 'true',
        'access-control-allow-headers': headers['access-control-request-headers'] ?? '*',
        'content-length': 0,
        // Whoever comes back finds the service, where that is there again.
        connection: 'close',
      });
      response.end();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async stop() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
