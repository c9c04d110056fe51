// One plaintext port for everything: HTTP/1.1 (Connect, gRPC-web, the operator's pages) and HTTP/2 with prior
// knowledge (gRPC). Plain requests are read off the socket first, see plain-requests.ts. node:http speaks no HTTP/2, so
// for all others a connection's first bytes decide which of node's two servers gets its socket. Routes are tried in
// order; a request that none takes goes to the Connect router.

import {
  createServer as createHttp1,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import { createServer as createHttp2, type ServerHttp2Session } from 'node:http2';
import { createServer, type Socket } from 'node:net';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { accessRowOf } from '../access/access-table.ts';
import { maxBodyBytes } from '../limits.ts';
import { BodyReceiver } from './bodies/received-body.ts';
import { RequestMemory } from './bodies/request-memory.ts';
import { nodeRequestKey, receiveBodies, routerCompressions } from './bodies/router-bodies.ts';
import { contextValuesOf } from './caller-request.ts';
import { type PlainRequestRoute, PlainRequests } from './plain-requests.ts';

/** Answers the request and returns true, or leaves it untouched and returns false. `bodies` reads bodies. */
export type NodeHttpRoute = (
  request: IncomingMessage,
  response: ServerResponse,
  url: { path: string; query: string },
  bodies: BodyReceiver,
) => boolean;

type AdapterOptions = Parameters<typeof connectNodeAdapter>[0];

interface HttpOptions {
  host: string;
  /** 0 takes a free port. */
  port: number;
  /** Tried before all others. A request that it takes must get the same answer from the routes below. */
  plainRequestRoute?: PlainRequestRoute | undefined;
  /** Tried in order, in front of the Connect router. */
  nodeHttpRoutes: readonly NodeHttpRoute[];
  connect: Omit<AdapterOptions, 'contextValues' | 'fallback' | 'acceptCompression'>;
  /** Services that are served under a second name: the key is the alias. */
  serviceAliases: ReadonlyMap<string, string>;
  /** A request must arrive whole within `requestMs`, its headers within `headersMs`. */
  arrival?: { requestMs: number; headersMs: number };
  /** Receives the error behind a connection that was closed because its state was broken. */
  onBrokenConnection?: (error: unknown) => void;
}

export interface HttpServer {
  port: number;
  /** What all requests hold at this moment. */
  heldBytes(): number;
  /** Stops listening, lets requests in flight finish for `graceMs`, then closes what is left. */
  close(graceMs: number): Promise<void>;
}

const http2Preface = 'PRI * HTTP/2.0';
const maxHeaderBytes = 16_384;
// A slow sender holds a connection, but not for long.
const defaultArrival = { requestMs: 60_000, headersMs: 20_000 };
// node:http looks for late requests this many times within the time that headers may take.
const arrivalChecksPerTimeout = 4;
// Longer than the idle time-outs of common load balancers (60 s), so that they close first.
const keepAliveTimeoutMs = 65_000;

/** Listens; rejects with the system's error (EADDRINUSE, EACCES) where it cannot. */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const memory = new RequestMemory();
  const listener = createListener(options, new BodyReceiver(memory));
  const { requestMs, headersMs } = options.arrival ?? defaultArrival;
  const http1 = createHttp1(
    {
      maxHeaderSize: maxHeaderBytes,
      requestTimeout: requestMs,
      headersTimeout: headersMs,
      connectionsCheckingInterval: Math.ceil(headersMs / arrivalChecksPerTimeout),
      keepAliveTimeout: keepAliveTimeoutMs,
      noDelay: true,
    },
    (request, response) => listener(request, response),
  );
  // node:http starts its time-outs and its list of idle connections when it listens, which it never does here.
  http1.emit('listening');
  const http2 = createHttp2((request, response) => {
    // The types of the two requests differ only in members that nothing here uses; connectNodeAdapter takes both.
    Reflect.apply(listener, undefined, [request, response]);
  });
  const sessions = new Set<ServerHttp2Session>();
  http2.on('session', (session) => {
    sessions.add(session);
    session.once('close', () => sessions.delete(session));
  });
  const sockets = new Set<Socket>();
  const plain = new PlainRequests({
    memory,
    route: options.plainRequestRoute ?? (() => undefined),
    leave(socket, bytes) {
      socket.pause();
      socket.unshift(bytes);
      socket.setTimeout(headersMs, () => socket.destroy());
      readOpening(socket, (wantsHttp2) => {
        socket.setTimeout(0);
        socket.removeAllListeners('timeout');
        (wantsHttp2 ? http2 : http1).emit('connection', socket);
        if (!wantsHttp2) socket.resume();
      });
    },
    arrival: { requestMs, headersMs },
    keepAliveMs: keepAliveTimeoutMs,
    onBrokenConnection: options.onBrokenConnection ?? (() => {}),
  });
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    plain.serve(socket);
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, 1_024, resolve);
  });
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : options.port,
    heldBytes: () => memory.heldBytes,
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      plain.close();
      http1.close();
      http1.closeIdleConnections();
      for (const session of sessions) session.close();
      const timer = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

/** Reads until the protocol is certain; the socket is then paused, with all the bytes read put back. */
function readOpening(socket: Socket, decided: (wantsHttp2: boolean) => void): void {
  let opening: Buffer = Buffer.alloc(0);
  const read = (bytes: Buffer): void => {
    opening = Buffer.concat([opening, bytes]);
    const text = opening.toString('latin1', 0, http2Preface.length);
    if (text.length < http2Preface.length && http2Preface.startsWith(text)) return;
    socket.off('data', read);
    socket.pause();
    socket.unshift(opening);
    decided(text === http2Preface);
  };
  socket.on('data', read);
  socket.resume();
}

function createListener(options: HttpOptions, bodies: BodyReceiver): RequestListener {
  const { routes, readMaxBytes = maxBodyBytes } = options.connect;
  const connect = connectNodeAdapter({
    ...options.connect,
    routes(router) {
      routes(router);
      receiveBodies(router, {
        bodies,
        maxBytesOf: (method) =>
          Math.min(readMaxBytes, accessRowOf(method)?.maxBodyBytes ?? readMaxBytes),
      });
    },
    acceptCompression: routerCompressions,
    contextValues: (request) => contextValuesOf(request).set(nodeRequestKey, request),
    fallback: answerUnknownPath,
  });
  return (request, response) => {
    const target = request.url ?? '/';
    const mark = target.indexOf('?');
    const path = mark < 0 ? target : target.slice(0, mark);
    const query = mark < 0 ? '' : target.slice(mark + 1);
    const url = { path, query };
    for (const route of options.nodeHttpRoutes) {
      if (route(request, response, url, bodies)) return;
    }
    const slash = path.indexOf('/', 1);
    const service = options.serviceAliases.get(path.slice(1, slash));
    if (service !== undefined) request.url = `/${service}${target.slice(slash)}`;
    connect(request, response);
  };
}

const unknownPath = JSON.stringify({ code: 'unimplemented', message: 'there is no such method' });

const answerUnknownPath: AdapterOptions['fallback'] & object = (_request, response) => {
  response.writeHead(404, { 'content-type': 'application/json' });
  response.end(unknownPath);
};
