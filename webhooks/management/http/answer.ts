// Answers of the management interface over HTTP: JSON, and the RPC methods' envelope for errors, with their statuses.

import type { ServerResponse } from 'node:http';
import { Code, ConnectError } from '@connectrpc/connect';
import { codeToHttpStatus, codeToString } from '@connectrpc/connect/protocol-connect';
import type { Lease } from '../../../platform/http/bodies/request-memory.ts';
import type { Log } from '../../../platform/log.ts';
import { recordFailure } from '../../../platform/records/record-failure.ts';
import { exhausted } from './refusals.ts';

export interface Answer {
  status: number;
  /** Undefined for an answer without a body. */
  json: unknown;
  headers?: Readonly<Record<string, string>>;
}

/** What is away is asked for again every second by most parts, so that an earlier retry is in vain. */
const unavailableRetrySeconds = '1';

/** The answer to an error that a method, or a check before it, threw. Logs what was not meant for the caller. */
export function failureAnswer(error: unknown, method: string, log: Log): Answer {
  const known = error instanceof ConnectError ? error : recordFailure(error, method, log);
  if (known !== undefined) return refusalAnswer(known);
  log.error({ err: error, method }, 'a method of the management interface failed');
  return refusalAnswer(new ConnectError('internal error', Code.Internal));
}

function refusalAnswer(error: ConnectError): Answer {
  const status = codeToHttpStatus(error.code);
  const retryAfter =
    error.metadata.get('retry-after') ?? (status === 503 ? unavailableRetrySeconds : null);
  return envelope(status, codeToString(error.code), error.rawMessage, {
    ...(retryAfter !== null && { 'retry-after': retryAfter }),
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  });
}

export function envelope(
  status: number,
  code: string,
  message: string,
  headers: Readonly<Record<string, string>>,
): Answer {
  return { status, json: { code, message }, headers };
}

/**
 * Resolves when the response is closed: whoever reads it slowly holds its body in memory, for which the lease is. Never
 * rejects. A response that is closed is nobody to write to.
 */
export async function writeAnswer(
  response: ServerResponse,
  answer: Answer,
  lease: Pick<Lease, 'take'>,
  log: Log,
): Promise<void> {
  const { socket, method } = response.req;
  if (response.destroyed || socket.destroyed) return;
  const { status, headers, body } = encoded(answer, lease, method !== 'GET' && method !== 'HEAD');
  const closed = closeOf(response);
  try {
    response.writeHead(status, {
      ...(body !== undefined && {
        'content-type': 'application/json',
        'content-length': body.length,
      }),
      // Secrets are among the answers.
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      ...headers,
    });
    response.end(body);
  } catch (error) {
    // Writing fails only where the sender went away in the meantime.
    log.debug({ err: error }, 'an answer could not be written');
    response.destroy();
  }
  await closed;
}

/** Resolves when the response is closed, whether it was written or its sender is gone. */
export function closeOf(response: ServerResponse): Promise<void> {
  const { socket } = response.req;
  // A response that waits behind others on its connection is not always closed with it.
  return new Promise((resolve) => {
    const close = (): void => {
      socket.off('close', close);
      resolve();
    };
    // A sender may send many requests before it reads an answer.
    socket.setMaxListeners(0);
    response.once('close', close);
    socket.once('close', close);
  });
}

/** Where there is no room for it, a read is refused; what a change has done is told all the same: it is shorter. */
function encoded(
  { status, json, headers }: Answer,
  lease: Pick<Lease, 'take'>,
  isChange: boolean,
): Omit<Answer, 'json'> & { body: Buffer | undefined } {
  const body = json === undefined ? undefined : Buffer.from(JSON.stringify(json));
  const fits = body === undefined || lease.take(body.length);
  if (fits || isChange) return { status, body, ...(headers !== undefined && { headers }) };
  const refusal = refusalAnswer(exhausted('too many answers are being read, retry later', 1));
  return { ...refusal, body: Buffer.from(JSON.stringify(refusal.json)) };
}
