// One plaintext port for everything: HTTP/1.1 (Connect, gRPC-web, the operator's pages) and HTTP/2 with prior
// knowledge (gRPC). Plain requests are read off the socket first, see plain-requests.ts. node:http speaks no HTTP/2, so
// for all others a connection's first bytes decide which of node's two servers gets its socket. Routes are tried in
// order; a request that none takes goes to the Connect router.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import { createServer, type Server, type Socket } from 'node:net';
import type { ConnectRouter } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { accessRowOf } from '../access/access-table.ts';
import { maxBodyBytes } from '../limits.ts';
import { sayWhenToRetry } from './answers/retry-after.ts';
import { withPlainJson } from './answers/router-json.ts';
import { KnownPaths } from './answers/unknown-path.ts';
import { BodyReceiver, leftUnread } from './bodies/received-body.ts';
import { RequestMemory } from './bodies/request-memory.ts';
import { nodeRequestKey, receiveBodies, routerCompressions } from './bodies/router-bodies.ts';
import { contextValuesOf } from './caller-request.ts';
import { type PlainRequestRoute, PlainRequests } from './plain-requests.ts';
import { completeUrl } from './router/call-url.ts';
import { endAtCallersTimeout } from './router/caller-timeout.ts';
import { ConnectionTurns } from './servers/connection-turns.ts';
import { CutOffSenders } from './servers/cut-off-senders.ts';
import { createHttp1 } from './servers/http1-server.ts';
import { Http2Sessions } from './servers/http2-sessions.ts';
import { defaultPatience } from './servers/patience.ts';
import { SenderBound } from './servers/sender-bound.ts';

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
  /** Methods that are served under a short path too: that path to the method's own. Every way in knows them. */
  pathAliases?: ReadonlyMap<string, string>;
  /** A request must arrive whole within `requestMs`, its headers within `headersMs`. */
  arrival?: { requestMs: number; headersMs: number };
  /** A connection without a request ends after `keepAliveMs`, a reader that takes nothing after `stallMs`. */
  idle?: { keepAliveMs: number; stallMs: number };
  /** Connections that may be open, how many of them may speak HTTP/2, and all their streams. */
  bounds?: { connections: number; http2Sessions: number; http2Streams: number };
  /** How long an address waits whose HTTP/2 session was cut off. */
  cutOffWaitMs?: number;
  /** Whether an address is a proxy that brings many callers. */
  isProxy?: (address: string | undefined) => boolean;
  /** Called for a connection or stream that was one too many, or that had to wait. */
  onRefusedConnection?: () => void;
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
// An idle connection costs 12 kB, a session 24 kB: both together stay below 130 MB. Browsers keep a connection for a
// minute, so this is room for a hundred new ones a second; only servers and proxies have sessions. As many requests may
// come by streams as by connections of their own.
const defaultBounds = { connections: 8_192, http2Sessions: 1_024, http2Streams: 8_192 };
// An address then leaves behind some hundred handlers a minute, and ten for each session that it had open before.
const defaultCutOffWaitMs = 60_000;

/** Listens; rejects with the system's error (EADDRINUSE, EACCES) where it cannot. */
export async function startHttp(options: HttpOptions): Promise<HttpServer> {
  const bodies = new BodyReceiver(new RequestMemory());
  const listener = createListener(options, bodies);
  const patience = { ...defaultPatience, ...options.arrival, ...options.idle };
  const { requestMs, headersMs, keepAliveMs } = patience;
  const { bounds = defaultBounds, onRefusedConnection = () => {} } = options;
  const { cutOffWaitMs: waitMs = defaultCutOffWaitMs, isProxy = () => false } = options;
  const cutOff = new CutOffSenders({ waitMs, isProxy, onRefused: onRefusedConnection });
  const connections = new SenderBound(bounds.connections, onRefusedConnection);
  const sessions = new SenderBound(bounds.http2Sessions, onRefusedConnection);
  const streams = new SenderBound(bounds.http2Streams, onRefusedConnection);
  const http1 = createHttp1(listener, patience);
  const http2 = new Http2Sessions(listener, patience, { sessions, streams, cutOff });
  const turns = new ConnectionTurns();
  const sockets = new Set<Socket>();
  const plain = new PlainRequests({
    memory: bodies.memory,
    route: plainRouteOf(options),
    leave(socket, bytes) {
      socket.pause();
      socket.unshift(bytes);
      turns.begin(() => {
        if (socket.destroyed) return;
        readOpening(socket, headersMs, (wantsHttp2) => (wantsHttp2 ? http2 : http1).serve(socket));
      });
    },
    arrival: { requestMs, headersMs },
    keepAliveMs,
    onBrokenConnection: options.onBrokenConnection ?? (() => {}),
  });
  const server = createServer({ noDelay: true }, (socket) => {
    if (!connections.take(socket, socket.remoteAddress)) {
      socket.destroy();
      return;
    }
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    socket.on('error', () => socket.destroy());
    plain.serve(socket);
  });
  await listening(server, options);
  const address = server.address();
  return {
    port: typeof address === 'object' && address !== null ? address.port : options.port,
    heldBytes: () => bodies.memory.heldBytes,
    async close(graceMs) {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      plain.close();
      http1.close();
      http2.close();
      const timer = setTimeout(() => {
        for (const socket of sockets) socket.destroy();
      }, graceMs);
      await closed;
      clearTimeout(timer);
    },
  };
}

