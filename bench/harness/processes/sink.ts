// The least that a server in Node can do with a request: node:http, the body read and forgotten, a fixed answer. Our
// own server's figures are shares of the sink's.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** Listens on a free port of the loopback and returns the port. */
export function startSink(answer: string): Promise<number> {
  const body = Buffer.from(answer);
  const headers = { 'content-type': 'application/json', 'content-length': body.length };
  const server = createServer((request, response) => {
    request.on('data', () => {});
    request.once('end', () => {
      response.writeHead(200, headers);
      response.end(body);
    });
  });
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(0, '127.0.0.1', () => resolve(portOf(server.address())));
  });
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('the sink has no port');
  return address.port;
}
