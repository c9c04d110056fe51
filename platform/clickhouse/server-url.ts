// The address of a ClickHouse server: `http(s)://[user:password@]host:port/database`, or the Unix socket of an engine
// on this machine, `unix:///path?database=name&password=text`. Connecting is left to clickhouse.ts and select-rows.ts.

import http from 'node:http';
import { pathToFileURL } from 'node:url';

export interface ServerUrl {
  /** Without a database. Over a Unix socket only its host name and its credential go out, in headers. */
  http: URL;
  database: string;
  socketPath: string | undefined;
}

export function readServerUrl(text: string): ServerUrl {
  const url = new URL(text);
  if (url.protocol === 'unix:') {
    const http = new URL('http://millrace@localhost/');
    http.password = url.searchParams.get('password') ?? '';
    return {
      http,
      database: url.searchParams.get('database') ?? 'default',
      socketPath: decodeURIComponent(url.pathname),
    };
  }
  const database = decodeURIComponent(url.pathname.slice(1)) || 'default';
  url.pathname = '/';
  return { http: url, database, socketPath: undefined };
}

/** The address of a database behind a Unix socket, for readServerUrl. It holds the password: no log may. */
export function socketUrl(path: string, database: string, password: string): string {
  const search = new URLSearchParams({ database, password });
  // These two stand between the URLs of a setting.
  const pathname = pathToFileURL(path).pathname.replaceAll(',', '%2C').replaceAll(';', '%3B');
  return `unix://${pathname}?${search}`;
}

/** Connections to a Unix socket for requests that name any host. */
export function socketAgent(socketPath: string, maxSockets: number, idleMs?: number): http.Agent {
  // Node takes the path, its types do not know it.
  const options = { keepAlive: true, maxSockets, socketPath, timeout: idleMs };
  return new http.Agent(options);
}
