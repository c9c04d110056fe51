// The answer while the service lives and serves nobody, because it starts or ends: ask again. It says so to scripts of
// any page too, which take an answer that they may not read for a broken network, and lose what they had to send.

import type { IncomingMessage, ServerResponse } from 'node:http';

/** What `/readyz` says. */
export type Away = 'migrating' | 'starting' | 'ending';

/** Starts and ends take seconds. */
const retryAfterSeconds = 1;

/** An origin is short ASCII; `null` is the origin of a page in a sandbox. */
const plainOrigin = /^[\x21-\x7e]{1,512}$/;

/**
 * `/healthz` is well, a preflight is allowed, all else gets 503. The connection ends with the answer, so the body that
 * is on its way is read first, unless its reader has given it up: bytes that nobody reads would reset the connection.
 */
export function answerAway(
  request: IncomingMessage,
  response: ServerResponse,
  why: Away,
  path: string,
): void {
  if (request.isPaused()) answer(request, response, why, path);
  else request.resume().once('end', () => answer(request, response, why, path));
}

function answer(request: IncomingMessage, response: ServerResponse, why: Away, path: string): void {
  const { method, headers, httpVersionMajor } = request;
  if (httpVersionMajor === 1) response.shouldKeepAlive = false;
  for (const [name, value] of Object.entries(pageHeaders(request))) response.setHeader(name, value);
  if (method === 'OPTIONS' && 'access-control-request-method' in headers) {
    response.writeHead(204).end();
    return;
  }
  const lives = path === '/healthz';
  const body = lives ? 'ok\n' : `${why}\n`;
  if (!lives) response.setHeader('retry-after', retryAfterSeconds);
  response.writeHead(lives ? 200 : 503, {
    'content-type': 'text/plain; charset=utf-8',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

/** Nothing here is anybody's, so that every page may read it. */
function pageHeaders({ headers }: IncomingMessage): Record<string, string> {
  const { origin } = headers;
  if (origin === undefined || !plainOrigin.test(origin)) return {};
  const method = headers['access-control-request-method'];
  const names = headers['access-control-request-headers'];
  return {
    'access-control-allow-origin': origin,
    'access-control-allow-credentials': 'true',
    'access-control-expose-headers': 'retry-after',
    vary: 'origin',
    ...(method !== undefined && { 'access-control-allow-methods': method }),
    ...(names !== undefined && { 'access-control-allow-headers': names }),
  };
}
