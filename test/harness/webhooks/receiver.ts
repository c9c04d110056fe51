// A receiver of webhooks on this machine that answers as its path says: well, badly, slowly or not at all. It remembers
// what it got.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { connect, createServer as createTcpServer, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { TLSSocket } from 'node:tls';
import { Worker } from 'node:worker_threads';
import { gzipSync } from 'node:zlib';
import { listen } from '../listen.ts';

export interface ReceivedPost {
  path: string;
  headers: IncomingHttpHeaders;
  /** As they came, with their case. */
  rawHeaders: readonly string[];
  body: string;
  atMs: number;
}

export interface Receiver {
  port: number;
  url(path: string): string;
  readonly received: readonly ReceivedPost[];
  /** Requests at this moment, by path. */
  atOnce(path: string): number;
  /** The most requests at once, by path. */
  mostAtOnce(path: string): number;
  connections(): number;
  close(): Promise<void>;
}

type Behaviour = (response: ServerResponse, request: IncomingMessage) => void;

const status =
  (code: number, headers: Record<string, string> = {}, body = ''): Behaviour =>
  (response) =>
    void response.writeHead(code, headers).end(body);

/** Over TLS the connection just ends: Node cannot reset one. */
export function resetConnection({ socket }: ServerResponse): void {
  if (socket instanceof TLSSocket) socket.destroy();
  else socket?.resetAndDestroy();
}

const MiB = 1_048_576;
const bomb = gzipSync(Buffer.alloc(64 * MiB));

const behaviours: Record<string, Behaviour> = {
  '/200': status(200, {}, 'thank you'),
  '/204': status(204),
  '/301': status(301, { location: '/200' }),
  '/308': status(308, { location: '/200' }),
  '/400': status(400, {}, 'no'),
  '/410': status(410),
  '/429-seconds': status(429, { 'retry-after': '120' }),
  '/429-date': (response) => {
    const at = new Date(Date.now() + 600_000).toUTCString();
    response.writeHead(429, { 'retry-after': at }).end();
  },
  '/500': status(500, {}, 'zoë '.repeat(20)),
  '/503-long': status(503, { 'retry-after': '999999' }),
  '/binary': (response) => void response.end(Buffer.alloc(40_000, 0xff)),
  '/umlauts': (response) => void response.end(`x${'ö'.repeat(20_000)}`),
  '/slow-headers': () => {},
  '/slow-body': (response) => {
    response.writeHead(200).write('a');
    const timer = setInterval(() => response.write('b'), 20);
    response.once('close', () => clearInterval(timer));
  },
  '/huge': (response) => {
    const block = Buffer.alloc(64 * 1_024, 'x');
    let left = 1_024 * MiB;
    const endless = new Readable({
      read() {
        this.push(left > 0 ? block : null);
        left -= block.length;
      },
    });
    response.writeHead(200);
    endless.on('error', () => {}).pipe(response);
    response.once('close', () => endless.destroy());
  },
  '/gzip-bomb': (response) => {
    response.writeHead(200, { 'content-encoding': 'gzip' }).end(bomb);
  },
  '/reset-after-headers': (response) => {
    response.writeHead(200, { 'content-length': '1000' }).write('begin');
    setTimeout(() => resetConnection(response), 20);
  },
  '/reset': (response) => resetConnection(response),
};

interface ReceiverOptions {
  tls?: { key: string; cert: string };
  /** In place of the behaviours above, for the paths for which it answers true. */
  answer?: (request: IncomingMessage, response: ServerResponse, body: string) => boolean;
  /** Of the loopback; 127.0.0.1 unless given. */
  host?: string;
}

export async function startReceiver(options: ReceiverOptions = {}): Promise<Receiver> {
  const received: ReceivedPost[] = [];
  const atOnce = new Map<string, number>();
  const most = new Map<string, number>();
  let connections = 0;
  const listener: RequestListener = (request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    const now = (atOnce.get(path) ?? 0) + 1;
    atOnce.set(path, now);
    most.set(path, Math.max(now, most.get(path) ?? 0));
    response.once('close', () => atOnce.set(path, (atOnce.get(path) ?? 1) - 1));
    const chunks: Buffer[] = [];
    request.on('error', () => {}).on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const { headers, rawHeaders } = request;
      received.push({ path, headers, rawHeaders, body, atMs: Date.now() });
      if (options.answer?.(request, response, body) === true) return;
      (behaviours[path] ?? status(200))(response, request);
    });
  };
  const server =
    options.tls === undefined ? createServer(listener) : createTlsServer(options.tls, listener);
  server.keepAliveTimeout = 60_000;
  server.on('connection', () => connections++);
  server.on('tlsClientError', () => {});
  const { host = '127.0.0.1' } = options;
  const port = await listen(server, host);
  const scheme = options.tls === undefined ? 'http' : 'https';
  return {
    port,
    url: (path) => `${scheme}://${host}:${port}${path}`,
    received,
    atOnce: (path) => atOnce.get(path) ?? 0,
    mostAtOnce: (path) => most.get(path) ?? 0,
    connections: () => connections,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

interface SilentServer {
  port: number;
  close(): Promise<void>;
}

/** Takes connections and never answers. */
export async function startSilentServer(host?: string): Promise<SilentServer> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket.on('error', () => {}));
  });
  const port = await listen(server, host);
  return {
    port,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/**
 * Has as many connections waiting as the system lets it, and takes none: the system drops whatever asks for another, as
 * a firewall would.
 */
export async function startUnreachableServer(host: string): Promise<SilentServer> {
  const gate = new Int32Array(new SharedArrayBuffer(4));
  const listening = `
    const { workerData: { gate, host }, parentPort } = require('node:worker_threads');
    const server = require('node:net').createServer().listen({ port: 0, host, backlog: 1 }, () => {
      parentPort.postMessage(server.address().port);
      Atomics.wait(gate, 0, 0);
      process.exit();
    });`;
  const worker = new Worker(listening, { eval: true, workerData: { gate, host } });
  const port = await new Promise<number>((resolve) => worker.once('message', resolve));
  const waiting: Socket[] = [];
  let isFull = false;
  while (!isFull) {
    const socket = connect(port, host).on('error', () => {});
    waiting.push(socket);
    isFull = await new Promise((resolve) => {
      socket.once('connect', () => resolve(false));
      setTimeout(() => resolve(true), 200);
    });
  }
  return {
    port,
    async close() {
      for (const socket of waiting) socket.destroy();
      Atomics.store(gate, 0, 1);
      Atomics.notify(gate, 0);
      await worker.terminate();
    },
  };
}

/** A certificate for the names that it signed itself, and that was valid until yesterday. */
export function expiredCertificate(names: string): { key: string; cert: string } {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-cert-'));
  const file = (name: string): string => join(directory, name);
  const openssl = (...args: string[]): void => {
    execFileSync('openssl', args, { stdio: 'ignore' });
  };
  const kind = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  const subject = ['-subj', '/CN=expired', '-addext', `subjectAltName=${names}`];
  openssl('req', '-new', ...kind, ...subject, '-keyout', file('key'), '-out', file('request'));
  const dates = ['-days', '-1', '-copy_extensions', 'copy'];
  openssl(
    ...['x509', '-req', '-in', file('request'), '-signkey', file('key')],
    ...[...dates, '-out', file('cert')],
  );
  const pair = { key: readFileSync(file('key'), 'utf8'), cert: readFileSync(file('cert'), 'utf8') };
  rmSync(directory, { recursive: true });
  return pair;
}
