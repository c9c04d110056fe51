// An answer of the unary route as HTTP: status, headers, body. Errors are Connect's JSON in both encodings. Which
// answer a call gets is not decided here.

import type { ServerResponse } from 'node:http';
import type { HttpAnswer } from '../../platform/http/plain/plain-request.ts';
import type { Log } from '../../platform/log.ts';
import type { Accepted, Answer, Refusal, RefusalCode } from './answer.ts';
import type { Format } from './connect-unary.ts';
import { pageHeaders } from './cors.ts';

interface ResponseWriter {
  writeJson(accepted: Accepted): string;
  writeBinary(accepted: Accepted): Uint8Array;
}

/**
 * Never compressed: an answer is shorter than compression would save. `origin` is the request's, which a page's request
 * has.
 */
export function httpAnswer(
  answer: Answer,
  writer: ResponseWriter,
  format: Format,
  origin: string | undefined,
): HttpAnswer {
  if (answer.kind === 'refused') return refusalAnswer(answer, origin);
  const isJson = format === 'json';
  const body = isJson ? writer.writeJson(answer) : writer.writeBinary(answer);
  const headers = {
    'content-type': isJson ? 'application/json' : 'application/proto',
    'content-length': body.length,
    ...pageHeaders(origin),
  };
  return { status: 200, headers, body };
}

function refusalAnswer(
  { code, message, retryAfterSeconds }: Refusal,
  origin: string | undefined,
): HttpAnswer {
  const body = Buffer.from(JSON.stringify({ code, message }));
  const headers = {
    'content-type': 'application/json',
    'content-length': body.length,
    ...(retryAfterSeconds !== undefined && { 'retry-after': retryAfterSeconds }),
    ...pageHeaders(origin),
  };
  return { status: httpStatus[code], headers, body };
}

/** Writes to node:http's response; undefined, or a response that is closed, is nobody to write to. */
export function writeAnswer(
  response: ServerResponse,
  answer: HttpAnswer | undefined,
  log: Log,
): void {
  if (answer === undefined || response.destroyed) return;
  try {
    response.writeHead(answer.status, answer.headers);
    // A text body is ASCII: written as latin1, it shares one piece with the head.
    response.end(answer.body, 'latin1');
  } catch (error) {
    // Writing fails only where the sender went away in the meantime.
    log.debug({ err: error }, 'an answer could not be written');
    response.destroy();
  }
}

/** Connect's HTTP status for each code (https://connectrpc.com/docs/protocol#error-codes). */
const httpStatus: Readonly<Record<RefusalCode, number>> = {
  invalid_argument: 400,
  unauthenticated: 401,
  permission_denied: 403,
  not_found: 404,
  resource_exhausted: 429,
  internal: 500,
  unimplemented: 501,
  unavailable: 503,
  deadline_exceeded: 504,
};
