// ClickHouse's HTTP interface, as far as @clickhouse/client needs it, over an engine in this process. It knows HTTP and
// the steps of a request; statements, connections and results are in other files.

import { randomUUID } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createSecretCheck } from '../../platform/secrets/secret-check.ts';
import type { Engine } from './engine.ts';
import { EngineError, exceptionLine, statusFor, toEngineError } from './errors.ts';
import { bodyOf, dataOf, type EngineRequest, readRequest, readText } from './request.ts';
import { ResultResponse } from './result-response.ts';
import { bindParameters } from './statement/parameters.ts';
import { readStatement, type Statement } from './statement/statement.ts';

// The bytes of parameters that a ClickHouse server takes in a URL.
const maxHeaderBytes = 1_048_576;
const maxSockets = 512;
// Longer than any client keeps an idle socket: the side that sends the next request should be the side that closes.
const keepAliveMs = 65_000;

/** A server that is not listening yet. It runs statements of requests with `password` alone, whatever their user. */
export function createEngineServer(engine: Engine, password: string): Server {
  const mayAsk = createMayAsk(password);
  const server = createServer({ maxHeaderSize: maxHeaderBytes, keepAliveTimeout: keepAliveMs });
  server.maxConnections = maxSockets;
  server.requestTimeout = 0;
  server.on('request', (request, response) => {
    serve(engine, mayAsk, request, response).catch((error) => {
      answerError(engine, response, toEngineError(error));
      // The rest of a refused body would otherwise be read as the next request.
      request.resume();
    });
  });
  return server;
}

/** Requests of a web page are refused by their Origin, and by a Host that is not ours, whatever they know. */
function createMayAsk(password: string): (request: IncomingMessage) => boolean {
  const isPassword = createSecretCheck(password);
  return ({ headers }) => {
    const [scheme, credentials = ''] = (headers.authorization ?? '').split(' ', 2);
    const pair = Buffer.from(scheme === 'Basic' ? credentials : '', 'base64').toString();
    const isOurs = headers.host === 'localhost' && headers.origin === undefined;
    return isPassword(pair.slice(pair.indexOf(':') + 1)) && isOurs;
  };
}

async function serve(
  engine: Engine,
  mayAsk: (request: IncomingMessage) => boolean,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const path = (request.url ?? '/').split('?', 1)[0];
  if (request.method === 'GET' && path === '/ping') {
    const well = await engine.answers();
    response.writeHead(well ? 200 : 503).end(well ? 'Ok.\n' : 'A statement does not end.\n');
    return;
  }
  if (!mayAsk(request)) {
    throw new EngineError(516, 'AUTHENTICATION_FAILED', 'Authentication failed');
  }
  if (path !== '/' || (request.method !== 'POST' && request.method !== 'GET')) {
    response.writeHead(404).end('There is POST / for statements and GET /ping\n');
    return;
  }
  // A client that leaves in the middle of its answer is no failure.
  response.on('error', () => {});
  const gone = new AbortController();
  response.once('close', () => {
    if (!response.writableFinished) gone.abort();
  });
  const read = readRequest(request, randomUUID);
  response.setHeader('X-ClickHouse-Query-Id', read.queryId);
  response.setHeader('X-ClickHouse-Timezone', 'UTC');
  const inUrl = statementOf(engine, request, read, read.query);
  if (inUrl?.kind === 'insert') {
    await engine.insert(inUrl, read.scope, withInline(inUrl.inline, dataOf(request)), gone.signal);
    response.end();
    return;
  }
  const rest = await readText(bodyOf(request));
  const text = rest === '' ? read.query : `${read.query}\n${rest}`;
  const statement = statementOf(engine, request, read, text);
  if (statement === undefined)
    throw new EngineError(62, 'SYNTAX_ERROR', 'Syntax error: Empty query');
  await answer(engine, read, statement, response, gone.signal);
}

function statementOf(
  engine: Engine,
  request: IncomingMessage,
  read: EngineRequest,
  text: string,
): Statement | undefined {
  if (text.trim() === '') return undefined;
  const { maxQueryCharacters } = read;
  const bound = bindParameters(text, read.parameters);
  const statement = readStatement(bound, read.defaultFormat, engine.refused);
  if (request.method === 'GET' && statement.kind !== 'read') {
    throw new EngineError(164, 'READONLY', 'Cannot execute query in readonly mode: use POST');
  }
  // Like in a server, rows inside a statement's text do not count.
  if (statement.kind === 'read' && text.length > maxQueryCharacters) {
    throw new EngineError(62, 'SYNTAX_ERROR', `Max query size exceeded: ${maxQueryCharacters}`);
  }
  return statement;
}

async function answer(
  engine: Engine,
  read: EngineRequest,
  statement: Statement,
  response: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  switch (statement.kind) {
    case 'insert':
      await engine.insert(statement, read.scope, withInline(statement.inline, []), gone);
      response.end();
      return;
    case 'command': {
      const text = await engine.command(statement.sql, read.scope, read.defaultFormat, gone);
      response.end(text);
      return;
    }
    case 'read': {
      const result = new ResultResponse(response, read.compressResponse, engine.version);
      await engine.read(statement, read.scope, gone, result);
      return;
    }
    default:
      statement satisfies never;
  }
}

async function* withInline(
  inline: string,
  body: AsyncIterable<Buffer> | Iterable<Buffer>,
): AsyncGenerator<Buffer> {
  if (inline !== '') yield Buffer.from(inline);
  yield* body;
}

function answerError(engine: Engine, response: ServerResponse, error: EngineError): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  response.writeHead(statusFor(error), {
    'Content-Type': 'text/plain; charset=UTF-8',
    'X-ClickHouse-Exception-Code': String(error.code),
  });
  response.end(exceptionLine(error, engine.version));
}
