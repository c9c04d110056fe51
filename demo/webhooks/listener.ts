// A receiver of webhooks for developers: verifies every delivery and hands on those that are genuine. It answers 200 to
// them and 401 to everything else, as a receiver should.

import { createServer, type IncomingMessage, type Server } from 'node:http';
import { systemClock } from '../../platform/clock.ts';
import { RequestRefused } from '../sending/request-refused.ts';
import { isGenuine } from './verify.ts';

/** Four times the longest payload. */
const maxBodyBytes = 1_048_576;
const maxConnections = 64;
const requestTimeoutMs = 15_000;

export interface HeardDelivery {
  deliveryId: string;
  eventType: string;
  webhookId: string;
  /** The raw body: JSON. */
  body: string;
}

export interface Listener {
  /** Where deliveries are to be sent. */
  url: string;
  /** Lets the process end while it listens. */
  unref(): void;
  close(): Promise<void>;
}

interface ListenerOptions {
  /** 127.0.0.1, so that only this machine reaches it. */
  host?: string;
  /** 0 takes a free one. */
  port: number;
  /** Undefined while there is none: nothing is genuine then. */
  secret(): string | undefined;
  onDelivery(delivery: HeardDelivery): void;
  onRefused?(): void;
}

/** Resolves once it listens; throws a RequestRefused where it cannot. */
export async function startListener(options: ListenerOptions): Promise<Listener> {
  const host = options.host ?? '127.0.0.1';
  const server = createServer({ requestTimeout: requestTimeoutMs }, (request, response) => {
    receive(request, options).then(
      (isTaken) => {
        if (!isTaken) options.onRefused?.();
        response.writeHead(isTaken ? 200 : 401, { connection: isTaken ? 'keep-alive' : 'close' });
        response.end();
      },
      () => response.destroy(),
    );
  });
  server.maxConnections = maxConnections;
  const port = await listen(server, host, options.port);
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${port}/`,
    unref: () => void server.unref(),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function receive(request: IncomingMessage, options: ListenerOptions): Promise<boolean> {
  const secret = options.secret();
  const body = request.method === 'POST' ? await readBody(request) : undefined;
  const { headers } = request;
  if (secret === undefined || body === undefined) return false;
  if (!isGenuine(headers, body, secret, systemClock.nowMs() / 1_000)) return false;
  options.onDelivery({
    deliveryId: String(headers['x-service-delivery'] ?? ''),
    eventType: String(headers['x-service-event'] ?? ''),
    webhookId: String(headers['x-service-webhook-id'] ?? ''),
    body: body.toString(),
  });
  return true;
}

/** Undefined where it is too long; the rest is not read. */
async function readBody(request: IncomingMessage): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request.iterator({ destroyOnReturn: false })) {
    bytes += chunk.length;
    if (bytes > maxBodyBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

function listen(server: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) =>
      reject(new RequestRefused(`port ${port} on ${host} cannot be used (${error.code})`)),
    );
    server.listen(port, host, () => {
      const address = server.address();
      resolve(typeof address === 'object' && address !== null ? address.port : port);
    });
  });
}
