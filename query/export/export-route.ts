// GET /export on the port: access, the request, a place among the exports that run, the engine's bytes as they come.
// The answer begins with the first bytes, so that an early failure has its own status; a later one breaks the
// connection off, and no body looks whole that is not.

import type { IncomingMessage, ServerResponse } from 'node:http';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Authenticate } from '../../platform/access/authenticate.ts';
import type { Groups } from '../../platform/clickhouse/groups.ts';
import type { ResultReader, RowReader } from '../../platform/clickhouse/select-rows.ts';
import { systemClock } from '../../platform/clock.ts';
import type { NodeHttpRoute } from '../../platform/http/http.ts';
import type { Log } from '../../platform/log.ts';
import { withTimeLimit } from '../../platform/memory/time-limit.ts';
import type { RetainedFrom } from '../../platform/retained/retained-from.ts';
import { retainedReader } from '../../platform/retained/row-filters.ts';
import { exportsAtOnce } from '../calls/turn-bounds.ts';
import type { CompleteUntil } from '../insights/run/complete-until.ts';
import { readListed, type SegmentOptions } from '../insights/segments/listed-persons.ts';
import { OpenStreams } from '../open-streams.ts';
import { systemTimer } from '../timer.ts';
import { requireAccess } from './export-access.ts';
import { headersOf, refuse, send } from './export-answer.ts';
import { exportFailure } from './export-failure.ts';
import { exportFormats, gzipped, packsOnTheWay } from './export-format.ts';
import { type ExportAsked, readExport, segmentFields } from './export-request.ts';
import { maxExportMs, selectOf } from './export-select.ts';

/** Where segments of exports are found; without it there are none. */
export type ExportSegments = Partial<Pick<SegmentOptions, 'findSegment' | 'timezoneOf'>>;

export interface ExportOptions extends ExportSegments {
  clickhouse: Groups<RowReader & ResultReader>;
  authenticate: Authenticate;
  completeUntilMs: CompleteUntil;
  /** Before which moment a project has no events; never unless given. */
  retainedFrom?: RetainedFrom;
  /** Whose a project is: an owner has one export at a time. */
  ownerOf?: (projectId: string) => string;
  log: Log;
  /** Made unless given. */
  running?: OpenStreams;
}

const path = '/export';

/** A reader that takes nothing gives its place up. */
const bounds = { open: exportsAtOnce, openOfOwner: 1, openOfProject: 1, kept: 0, stallMs: 30_000 };

export function createExportRoute(options: ExportOptions): NodeHttpRoute {
  const running =
    options.running ?? new OpenStreams(bounds, systemTimer, options.ownerOf, 'exports');
  return (request, response, { path: asked, query }, bodies) => {
    if (asked !== path) return false;
    bodies.answerUnread(request);
    void serve({ ...options, running }, request, response, query);
    return true;
  };
}

/** Never rejects. */
async function serve(
  options: ExportOptions & { running: OpenStreams },
  request: IncomingMessage,
  response: ServerResponse,
  query: string,
): Promise<void> {
  const gone = new AbortController();
  // A reader that leaves is no failure.
  response.on('error', () => {});
  response.once('close', () => gone.abort());
  try {
    if (request.method !== 'GET') {
      response.setHeader('allow', 'GET');
      throw new ConnectError('this path takes GET', Code.Unimplemented);
    }
    await answer(options, request, response, query, gone.signal);
  } catch (cause) {
    const error = exportFailure(cause, gone.signal, options.log);
    if (response.headersSent) response.destroy(error);
    else refuse(response, error);
  } finally {
    gone.abort();
  }
}

async function answer(
  options: ExportOptions & { running: OpenStreams },
  request: IncomingMessage,
  response: ServerResponse,
  query: string,
  gone: AbortSignal,
): Promise<void> {
  const { clickhouse, completeUntilMs, running } = options;
  const { projectId, credentialEnd } = await requireAccess(options.authenticate, request, query);
  const asked = await withSegments(options, projectId, readExport(query));
  const retainedFromMs = options.retainedFrom?.(projectId);
  const group = retainedReader(clickhouse.ofProject(projectId), () => retainedFromMs);
  const ended = new AbortController();
  const signal = withTimeLimit(AbortSignal.any([gone, ended.signal]), maxExportMs);
  // Before the statement begins: whatever was accepted before this moment is among its rows.
  const completeMs = await completeUntilMs(projectId);
  const bytes = bytesOf(group, projectId, asked, signal);
  const watched = running.watch(projectId, signal, bytes, credentialEnd);
  try {
    const isPacked = packsOnTheWay(asked);
    await send(
      response,
      isPacked ? gzipped(watched) : watched,
      headersOf(asked, completeMs),
      signal,
    );
  } finally {
    // Ends the statement where the reader was stopped before its end.
    ended.abort();
  }
}

/** As they are when the export is asked for. Throws invalid_argument that names the parameter. */
async function withSegments(
  { findSegment = async () => undefined, timezoneOf = () => 'UTC' }: ExportSegments,
  projectId: string,
  asked: ExportAsked,
): Promise<ExportAsked> {
  const { filter } = asked;
  if (filter === undefined) return asked;
  const options = { findSegment, timezoneOf, clock: systemClock };
  return { ...asked, listed: await readListed(options, projectId, filter, segmentFields) };
}

/** The engine is asked nothing before the export has its place. */
async function* bytesOf(
  group: RowReader & ResultReader,
  projectId: string,
  asked: ExportAsked,
  signal: AbortSignal,
): AsyncGenerator<Buffer, void, undefined> {
  const select = await selectOf(group, projectId, asked, signal);
  yield* group.stream(select, exportFormats[asked.format].engine);
}
