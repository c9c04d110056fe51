// node:http with the bounds that it lacks: a reader that takes nothing of its answer is cut off, and one connection has
// few requests at work. Routes and plain requests are http.ts's and plain-requests.ts's.

import {
  createServer,
  type IncomingMessage,
  type RequestListener,
  type ServerResponse,
} from 'node:http';
import type { Socket } from 'node:net';
import { maxHeaderBytes, maxPipelinedRequests, type Patience } from './patience.ts';

// node:http looks for late requests this many times within the time that headers may take.
const arrivalChecksPerTimeout = 4;

interface Http1 {
  /** Serves a connection whose first bytes are still unread. */
  serve(socket: Socket): void;
  /** From now on each connection ends with its next answer; resolves once all that were asked for are written. */
  drain(): Promise<void>;
}

export function createHttp1(listener: RequestListener, patience: Patience): Http1 {
  const { requestMs, headersMs, keepAliveMs, stallMs } = patience;
  /** Answers that are not written whole. */
  const running = new Set<ServerResponse>();
  let drained: (() => void) | undefined;
  /** Requests of each connection that have no whole answer. */
  const unanswered = new WeakMap<Socket, number>();
  function answered(this: ServerResponse): void {
    const { socket } = this.req;
    unanswered.set(socket, (unanswered.get(socket) ?? 1) - 1);
    running.delete(this);
    if (running.size === 0) drained?.();
  }
  const server = createServer(
    {
      maxHeaderSize: maxHeaderBytes,
      requestTimeout: requestMs,
      headersTimeout: headersMs,
      connectionsCheckingInterval: Math.ceil(headersMs / arrivalChecksPerTimeout),
      keepAliveTimeout: keepAliveMs,
      noDelay: true,
    },
    (request: IncomingMessage, response: ServerResponse) => {
      const { socket } = request;
      const count = (unanswered.get(socket) ?? 0) + 1;
      unanswered.set(socket, count);
      // Requests that were read together still come after the connection is closed.
      if (socket.destroyed) return;
      if (count > maxPipelinedRequests) {
        socket.destroy();
        return;
      }
      running.add(response);
      if (drained !== undefined) response.shouldKeepAlive = false;
      response.once('close', answered);
      response.on('timeout', endIfStalled);
      listener(request, response);
    },
  );
  // Without bytes in either direction for so long, node:http asks the answer that is being written.
  server.timeout = stallMs;
  // node:http starts its time-outs and its list of idle connections when it listens, which it never does here.
  server.emit('listening');
  return {
    serve(socket) {
      server.emit('connection', socket);
      socket.resume();
    },
    drain() {
      for (const response of running) response.shouldKeepAlive = false;
      return new Promise((resolve) => {
        drained = resolve;
        if (running.size === 0) resolve();
      });
    },
  };
}

/** An answer that has nothing to send yet may take its time. */
function endIfStalled(socket: Socket): void {
  if (socket.writableLength > 0) socket.destroy();
}
