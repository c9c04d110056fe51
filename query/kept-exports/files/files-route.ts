// GET and HEAD /exports/{id}/{name} on the port: a file of a kept export, or a range of its bytes, with the rights of
// ExportsService.Get. A download ends with its credential, and where its reader takes nothing.

import { once } from 'node:events';
import type { FileHandle } from 'node:fs/promises';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Authenticate } from '../../../platform/access/authenticate.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { ExportFiles } from '../../../platform/exports/export-files.ts';
import type { PartRecord } from '../../../platform/exports/export-record.ts';
import type { NodeHttpRoute } from '../../../platform/http/http.ts';
import type { Log } from '../../../platform/log.ts';
import { requireAccess } from '../../export/export-access.ts';
import { refuse } from '../../export/export-answer.ts';
import { OpenStreams } from '../../open-streams.ts';
import { systemTimer } from '../../timer.ts';
import { isPast } from '../export-view.ts';
import type { FindExport } from '../find-export.ts';
import { askedBytes } from './byte-range.ts';
import { manifestFile } from './manifest.ts';

export interface FilesRouteOptions {
  find: FindExport;
  files: Pick<ExportFiles, 'open'>;
  directoryId: string;
  authenticate: Authenticate;
  ownerOf?: (projectId: string) => string;
  clock: Clock;
  log: Log;
}

const getMethod = 'shared.exports.v1.ExportsService/Get';
const pathPattern = /^\/exports\/([0-9a-f-]{36})\/([a-z0-9.-]{1,64})$/;
/** A download has a file open and a piece of it in memory. A program may fetch several parts at once. */
const bounds = { open: 64, openOfOwner: 32, openOfProject: 16, kept: 8, stallMs: 30_000 };
const pieceBytes = 262_144;
const contentTypes: ReadonlyMap<string, string> = new Map([
  ['parquet', 'application/vnd.apache.parquet'],
  ['arrows', 'application/vnd.apache.arrow.stream'],
  ['ndjson', 'application/x-ndjson'],
  ['csv', 'text/csv; charset=utf-8; header=present'],
  ['gz', 'application/gzip'],
  ['json', 'application/json'],
]);

export function createFilesRoute(options: FilesRouteOptions): NodeHttpRoute {
  const running = new OpenStreams(bounds, systemTimer, options.ownerOf, 'downloads');
  return (request, response, { path, query }, bodies) => {
    const [, id, name] = pathPattern.exec(path) ?? [];
    if (id === undefined || name === undefined) return false;
    bodies.answerUnread(request);
    void serve({ ...options, running }, { request, response, query, id, name });
    return true;
  };
}

interface Asking {
  request: IncomingMessage;
  response: ServerResponse;
  query: string;
  id: string;
  name: string;
}

type Serving = FilesRouteOptions & { running: OpenStreams };

/** Never rejects. */
async function serve(options: Serving, asking: Asking): Promise<void> {
  const { request, response } = asking;
  const gone = new AbortController();
  // A reader that leaves is no failure.
  response.on('error', () => {});
  response.once('close', () => gone.abort());
  try {
    if (request.method !== 'GET' && request.method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD');
      throw new ConnectError('this path takes GET and HEAD', Code.Unimplemented);
    }
    await answer(options, asking, gone.signal);
  } catch (cause) {
    const error =
      cause instanceof ConnectError ? cause : new ConnectError('the file cannot be read');
    if (!(cause instanceof ConnectError) && !gone.signal.aborted) {
      options.log.warn({ err: cause, exportId: asking.id }, 'a file of an export is not sent');
    }
    if (response.headersSent) response.destroy(error);
    else refuse(response, error);
  } finally {
    gone.abort();
  }
}

async function answer(options: Serving, asking: Asking, gone: AbortSignal): Promise<void> {
  const { request, response, query, id, name } = asking;
  const access = await requireAccess(options.authenticate, request, query, getMethod);
  const { projectId, credentialEnd } = access;
  const part = await partOf(options, projectId, id, name);
  const etag = `"${part.sha256}"`;
  const asked = askedBytes(request.headers, etag, part.bytes);
  const headers = headersOf(part, etag);
  switch (asked.kind) {
    case 'unchanged':
      response.writeHead(304, headers).end();
      return;
    case 'other':
      refuse(response, new ConnectError('the ETag is another one', Code.FailedPrecondition), 412);
      return;
    case 'outside':
      response.setHeader('content-range', `bytes */${part.bytes}`);
      refuse(response, new ConnectError(`the file has ${part.bytes} bytes`, Code.OutOfRange), 416);
      return;
    case 'whole':
    case 'part':
      break;
    default:
      asked satisfies never;
  }
  const { start, end } = asked.kind === 'part' ? asked : { start: 0, end: part.bytes - 1 };
  const status = asked.kind === 'part' ? 206 : 200;
  const head = {
    ...headers,
    'content-length': String(end - start + 1),
    ...(status === 206 && { 'content-range': `bytes ${start}-${end}/${part.bytes}` }),
  };
  const file = await options.files.open(projectId, id, name);
  if (file === undefined) throw gonePart();
  try {
    if (request.method === 'HEAD') {
      response.writeHead(status, head).end();
      return;
    }
    const pieces = piecesOf(file, start, end);
    const watched = options.running.watch(projectId, gone, pieces, credentialEnd);
    response.writeHead(status, head);
    for await (const piece of watched) {
      if (!response.write(piece)) await once(response, 'drain', { signal: gone });
    }
    response.end();
  } finally {
    await file.close();
  }
}

async function partOf(
  { find, directoryId, clock }: Serving,
  projectId: string,
  id: string,
  name: string,
): Promise<PartRecord> {
  const { record } = await find(projectId, id);
  const known =
    name === manifestFile ? record.manifest : record.parts.find((part) => part.name === name);
  const isThere = record.state === 'ready' || record.state === 'running';
  if (known === undefined || !isThere || isPast(record, clock.nowMs())) throw gonePart();
  if (record.directoryId === directoryId) return known;
  throw new ConnectError('the files are on another machine of this instance', Code.Unavailable);
}

function gonePart(): ConnectError {
  return new ConnectError('the export has no such file, or has it no more', Code.NotFound);
}

function headersOf({ name }: PartRecord, etag: string): Record<string, string> {
  const extension = name.slice(name.lastIndexOf('.') + 1);
  return {
    'content-type': contentTypes.get(extension) ?? 'application/octet-stream',
    'content-disposition': `attachment; filename="${name}"`,
    etag,
    'accept-ranges': 'bytes',
    // A file never changes, and who may have it does.
    'cache-control': 'private, no-cache',
    'x-content-type-options': 'nosniff',
  };
}

async function* piecesOf(file: FileHandle, start: number, end: number): AsyncGenerator<Buffer> {
  for (let at = start; at <= end; ) {
    const length = Math.min(pieceBytes, end - at + 1);
    const piece = Buffer.allocUnsafe(length);
    const { bytesRead } = await file.read(piece, 0, length, at);
    // The head has said how many there are.
    if (bytesRead === 0) throw new Error('a file of an export is shorter than its record says');
    yield piece.subarray(0, bytesRead);
    at += bytesRead;
  }
}
