// Runs SELECTs over node:http and hands out rows as they arrive. The client's query() waits for a timer before each
// request and has four streams between socket and row: 2 ms by the clock and 1 ms of CPU more for each statement, which
// counts where a statement takes 3. Reading an error's text is still left to the client's library.

import http, { type IncomingMessage } from 'node:http';
import https from 'node:https';
import { urlToHttpOptions } from 'node:url';
import {
  ClickHouseError,
  EXCEPTION_TAG_HEADER_NAME,
  extractErrorAtTheEndOfChunk,
  parseError,
} from '@clickhouse/client';
import { resultBytes } from './result-bytes.ts';
import { type ServerUrl, socketAgent } from './server-url.ts';

/** Shorter than any server keeps an idle connection: 3 s in ClickHouse before 23.11, 10 s since, 65 s in the engine. */
const idleMs = 2_500;
/** The longest error text read; a server's has a few hundred characters and the statement. */
const maxErrorBytes = 1_048_576;

/** The header that names a request's database; a request's own header wins over the client's. */
export const databaseHeader = 'X-ClickHouse-Database';

export interface Select {
  /** A statement without FORMAT. */
  sql: string;
  /** Texts, numbers and arrays of them, by the names of their placeholders. */
  params: Readonly<Record<string, unknown>>;
  settings: Readonly<Record<string, string | number>>;
  /** Ends the statement; the call then fails with any error. */
  signal: AbortSignal;
  /** Where names without one are looked up; the client's unless given. */
  database?: string;
}

export interface RowReader {
  /**
   * Calls `onRow` with each row, the text of a JSON array, until it returns false or no row is left. Throws an error of
   * `onRow`, ClickHouseError for an error of the server, and the network's own error with its code. Rows may have
   * arrived before the error.
   */
  select(select: Select, onRow: (text: string) => boolean): Promise<void>;
}

export interface ResultReader {
  /**
   * The bytes of a result in any of the server's formats. They end after the last row's alone: throws what `select`
   * throws where the statement fails or the result is cut off, after some bytes maybe. Aborting the signal ends it.
   */
  stream(select: Select, format: string): AsyncGenerator<Buffer, void, undefined>;
}

export interface CollectedRows {
  rows: unknown[][];
  characters: number;
}

/** The rows of a SELECT, parsed, up to the one that passes `maxCharacters`. Throws what `select` and the signal do. */
export async function collectRows(
  reader: RowReader,
  select: Select,
  maxCharacters: number,
): Promise<CollectedRows> {
  select.signal.throwIfAborted();
  const rows: unknown[][] = [];
  let characters = 0;
  await reader.select(select, (text) => {
    rows.push(JSON.parse(text));
    characters += text.length;
    return characters < maxCharacters;
  });
  select.signal.throwIfAborted();
  return { rows, characters };
}

/** The engine's names of errors of a statement that ran too long, or whose caller has gone. */
export const timeoutErrors: ReadonlySet<string> = new Set([
  'TIMEOUT_EXCEEDED',
  'QUERY_WAS_CANCELLED',
  'TOO_SLOW',
]);

/**
 * Which memory a failed statement ran out of: its own bound, or the whole engine's, which others have taken; undefined
 * where it failed by something else. The engine has one name for both, and tells them apart in the message.
 */
export function lackOfMemory(error: unknown): 'statement' | 'engine' | undefined {
  if (!(error instanceof ClickHouseError) || error.type !== 'MEMORY_LIMIT_EXCEEDED')
    return undefined;
  return error.message.startsWith('(total)') ? 'engine' : 'statement';
}

