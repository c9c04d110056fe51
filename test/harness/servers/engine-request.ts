// A raw request to the embedded engine, as curl would send it over its socket.

import { type OutgoingHttpHeaders, request } from 'node:http';
import { readServerUrl } from '../../../platform/clickhouse/server-url.ts';

export interface RawAnswer {
  status: number;
  /** Of the response, in lower case. */
  header(name: string): string | undefined;
  text: string;
}

interface RawRequest {
  method?: 'GET' | 'POST';
  /** With its query; the database of the URL is not among it. */
  path?: string;
  headers?: OutgoingHttpHeaders;
  body?: string | Buffer;
}

/** `url` is the engine's; rejects where there is no connection. */
export function askEngine(url: string, raw: RawRequest): Promise<RawAnswer> {
  const { socketPath, http } = readServerUrl(url);
  const auth = `${http.username}:${http.password}`;
  const { method = 'POST', path = '/', headers } = raw;
  return new Promise((resolve, reject) => {
    const sent = request({ socketPath, auth, method, path, headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () => {
        resolve({
          status: response.statusCode ?? 0,
          header(name) {
            const value = response.headers[name];
            return Array.isArray(value) ? value.join(', ') : value;
          },
          text: Buffer.concat(chunks).toString('utf8'),
        });
      });
    });
    sent.on('error', reject).end(raw.body);
  });
}
