// POST and GET /sql on the port, in ClickHouse's HTTP dialect: credential, body, judge, a place among the statements
// that run, the engine's bytes as they come. GET /sql/ping is for clients that look whether somebody is there, GET
// /sql/log lists the project's newest statements.

import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Authenticate, Authentication } from '../../platform/access/authenticate.ts';
import type { Groups } from '../../platform/clickhouse/groups.ts';
import { systemClock } from '../../platform/clock.ts';
import type { BodyReceiver } from '../../platform/http/bodies/received-body.ts';
import type { Lease } from '../../platform/http/bodies/request-memory.ts';
import type { NodeHttpRoute } from '../../platform/http/http.ts';
import type { Log } from '../../platform/log.ts';
import { withTimeLimit } from '../../platform/memory/time-limit.ts';
import { refuse, sendRows, startAnswer } from './dialect/answer.ts';
import { helloBlock, isHello } from './dialect/hello.ts';
import { packedBlock, unpackBlocks } from './dialect/packed-blocks.ts';
import {
  credentialsOf,
  isPacked,
  readAsked,
  type StatementAsked,
} from './dialect/statement-request.ts';
import { maxStatementCharacters } from './judge/statement-text.ts';
import { codes, notAllowed, StatementRefusal, wrongSyntax } from './refusal.ts';
import type { StatementLimits, Statements } from './run/run-statement.ts';
import { statementFailure } from './run/statement-failure.ts';
import { StatementLog } from './run/statement-log.ts';
import type { Asker, StatementTurns } from './run/statement-turns.ts';
import { databaseOf } from './views/project-views.ts';

export interface StatementOptions {
  groups: Groups<Statements>;
  turns: StatementTurns;
  limits: StatementLimits;
  authenticate: Authenticate;
  log: Log;
}

const path = '/sql';
/** A statement may ask for all rows of the project, so it needs what an export needs: a member, or a key that reads. */
const neededMethod = 'shared.exports.v1.ExportsService/Create';
/** Beside the statement's own time: to be judged, and to be taken by its reader. */
const answerSeconds = 60;
const maxBodyBytes = 2 * maxStatementCharacters;

interface Parts extends StatementOptions {
  statementLog: StatementLog;
}

export function createStatementRoute(options: StatementOptions): NodeHttpRoute {
  const parts: Parts = { ...options, statementLog: new StatementLog() };
  return (request, response, { path: asked, query }, bodies) => {
    const rest = asked.startsWith(`${path}/`) ? asked.slice(path.length + 1) : undefined;
    if (asked !== path && rest === undefined) return false;
    if (rest === 'ping') {
      bodies.answerUnread(request);
      response.writeHead(200, { 'Content-Type': 'text/plain' }).end('Ok.\n');
      return true;
    }
    void bodies.memory.during((lease) =>
      serve(parts, { request, response, bodies, lease, query, rest }),
    );
    return true;
  };
}

interface Request {
  request: IncomingMessage;
  response: ServerResponse;
  bodies: BodyReceiver;
  lease: Lease;
  query: string;
  /** Of the path, behind /sql/. */
  rest: string | undefined;
}

/** Never rejects. */
async function serve(parts: Parts, asked: Request): Promise<void> {
  const { request, response, bodies, query } = asked;
  const gone = new AbortController();
  // A reader that leaves is no failure.
  response.on('error', () => {});
  response.once('close', () => gone.abort());
  startAnswer(response, '');
  try {
    const caller = await callerOf(parts, asked);
    if (asked.rest === 'log') {
      bodies.answerUnread(request);
      sendLog(parts, response, caller);
      return;
    }
    if (asked.rest !== undefined && asked.rest !== '' && !/^(default|millrace)$/.test(asked.rest)) {
      throw notAllowed('there are the paths /sql, /sql/ping and /sql/log');
    }
    const body = await bodyOf(asked);
    const statement = readAsked(query, request.headers, body, parts.limits);
    startAnswer(response, statement.queryId);
    await answer(parts, caller, statement, response, gone.signal);
  } catch (error) {
    bodies.answerUnread(request);
    const refusal = statementFailure(error, 'sql_', parts.log);
    if (response.headersSent) response.destroy();
    else refuse(response, refusal);
  }
}

async function callerOf(
  { authenticate }: Parts,
  { request, query, lease }: Request,
): Promise<Asker> {
  const credentials = credentialsOf(request.headers);
  const chosen = new URLSearchParams(query).get('project') ?? undefined;
  const found = await authenticate(neededMethod, {
    ...credentials,
    projectIdHeader: credentials.projectIdHeader ?? chosen,
  });
  if (found.kind !== 'ok') throw refusedAccess(found);
  const { projectId, keyId } = found.principal;
  lease.claim(projectId);
  return { projectId, keyId };
}

