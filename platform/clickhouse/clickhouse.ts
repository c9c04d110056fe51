// The client for ClickHouse over HTTP, for a server and the embedded engine alike: how inserts stay exact, and
// whether a failure is worth another try. It builds no SQL for its callers.

import { Readable } from 'node:stream';
import type {
  ClickHouseClient,
  ErrorLogParams,
  LogParams,
  WarnLogParams,
} from '@clickhouse/client';
import { ClickHouseError, ClickHouseLogLevel, createClient } from '@clickhouse/client';
import type { Log } from '../log.ts';
import { leastEngineMemoryMiB } from '../memory/engine-memory.ts';
import { insertInTurns, readSettings, replicatedSettings } from './replicated-settings.ts';
import {
  createRowReader,
  databaseHeader,
  type ResultReader,
  type RowReader,
} from './select-rows.ts';
import { readServerUrl, socketAgent } from './server-url.ts';

/** A client that knows the name of its database, which may not exist yet, and has the quick `select`. */
export type DatabaseClient = Pick<
  ClickHouseClient,
  'query' | 'command' | 'exec' | 'insert' | 'close'
> &
  RowReader &
  ResultReader & {
    readonly database: string;
    /**
     * Whether the server answers within two seconds, and has had the database. It waits behind no statement: dear reads
     * take their time, and a server that works on them is well.
     */
    isReady(): Promise<boolean>;
  };

const application = 'millrace';
const defaultRequestTimeoutMs = 60_000;
/** Half of the least memory of the embedded engine. */
const leastStatementMemoryBytes = (leastEngineMemoryMiB / 2) * 1_048_576;
const readyTimeoutMs = 2_000;
/** Of a start: right after its own start a server on a slow machine takes long. */
const firstAnswerMs = 30_000;

export interface ClickHouseOptions {
  log: Log;
  /** Of the client; `select` has as many more. */
  maxConnections: number;
  /** A statement that sends nothing for so long is given up; 60 s unless given. */
  requestTimeoutMs?: number;
  /** The most that a `select` may hold; 384 MiB unless given. */
  statementMemoryBytes?: number;
  /** Whether the server replicates its tables (replicated-settings.ts). */
  isReplicated?: boolean;
}

/**
 * A client for the server at `url` (server-url.ts). 64-bit integers come back as text, because JSON numbers would lose
 * digits. Where the server is not there, the calls throw; this function does not.
 */
export function createClickHouse(
  url: string,
  options: ClickHouseOptions,
): ClickHouseClient & DatabaseClient {
  const server = readServerUrl(url);
  const { database, socketPath } = server;
  const { maxConnections } = options;
  const client = createClient({
    url: server.http,
    ...(socketPath !== undefined && { http_agent: socketAgent(socketPath, maxConnections) }),
    application,
    max_open_connections: maxConnections,
    request_timeout: options.requestTimeoutMs ?? defaultRequestTimeoutMs,
    compression: { request: false, response: false },
    // In a header, not as the client's database: the statement that creates the database must be able to name another.
    http_headers: { [databaseHeader]: database },
    clickhouse_settings: {
      output_format_json_quote_64bit_integers: 1,
      ...(options.isReplicated && replicatedSettings),
    },
    log: { level: ClickHouseLogLevel.WARN, LoggerClass: loggerOn(options.log) },
  });
  const close = client.close.bind(client);
  const rows = createRowReader(server, {
    headers: { [databaseHeader]: database, 'User-Agent': application },
    maxConnections,
    statementMemoryBytes: options.statementMemoryBytes ?? leastStatementMemoryBytes,
    ...(options.isReplicated && { settings: readSettings }),
  });
  if (options.isReplicated) insertInTurns(client);
  return Object.assign(client, {
    database,
    select: rows.select,
    stream: rows.stream,
    isReady: createIsReady(client),
    async close() {
      rows.close();
      await close();
    },
  });
}

