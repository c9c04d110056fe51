// The URL of a request. The Connect router's adapter makes one of the target and the authority, and throws in the
// middle of node's server where it cannot: nobody would catch that, and the process would end.

import type { IncomingMessage } from 'node:http';
import { parseUrl } from '../parse-url.ts';

/**
 * False where a request has no URL: HTTP/1.0 may leave the host out, and node lets any text pass for one. A request of
 * HTTP/2 gets the host that it names for its authority, because the adapter looks for nothing else.
 */
export function completeUrl(request: IncomingMessage): boolean {
  const { headers, url = '' } = request;
  if (request.httpVersionMajor === 2) headers[':authority'] ??= headers.host;
  const authority = headers[':authority'] ?? headers.host;
  return typeof authority === 'string' && parseUrl(url, `http://${authority}`) !== undefined;
}
