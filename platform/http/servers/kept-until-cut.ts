// A connection of node:http whose request is not read to its end: it stays open until its answer has arrived. The file
// received-body.ts says when it is cut.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/**
 * Tells an HTTP/1.1 client that the connection ends, so that it sends nothing more there, but keeps node from ending it
 * with the answer: a socket with unread bytes is reset when it closes, and a reset can overtake the answer.
 */
export function keepUntilCut(request: IncomingMessage, response: ServerResponse): void {
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