/**
 * Inserts one Arrow IPC stream of one record batch and resolves when its parts are on disk. The same bytes under the
 * same `token` are inserted once, however often they are sent: in the table and in the tables that its views feed, as
 * long as each has a deduplication window. Throws errors for `failureOf`.
 */
export async function insertArrow(
  client: Pick<DatabaseClient, 'exec'>,
  table: string,
  arrow: Uint8Array,
  token: string,
  columns: readonly string[] = [],
): Promise<void> {
  const names = columns.length === 0 ? '' : ` (${columns.map(quoteName).join(', ')})`;
  const { stream } = await client.exec({
    query: `INSERT INTO ${quoteName(table)}${names} FORMAT ArrowStream`,
    values: Readable.from([arrow]),
    clickhouse_settings: {
      async_insert: 0,
      insert_deduplicate: 1,
      deduplicate_blocks_in_dependent_materialized_views: 1,
      insert_deduplication_token: token,
      // An insert that is refused for it would be refused for ever. Partitions are years, so there are few.
      max_partitions_per_insert_block: '0',
      wait_end_of_query: 1,
    },
  });
  await untilInserted(stream);
}

/** Resolves at the end of an insert's answer. Throws where it is more than a status, which is the text of an error. */
export async function untilInserted(answer: AsyncIterable<unknown>): Promise<void> {
  for await (const piece of answer) {
    if (String(piece) !== '') {
      throw new Error('ClickHouse answered an insert with more than its status');
    }
  }
}

function quoteName(name: string): string {
  if (!/^[A-Za-z_]\w*$/.test(name)) throw new Error(`${name} is no name of a table or column`);
  return `\`${name}\``;
}

/** As DatabaseClient tells. The database is asked for by a statement until it has answered once. */
function createIsReady(client: ClickHouseClient): () => Promise<boolean> {
  let wasThere = false;
  return async () => {
    const abort_signal = AbortSignal.timeout(readyTimeoutMs);
    try {
      if (wasThere) return (await client.ping({ select: false, abort_signal })).success;
      const result = await client.query({ query: 'SELECT 1', format: 'JSONEachRow', abort_signal });
      wasThere = (await result.json()).length === 1;
      return wasThere;
    } catch {
      return false;
    }
  };
}

/**
 * Resolves once the server at `url` lets `client` in; throws one sentence, without secrets, where it does not within
 * two seconds. The database need not exist yet.
 */
export async function requireClickHouse(client: DatabaseClient, url: string): Promise<void> {
  const { http, socketPath } = readServerUrl(url);
  const place = socketPath ?? `${http.protocol}//${http.host}`;
  try {
    await client.command({
      query: 'SELECT 1',
      http_headers: { [databaseHeader]: 'default' },
      abort_signal: AbortSignal.timeout(firstAnswerMs),
    });
  } catch (error) {
    throw new Error(`ClickHouse at ${place} cannot be used: ${whyNot(error)}`, {
      cause: error,
    });
  }
}

function whyNot(error: unknown): string {
  if (error instanceof ClickHouseError) {
    return `it answers with code ${error.code}${error.type === undefined ? '' : ` (${error.type})`}`;
  }
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  if (code === 'ECONNREFUSED' || code === 'ENOENT') return 'nothing listens there';
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'its host name is not known';
  if (typeof code === 'string') return code;
  return `it gives no usable answer within ${firstAnswerMs / 1_000} s`;
}

/**
 * The meaning of a failed call. `reject`: the same call will fail again, because its statement or its data is at fault.
 * `retry`: the server, the network or the load is at fault; an insert may have happened and must be repeated unchanged.
 * Every unknown error is `retry`: repeating is safe, giving up is not.
 */