function listening(server: Server, { host, port }: HttpOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, 1_024, resolve);
  });
}

/** Reads until the protocol is certain; the socket is then paused, with all the bytes read put back. */
function readOpening(
  socket: Socket,
  headersMs: number,
  decided: (wantsHttp2: boolean) => void,
): void {
  let opening: Buffer = Buffer.alloc(0);
  const timer = setTimeout(() => socket.destroy(), headersMs).unref();
  const read = (bytes: Buffer): void => {
    opening = Buffer.concat([opening, bytes]);
    const text = opening.toString('latin1', 0, http2Preface.length);
    if (text.length < http2Preface.length && http2Preface.startsWith(text)) return;
    clearTimeout(timer);
    socket.off('data', read);
    socket.pause();
    socket.unshift(opening);
    decided(text === http2Preface);
  };
  socket.on('data', read);
  socket.resume();
}

function plainRouteOf({ plainRequestRoute, pathAliases }: HttpOptions): PlainRequestRoute {
  if (plainRequestRoute === undefined) return () => undefined;
  if (pathAliases === undefined) return plainRequestRoute;
  return (head, peerAddress) => {
    const path = pathAliases.get(head.path);
    return plainRequestRoute(path === undefined ? head : { ...head, path }, peerAddress);
  };
}

function createListener(options: HttpOptions, bodies: BodyReceiver): RequestListener {
  const { routes, readMaxBytes = maxBodyBytes, interceptors = [] } = options.connect;
  let knownPaths = new KnownPaths([]);
  const connect = connectNodeAdapter({
    ...options.connect,
    interceptors: [endAtCallersTimeout, ...interceptors],
    routes(router) {
      routes(withPlainJson(router, options.connect.jsonOptions));
      knownPaths = new KnownPaths(pathsOf(router, options.serviceAliases));
      sayWhenToRetry(router);
      receiveBodies(router, {
        bodies,
        maxBytesOf: (method) =>
          Math.min(readMaxBytes, accessRowOf(method)?.maxBodyBytes ?? readMaxBytes),
      });
    },
    acceptCompression: routerCompressions,
    // Each would become an object, and no method looks at them.
    binaryOptions: { readUnknownFields: false },
    contextValues: (request) => contextValuesOf(request).set(nodeRequestKey, request),
    fallback(request, response) {
      bodies.answerUnread(request);
      response.writeHead(404, { 'content-type': 'application/json' });
      const message = knownPaths.refusal((request.url ?? '').replace(/\?.*$/s, ''));
      response.end(JSON.stringify({ code: 'unimplemented', message }));
    },
  });
  return (request, response) => {
    request.once(leftUnread, () => keepUntilCut(request, response));
    const target = request.url ?? '/';
    const mark = target.indexOf('?');
    const sentPath = mark < 0 ? target : target.slice(0, mark);
    const query = mark < 0 ? '' : target.slice(mark + 1);
    const path = options.pathAliases?.get(sentPath) ?? sentPath;
    if (path !== sentPath) request.url = path + target.slice(sentPath.length);
    const url = { path, query };
    for (const route of options.nodeHttpRoutes) {
      if (route(request, response, url, bodies)) return;
    }
    const slash = path.indexOf('/', 1);
    const service = options.serviceAliases.get(path.slice(1, slash));
    if (service !== undefined) request.url = `/${service}${target.slice(slash)}`;
    if (completeUrl(request)) {
      connect(request, response);
      return;
    }
    bodies.answerUnread(request);
    response.writeHead(400, { 'content-type': 'application/json' });
    response.end(noUrl);
  };
}

/**
 * Tells an HTTP/1.1 client that the connection ends, so that it sends nothing more there, but keeps node from ending it
 * with the answer: a socket with unread bytes is reset when it closes, and a reset can overtake the answer.
 */
function keepUntilCut(request: IncomingMessage, response: ServerResponse): void {
  if (request.httpVersionMajor !== 1) return;
  response.shouldKeepAlive = false;
  request.socket.destroySoon = () => {};
  // By this name, node reads and throws away what comes of an answered request that nobody has read.
  Object.defineProperty(request, '_dump', { value: () => {} });
  stopReading(request.socket);
}

/**
 * For good. A pause is not enough: node's parser reads from under the socket's stream, and whatever empties a buffer of
 * the request starts it again.
 */
function stopReading(socket: Socket): void {
  const handle: unknown = Reflect.get(socket, '_handle');
  if (typeof handle !== 'object' || handle === null) return;
  Reflect.apply(Reflect.get(handle, 'readStop'), handle, []);
  Object.defineProperty(handle, 'readStart', { value: () => 0 });
}

/** The path of each method, under all names of its service. */
function pathsOf(router: ConnectRouter, serviceAliases: ReadonlyMap<string, string>): string[] {
  const paths = router.handlers.map(({ requestPath }) => requestPath);
  for (const [alias, service] of serviceAliases) {
    for (const { service: own, method } of router.handlers) {
      if (own.typeName === service) paths.push(`/${alias}/${method.name}`);
    }
  }
  return paths;
}

const noUrl = JSON.stringify({
  code: 'invalid_argument',
  message: 'the header Host and the path must make a URL',
});