function refusedAccess(found: Authentication): StatementRefusal {
  if (found.kind !== 'refused') {
    return new StatementRefusal(
      codes.credential,
      'Authentication failed: the project is not known',
    );
  }
  if (found.code === 'unavailable') return new StatementRefusal(codes.away, found.message);
  const how = 'send the private key as password, as X-ClickHouse-Key or as x-api-key';
  return new StatementRefusal(codes.credential, `Authentication failed: ${found.message}; ${how}`);
}

async function bodyOf({ request, bodies, lease, query }: Request): Promise<string> {
  switch (request.method) {
    case 'GET':
      bodies.answerUnread(request);
      return '';
    case 'POST':
      break;
    default:
      throw notAllowed('this path takes GET and POST');
  }
  const encoding = request.headers['content-encoding'] ?? 'identity';
  const received = await bodies.receive(request, { lease, maxBytes: maxBodyBytes, encoding });
  switch (received.kind) {
    case 'received':
      return textOf(received.bytes, isPacked(query));
    case 'busy':
      throw new StatementRefusal(codes.away, 'too many requests: ask again');
    case 'gone':
      throw new DOMException('gone', 'AbortError');
    default:
      throw wrongSyntax(
        `the body is a statement of at most ${maxBodyBytes} bytes, packed by gzip or not`,
      );
  }
}

function textOf(bytes: Uint8Array, packed: boolean): string {
  const raw = packed ? unpackBlocks(bytes, maxBodyBytes) : bytes;
  if (raw === undefined) {
    throw wrongSyntax(
      `with decompress=1 the body is blocks of LZ4 with their checksums, of at most ${maxBodyBytes} bytes unpacked`,
    );
  }
  return Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength).toString('utf8');
}

function sendLog({ statementLog }: Parts, response: ServerResponse, { projectId }: Asker): void {
  response.writeHead(200, { 'Content-Type': 'application/json' });
  response.end(JSON.stringify({ statements: statementLog.of(projectId) }));
}

async function answer(
  parts: Parts,
  caller: Asker,
  asked: StatementAsked,
  response: ServerResponse,
  gone: AbortSignal,
): Promise<void> {
  const { limits, statementLog, log } = parts;
  const { projectId, keyId } = caller;
  const startMs = performance.now();
  const entry = {
    ...{
      time: new Date(systemClock.nowMs()).toISOString(),
      queryId: asked.queryId,
      keyId,
      statement: asked.sql,
    },
    ...{ format: asked.format, durationMs: 0, bytes: 0, code: 0, error: '' },
  };
  const refusalOf = (error: unknown): StatementRefusal =>
    statementFailure(error, databaseOf(projectId), log);
  try {
    const signal = withTimeLimit(gone, (limits.seconds + answerSeconds) * 1_000);
    const give = await parts.turns.take(caller, signal);
    try {
      const sent = await run(parts, caller, asked, response, { signal, refusalOf });
      entry.format = sent.format;
      entry.bytes = sent.bytes;
      entry.code = sent.failure?.code ?? 0;
      entry.error = sent.failure?.message ?? '';
    } finally {
      give();
    }
  } catch (error) {
    const refusal = refusalOf(error);
    entry.code = refusal.code;
    entry.error = refusal.message;
    throw refusal;
  } finally {
    statementLog.add(projectId, { ...entry, durationMs: Math.round(performance.now() - startMs) });
  }
}

async function run(
  { groups }: Parts,
  { projectId }: Asker,
  asked: StatementAsked,
  response: ServerResponse,
  ends: { signal: AbortSignal; refusalOf: (error: unknown) => StatementRefusal },
): Promise<{ bytes: number; failure?: StatementRefusal; format: string }> {
  const statements = groups.ofProject(projectId);
  if (isHello(asked)) {
    const block = helloBlock(await statements.version(ends.signal));
    const bytes = asked.packs ? packedBlock(block) : block;
    response.writeHead(200, {
      'Content-Type': 'application/octet-stream',
      'X-ClickHouse-Format': 'Native',
    });
    response.end(bytes);
    return { bytes: bytes.length, format: 'Native' };
  }
  const judged = await statements.judge(projectId, asked, ends.signal);
  const { format, contentType } = judged;
  const rows = statements.run(judged, ends.signal);
  const form = { format, contentType, gzips: asked.gzips, packs: asked.packs };
  const sent = await sendRows(response, rows, form, ends.signal, ends.refusalOf);
  return { ...sent, format };
}