export function failureOf(error: unknown): 'retry' | 'reject' {
  if (!(error instanceof ClickHouseError)) return 'retry';
  if (error.code === tooManyParts) {
    // One code for two faults: a table that merges too slowly, which passes, and a block with rows for too many
    // partitions, which does not. Only the text tells them apart.
    return /single INSERT block/.test(error.message) ? 'reject' : 'retry';
  }
  return rejected.has(error.code) ? 'reject' : 'retry';
}

const tooManyParts = '252';

// ClickHouse's ErrorCodes for a statement or data that is wrong by itself. Missing databases, tables and columns are
// not among them: a migration may be about to make them. Nor is data that ends early: the network may have cut it.
// Looked up by number, because the client takes the name from a text that may hold other names.
const rejected = new Set(
  `
    6 CANNOT_PARSE_TEXT, 15 DUPLICATE_COLUMN, 20 NUMBER_OF_COLUMNS_DOESNT_MATCH, 25 CANNOT_PARSE_ESCAPE_SEQUENCE,
    26 CANNOT_PARSE_QUOTED_STRING, 27 CANNOT_PARSE_INPUT_ASSERTION_FAILED, 36 BAD_ARGUMENTS,
    38 CANNOT_PARSE_DATE, 41 CANNOT_PARSE_DATETIME, 42 NUMBER_OF_ARGUMENTS_DOESNT_MATCH,
    43 ILLEGAL_TYPE_OF_ARGUMENT, 44 ILLEGAL_COLUMN, 46 UNKNOWN_FUNCTION, 47 UNKNOWN_IDENTIFIER,
    48 NOT_IMPLEMENTED, 50 UNKNOWN_TYPE, 53 TYPE_MISMATCH, 62 SYNTAX_ERROR, 63 UNKNOWN_AGGREGATE_FUNCTION,
    69 ARGUMENT_OUT_OF_BOUND, 70 CANNOT_CONVERT_TYPE, 72 CANNOT_PARSE_NUMBER, 73 UNKNOWN_FORMAT,
    115 UNKNOWN_SETTING, 117 INCORRECT_DATA, 128 TOO_LARGE_ARRAY_SIZE, 130 CANNOT_READ_ARRAY_FROM_TEXT,
    131 TOO_LARGE_STRING_SIZE, 153 ILLEGAL_DIVISION, 164 READONLY, 167 TOO_DEEP_AST, 168 TOO_BIG_AST,
    184 ILLEGAL_AGGREGATION, 190 SIZES_OF_ARRAYS_DONT_MATCH, 211 EMPTY_QUERY, 215 NOT_AN_AGGREGATE,
    229 QUERY_IS_TOO_LARGE, 248 INVALID_PARTITION_VALUE, 306 TOO_DEEP_RECURSION,
    321 VALUE_IS_OUT_OF_RANGE_OF_DATA_TYPE, 344 SUPPORT_IS_DISABLED, 349 CANNOT_INSERT_NULL_IN_ORDINARY_COLUMN,
    376 CANNOT_PARSE_UUID, 386 NO_COMMON_TYPE, 395 FUNCTION_THROW_IF_VALUE_IS_NON_ZERO, 407 DECIMAL_OVERFLOW,
    427 CANNOT_COMPILE_REGEXP, 456 UNKNOWN_QUERY_PARAMETER, 457 BAD_QUERY_PARAMETER, 467 CANNOT_PARSE_BOOL,
    469 VIOLATED_CONSTRAINT, 563 CANNOT_READ_MAP_FROM_TEXT,
  `.match(/\d+/g),
);

// The client's log lines carry statements and parameters beside the message; only the message is logged.
function loggerOn(log: Log) {
  return class {
    trace({ message }: LogParams): void {
      log.trace(message);
    }
    debug({ message }: LogParams): void {
      log.debug(message);
    }
    info({ message }: LogParams): void {
      log.info(message);
    }
    // The caller logs the failure with its meaning; a warning here would say it twice.
    warn({ message }: WarnLogParams): void {
      log.debug(message);
    }
    error({ message }: ErrorLogParams): void {
      log.debug(message);
    }
  };
}
