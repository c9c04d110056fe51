// Reads the supported parts of ClickHouse's HTTP request: the URL's parameters as settings, bound values and options,
// and the body, decompressed and bounded. Parameters that need a session are refused here by name, others are ignored.

import type { IncomingMessage } from 'node:http';
import { createGunzip } from 'node:zlib';
import { freeMemory } from '../../platform/memory/free-memory.ts';
import type { Scope } from './connections/connection.ts';
import { EngineError } from './errors.ts';
import { checkRowFilters, rowFiltersSetting } from './row-filters.ts';
import { refuseDatabase } from './statement/reach.ts';

export interface EngineRequest {
  /** Statement text from the URL; '' where it is in the body. */
  query: string;
  queryId: string;
  scope: Scope;
  parameters: ReadonlyMap<string, string>;
  defaultFormat: string;
  compressResponse: boolean;
  /** The longest text of a statement, without its parameters. */
  maxQueryCharacters: number;
}

/** A server's default of max_query_size. */
const defaultMaxQueryCharacters = 262_144;
/** Longer statements are refused; inserted data does not count. */
const maxStatementBytes = 16 * 1_048_576;

// Settings of the HTTP layer and of users, and log_comment, which the connection uses itself.
const ignored = new Set(
  (
    'wait_end_of_query buffer_size user password quota_key role stacktrace log_comment ' +
    'send_progress_in_http_headers http_headers_progress_interval_ms enable_http_compression'
  ).split(' '),
);

/** The settings of every statement, unless the request sets others. */
const ownSettings: ReadonlyMap<string, string> = new Map([
  // An insert is answered once its part is on disk.
  ['async_insert', '0'],
  ['deduplicate_blocks_in_dependent_materialized_views', '1'],
  // chDB differs from a server here: `1` is no statement, and functions that look into the process are off.
  ['implicit_select', '0'],
  ['allow_introspection_functions', '0'],
  // Parameters are part of the text here, but not in a server. server.ts bounds the text without them.
  ['max_query_size', String(64 * 1_048_576)],
  // A dozen blocks formatted at once would hold wide rows in memory a dozen times.
  ['output_format_parallel_formatting', '0'],
  // In seconds: the last resort for a statement whose client is gone and that KILL QUERY has not ended.
  ['max_execution_time', '300'],
]);

/** Reads a request's URL and headers; `newId` names a request without an id. Throws EngineError for refused parts. */
export function readRequest(request: IncomingMessage, newId: () => string): EngineRequest {
  const url = new URL(request.url ?? '/', 'http://engine');
  const settings = new Map(ownSettings);
  const parameters = new Map<string, string>();
  // Like in a server, the header wins over the URL.
  const header = request.headers['x-clickhouse-database'];
  const namedByHeader = typeof header === 'string';
  const read: EngineRequest = {
    query: '',
    queryId: newId(),
    scope: { settings, database: namedByHeader ? header : 'default' },
    parameters,
    defaultFormat: 'TabSeparated',
    compressResponse: false,
    maxQueryCharacters: defaultMaxQueryCharacters,
  };
  for (const [name, value] of url.searchParams) {
    if (name === 'query') read.query = value;
    else if (name === 'query_id') read.queryId = value;
    else if (name === 'database') {
      if (!namedByHeader) read.scope.database = value;
    } else if (name === 'default_format') read.defaultFormat = value;
    else if (name.startsWith('param_')) parameters.set(name.slice('param_'.length), value);
    else if (name.startsWith('session_') && name !== 'session_timezone') refuse('sessions');
    else if (name === 'compress' || name === 'decompress') refuse("ClickHouse's own compression");
    else if (!ignored.has(name)) addSetting(settings, name, value);
    if (name === 'max_query_size') read.maxQueryCharacters = Number(value);
    if (name === 'enable_http_compression') read.compressResponse = acceptsGzip(request, value);
  }
  refuseDatabase(read.scope.database);
  if (!/^\w+$/.test(read.defaultFormat)) refuse('such a format');
  return read;
}

function addSetting(settings: Map<string, string>, name: string, value: string): void {
  if (!/^[A-Za-z_]\w*$/.test(name)) {
    throw new EngineError(115, 'UNKNOWN_SETTING', `Unknown setting '${name}'`);
  }
  if (name === rowFiltersSetting) checkRowFilters(value);
  settings.set(name, value);
}

function acceptsGzip(request: IncomingMessage, enabled: string): boolean {
  return enabled === '1' && /\bgzip\b/.test(String(request.headers['accept-encoding'] ?? ''));
}

function refuse(what: string): never {
  throw new EngineError(48, 'NOT_IMPLEMENTED', `The embedded engine has not ${what}`);
}

/**
 * The request's body, decompressed. Throws EngineError for an encoding other than gzip. A reader that stops early
 * leaves the request whole: the rest of the body must still be read off, or the connection's next request never comes.
 */
export function bodyOf(request: IncomingMessage): AsyncIterable<Buffer> {
  if (/^multipart\//.test(request.headers['content-type'] ?? '')) refuse('multipart bodies');
  const encoding = request.headers['content-encoding'] ?? 'identity';
  if (encoding === 'identity') return request.iterator({ destroyOnReturn: false });
  if (encoding !== 'gzip') refuse(`the encoding ${encoding}`);
  const plain = createGunzip();
  request.on('error', (error) => plain.destroy(error));
  return request.pipe(plain);
}

/**
 * The body as inserted data: each chunk is valid until the next is asked for. The chunks of an uncompressed body are
 * copies, each with its own memory: freed at once, that memory is used again while it is in the CPU's caches, which
 * saves a fifth of an upload's CPU.
 */
export async function* dataOf(request: IncomingMessage): AsyncGenerator<Buffer> {
  const isOurCopy = (request.headers['content-encoding'] ?? 'identity') === 'identity';
  for await (const chunk of bodyOf(request)) {
    yield chunk;
    if (isOurCopy) freeMemory(chunk);
  }
}

/** Reads a body that is a statement. Throws EngineError beyond 16 MiB and for text with a NUL. */
export async function readText(body: AsyncIterable<Buffer>): Promise<string> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of body) {
    bytes += chunk.length;
    if (bytes > maxStatementBytes) {
      throw new EngineError(62, 'SYNTAX_ERROR', `Statement longer than ${maxStatementBytes} bytes`);
    }
    chunks.push(chunk);
  }
  const text = Buffer.concat(chunks).toString('utf8');
  if (text.includes('\0'))
    throw new EngineError(62, 'SYNTAX_ERROR', 'Syntax error: NUL in a query');
  return text;
}