/** Reads from the server. `headers` go with every request. Close it when no read is running. */
export function createRowReader(
  server: ServerUrl,
  options: {
    headers: Readonly<Record<string, string>>;
    maxConnections: number;
    /** The most that one statement may hold, unless its settings say so. */
    statementMemoryBytes: number;
    /** Of every statement. */
    settings?: Select['settings'];
  },
): RowReader & ResultReader & { close(): void } {
  const { socketPath, http: url } = server;
  const { Agent, request: open } = url.protocol === 'https:' ? https : http;
  const agent =
    socketPath === undefined
      ? new Agent({ keepAlive: true, maxSockets: options.maxConnections, timeout: idleMs })
      : socketAgent(socketPath, options.maxConnections, idleMs);
  // The user that ClickHouse assumes where none is given.
  const target = { auth: 'default:', ...urlToHttpOptions(url), socketPath, method: 'POST' };
  const send = (select: Select, kept: boolean, format = rowFormat): Promise<IncomingMessage> =>
    new Promise((resolve, reject) => {
      const search = searchOf(select, format, options.statementMemoryBytes, options.settings);
      const request = open({
        ...target,
        path: `${url.pathname}?${search}`,
        headers: {
          ...options.headers,
          ...(select.database !== undefined && { [databaseHeader]: select.database }),
          'Content-Length': Buffer.byteLength(select.sql),
        },
        agent: kept ? agent : false,
        signal: select.signal,
      });
      request.on('response', resolve);
      request.on('error', (error) => {
        // The server closed a kept connection at the same moment: it has not begun, and a read may be repeated anyway.
        const isStale = request.reusedSocket && 'code' in error && error.code === 'ECONNRESET';
        if (isStale && !select.signal.aborted) send(select, false, format).then(resolve, reject);
        else reject(error);
      });
      request.end(select.sql);
    });
  return {
    async select(select, onRow) {
      const response = await send(select, true);
      if (response.statusCode !== 200) throw await errorOf(response);
      await readLines(response, onRow);
    },
    async *stream(select, format) {
      const response = await send(select, true, format);
      if (response.statusCode !== 200) throw await errorOf(response);
      yield* resultBytes(response);
    },
    close: () => agent.destroy(),
  };
}

const rowFormat = 'JSONCompactEachRow';

function searchOf(
  { params, settings: own }: Select,
  format: string,
  memoryBytes: number,
  ofAll: Select['settings'] = {},
): string {
  const settings = { ...ofAll, ...own };
  const search = new URLSearchParams({ default_format: format });
  for (const [name, value] of Object.entries(params)) search.set(`param_${name}`, textOf(value));
  for (const [name, value] of Object.entries(settings)) search.set(name, String(value));
  if (settings['max_memory_usage'] === undefined) {
    search.set('max_memory_usage', String(memoryBytes));
  }
  return search.toString();
}

const escapes = new Map([
  ['\\', '\\\\'],
  ["'", "\\'"],
  ['\t', '\\t'],
  ['\n', '\\n'],
  ['\r', '\\r'],
]);

/** The form in which a server reads parameters: escaped like TabSeparated, with texts in arrays quoted. */
function textOf(value: unknown): string {
  switch (typeof value) {
    case 'string':
      return value.replace(/[\\'\t\n\r]/g, (character) => escapes.get(character) ?? '');
    case 'number':
    case 'bigint':
      return String(value);
    default:
      if (Array.isArray(value)) return `[${value.map(elementOf).join(',')}]`;
      throw new Error(`a ${typeof value} cannot be a parameter`);
  }
}

function elementOf(value: unknown): string {
  return typeof value === 'string' ? `'${textOf(value)}'` : textOf(value);
}

const newline = 0x0a;
const carriageReturn = 0x0d;

function readLines(response: IncomingMessage, onRow: (text: string) => boolean): Promise<void> {
  return new Promise((resolve, reject) => {
    const tag = response.headers[EXCEPTION_TAG_HEADER_NAME];
    // The chunks of an unfinished row, or of an exception.
    let held: Buffer[] = [];
    let failed = false;
    /** Returns false where no further row is wanted. */
    const take = (chunk: Buffer): boolean => {
      let start = 0;
      for (let end = chunk.indexOf(newline); end !== -1 && !failed; ) {
        const last = chunk.subarray(start, end);
        const row = held.length === 0 ? last : Buffer.concat([...held, last]);
        held = [];
        start = end + 1;
        end = chunk.indexOf(newline, start);
        // No row ends in a carriage return: an exception follows.
        failed = tag !== undefined && row.at(-1) === carriageReturn;
        if (!failed && !onRow(row.toString('utf8'))) return false;
      }
      if (start < chunk.length) held.push(chunk.subarray(start));
      return true;
    };
    response.on('data', (chunk: Buffer) => {
      try {
        if (take(chunk)) return;
        resolve();
      } catch (error) {
        reject(error);
      }
      response.destroy();
    });
    response.on('error', reject);
    response.on('end', () => {
      if (failed) reject(extractErrorAtTheEndOfChunk(Buffer.concat(held), String(tag)));
      else if (held.length > 0) reject(new Error('the last row of a result is cut off'));
      else resolve();
    });
  });
}

async function errorOf(response: IncomingMessage): Promise<ClickHouseError | Error> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of response) {
    chunks.push(chunk);
    bytes += chunk.length;
    if (bytes > maxErrorBytes) break;
  }
  return parseError(Buffer.concat(chunks).toString('utf8'));
}
