// One plaintext port for everything: HTTP/1.1 (Connect, gRPC-web, the operator's pages) and HTTP/2 with prior
// knowledge (gRPC). Plain requests are read off the socket first, see plain-requests.ts. node:http speaks no HTTP/2, so
// for all others a connection's first bytes decide which of node's two servers gets its socket. Routes are tried in
// order; a request that none takes goes to the Connect router.

import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { ConnectRouter } from '@connectrpc/connect';
import { connectNodeAdapter } from '@connectrpc/connect-node';
import { accessRowOf } from '../access/access-table.ts';
import { Entrance } from '../door/entrance.ts';
import { maxBodyBytes } from '../limits.ts';
import { type Away, answerAway } from './answers/away.ts';
import { sayWhenToRetry } from './answers/retry-after.ts';
import { withPlainJson } from './answers/router-json.ts';
import { KnownPaths } from './answers/unknown-path.ts';
import { BodyReceiver, leftUnread } from './bodies/received-body.ts';
import { RequestMemory } from './bodies/request-memory.ts';
import { nodeRequestKey, receiveBodies, routerCompressions } from './bodies/router-bodies.ts';
import { contextValuesOf } from './caller-request.ts';
import type { PlainRequestRoute } from './plain/plain-request.ts';
import { PlainRequests } from './plain-requests.ts';
import { completeUrl } from './router/call-url.ts';
import { endAtCallersTimeout } from './router/caller-timeout.ts';
import { ConnectionTurns } from './servers/connection-turns.ts';
import { CutOffSenders } from './servers/cut-off-senders.ts';
import { createHttp1 } from './servers/http1-server.ts';
import { Http2Sessions } from './servers/http2-sessions.ts';
import { keepUntilCut } from './servers/kept-until-cut.ts';
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
  /** Why nobody is served, while nobody is. */
  away?: () => Away | undefined;
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

interface Serving {
  /** Serves a connection that was just accepted. */
  serve(socket: Socket): void;
  /** What all requests hold at this moment. */
  heldBytes(): number;
  /**
   * Answers the requests of which something has arrived, for `graceMs` at most, and says to all others that the service
   * is ending, until the process is gone.
   */
  drain(graceMs: number): Promise<void>;
  /** Drains, then closes what is left. */
  close(graceMs: number): Promise<void>;
}

export interface HttpServer extends Omit<Serving, 'serve'> {
  port: number;
}

const http2Preface = 'PRI * HTTP/2.0';
// An idle connection costs 12 kB, a session 24 kB: both together stay below 130 MB. Browsers keep a connection for a
// minute, so this is room for a hundred new ones a second; only servers and proxies have sessions. As many requests may
// come by streams as by connections of their own.
const defaultBounds = { connections: 8_192, http2Sessions: 1_024, http2Streams: 8_192 };
// An address then leaves behind some hundred handlers a minute, and ten for each session that it had open before.
const defaultCutOffWaitMs = 60_000;

/** A server at a port that nobody else uses; 0 takes a free one. Rejects with one sentence where it cannot be had. */
export async function startHttp(
  options: HttpOptions & { host: string; port: number },
): Promise<HttpServer> {
  const { host, port } = options;
  const entrance = await Entrance.at({ host, port, setting: 'another option' });
  const { serve, ...server } = createHttp(options);
  await entrance.open(serve);
  return {
    ...server,
    port: entrance.port,
    async close(graceMs) {
      await Promise.all([entrance.close(), server.close(graceMs)]);
    },
  };
}

/** Serves connections that an entrance gives it. */
export function createHttp(options: HttpOptions): Serving {
  const bodies = new BodyReceiver(new RequestMemory());
  let { away = () => undefined } = options;
  const listener = createListener(options, bodies, () => away());
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
  async function drain(graceMs: number): Promise<void> {
    // Requests that have arrived are read first. A turn of the loop ends with the first wait, the next one reads.
    for (let turn = 0; turn < 2; turn++) await new Promise(setImmediate);
    away = () => 'ending';
    const tooLate = new AbortController();
    const { signal } = tooLate;
    const late = delay(graceMs, undefined, { signal }).then(destroyAll, () => {});
    // Of requests that were sent without waiting for answers, node says no end when their connection is destroyed.
    await Promise.race([late, Promise.all([plain.drain(), http1.drain(), http2.drain()])]);
    tooLate.abort();
  }
  function destroyAll(): void {
    for (const socket of sockets) socket.destroy();
  }
  return {
    serve(socket) {
      if (!connections.take(socket, socket.remoteAddress)) {
        socket.destroy();
        return;
      }
      sockets.add(socket);
      socket.once('close', () => sockets.delete(socket));
      socket.on('error', () => socket.destroy());
      plain.serve(socket);
    },
    heldBytes: () => bodies.memory.heldBytes,
    drain,
    async close(graceMs) {
      await drain(graceMs);
      destroyAll();
      plain.close();
      http2.close();
    },
  };
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

function createListener(
  options: HttpOptions,
  bodies: BodyReceiver,
  away: () => Away | undefined,
): RequestListener {
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
    const why = away();
    if (why !== undefined) {
      bodies.answerUnread(request);
      answerAway(request, response, why, path);
      return;
    }
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
