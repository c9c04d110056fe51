// Lets the scripts of any web page send events: from every origin, without cookies, so that access depends on the key
// alone.

import type { ServerResponse } from 'node:http';
import { cors } from '@connectrpc/connect';

/** Two hours; browsers lower it to their own maximum. */
const preflightSeconds = 7_200;

const allowedHeaders = [
  ...cors.allowedHeaders,
  'x-api-key',
  'x-project-id',
  'authorization',
  'idempotency-key',
].join(', ');

export const exposedHeaders = [...cors.exposedHeaders, 'retry-after'].join(', ');

/** Answers an OPTIONS request. */
export function answerPreflight(response: ServerResponse): void {
  response.writeHead(204, {
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'POST',
    'access-control-allow-headers': allowedHeaders,
    'access-control-max-age': String(preflightSeconds),
  });
  response.end();
}

/** For an answer that the Connect router writes. */
export function allowAnyOrigin(response: ServerResponse): void {
  response.setHeader('access-control-allow-origin', '*');
  response.setHeader('access-control-expose-headers', exposedHeaders);
}
