// The answer to an export over HTTP: its headers, its bytes as fast as the reader takes them, or the error envelope of
// all other methods.

import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { ConnectError } from '@connectrpc/connect';
import { codeToHttpStatus, codeToString } from '@connectrpc/connect/protocol-connect';
import { exportFormats, packsOnTheWay } from './export-format.ts';
import type { ExportAsked } from './export-request.ts';

/** All events and identity calls that were accepted before it are in the file; absent where nobody can tell. */
export const completeUntilHeader = 'x-complete-until';

export function headersOf(
  asked: ExportAsked,
  completeMs: number | undefined,
): Readonly<Record<string, string>> {
  const { contentType, extension } = exportFormats[asked.format];
  const isPacked = packsOnTheWay(asked);
  const name = `${asked.what}.${extension}${isPacked ? '.gz' : ''}`;
  return {
    'content-type': isPacked ? 'application/gzip' : contentType,
    'content-disposition': `attachment; filename="${name}"`,
    ...(completeMs !== undefined && { [completeUntilHeader]: new Date(completeMs).toISOString() }),
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
  };
}

/** The head goes with the first bytes. Throws what `body` throws; the answer is then not whole. */
export async function send(
  response: ServerResponse,
  body: AsyncIterable<Buffer>,
  headers: Readonly<Record<string, string>>,
  gone: AbortSignal,
): Promise<void> {
  const chunks = body[Symbol.asyncIterator]();
  let next = await chunks.next();
  response.writeHead(200, headers);
  while (next.done !== true) {
    if (!response.write(next.value)) await once(response, 'drain', { signal: gone });
    next = await chunks.next();
  }
  response.end();
}

/** `status`: the error's own unless given. */
export function refuse(
  response: ServerResponse,
  error: ConnectError,
  status = codeToHttpStatus(error.code),
): void {
  if (response.destroyed) return;
  const retryAfter = error.metadata.get('retry-after') ?? (status === 503 ? '1' : null);
  response.writeHead(status, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    ...(retryAfter !== null && { 'retry-after': retryAfter }),
    ...(status === 401 && { 'www-authenticate': 'Bearer' }),
  });
  response.end(JSON.stringify({ code: codeToString(error.code), message: error.rawMessage }));
}
