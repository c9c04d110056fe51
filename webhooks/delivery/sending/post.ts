// One POST to an endpoint, and what came of it. What the outcome means for the delivery is outcome.ts's.

import type { IncomingHttpHeaders } from 'node:http';
import type { EndpointPool } from './endpoint-pools.ts';
import { readResponseText } from './response-text.ts';

export interface PostRequest {
  url: URL;
  headers: Record<string, string>;
  body: Buffer;
}

export type PostResult =
  | { kind: 'answered'; code: number; retryAfter: string | undefined; text: string }
  | { kind: 'failed'; failure: PostFailure; code: number };

/**
 * `unreached`: no connection came about, for a reason that is neither time nor TLS; `connection`: one did, and ended
 * before an answer. `body`: the answer ended before its time; `code` is then its status.
 */
export type PostFailure = 'unreached' | 'connection' | 'timeout' | 'tls' | 'body';

/** A keep-alive connection that the receiver is just closing fails within this time. */
const instantRetryMs = 1_000;

/**
 * Never rejects. A connection from an earlier request that is reset at once is replaced by a new one, once: the
 * receiver had closed it before it could know of this request.
 */
export async function post(
  counted: EndpointPool,
  request: PostRequest,
  timeoutMs: number,
): Promise<PostResult> {
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), timeoutMs);
  try {
    return await postWithInstantRetry(counted, request, ending.signal);
  } finally {
    clearTimeout(timer);
  }
}

async function postWithInstantRetry(
  counted: EndpointPool,
  request: PostRequest,
  signal: AbortSignal,
): Promise<PostResult> {
  const startedMs = performance.now();
  const openedBefore = counted.opened();
  const first = await postOnce(counted, request, signal);
  const wasReused = counted.opened() === openedBefore;
  const isReset = first.kind === 'failed' && first.failure === 'connection';
  if (!isReset || !wasReused || performance.now() - startedMs > instantRetryMs) return first;
  return postOnce(counted, request, signal);
}

async function postOnce(
  counted: EndpointPool,
  { url, headers, body }: PostRequest,
  signal: AbortSignal,
): Promise<PostResult> {
  let code = 0;
  try {
    const answer = await counted.pool.request({
      path: `${url.pathname}${url.search}`,
      method: 'POST',
      headers,
      body,
      signal,
    });
    code = answer.statusCode;
    const text = await readResponseText(answer.body, isCompressed(answer.headers));
    return { kind: 'answered', code, retryAfter: oneOf(answer.headers['retry-after']), text };
  } catch (error) {
    const failure = signal.aborted ? 'timeout' : failureOf(error, code, counted);
    return { kind: 'failed', failure, code };
  }
}

function isCompressed({ 'content-encoding': encoding }: IncomingHttpHeaders): boolean {
  return encoding !== undefined && encoding !== 'identity';
}

function oneOf(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header[0] : header;
}

const timeoutCodes = new Set([
  'UND_ERR_CONNECT_TIMEOUT',
  'UND_ERR_HEADERS_TIMEOUT',
  'UND_ERR_BODY_TIMEOUT',
  'ETIMEDOUT',
]);

function failureOf(error: unknown, status: number, counted: EndpointPool): PostFailure {
  const code = error instanceof Error ? String(Reflect.get(error, 'code') ?? '') : '';
  if (timeoutCodes.has(code)) return 'timeout';
  if (status !== 0) return 'body';
  if (isTlsCode(code)) return 'tls';
  return counted.isUnreached(error) ? 'unreached' : 'connection';
}

/** OpenSSL's names of faults in certificates, and those of its library and of Node's own check of names. */
function isTlsCode(code: string): boolean {
  return (
    code.startsWith('ERR_TLS_') ||
    code.startsWith('ERR_SSL_') ||
    /CERT|_CRL|SELF_SIGNED|UNABLE_TO_VERIFY|EPROTO/.test(code)
  );
}
