// SharedDashboardsService.Render: shows a dashboard to whoever has a share's token, and its password where it has one.
// Unknown, revoked and expired tokens are answered alike. What strangers see of the tiles is shared-tiles.ts's.

import { create, toBinary } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import { createTokenBuckets } from '../../../platform/access/token-bucket.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { ShareRecord } from '../../../platform/dashboards/dashboard-list.ts';
import {
  type FoundShare,
  type ShareDirectory,
  shareStaleAfterMs,
} from '../../../platform/dashboards/share-directory.ts';
import type { WeekStartOf } from '../../../platform/zones/weeks.ts';
import type { Annotation } from '../../../proto/gen/dashboard/annotations/v1/annotations_pb.js';
import {
  type RenderRequest as BoardRequest,
  RenderRequestSchema as BoardRequestSchema,
  type RenderResponse as BoardResponse,
} from '../../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  type RenderRequest,
  type RenderResponse,
  RenderResponseSchema,
} from '../../../proto/gen/public/dashboards/v1/shared_dashboards_pb.js';
import { KeptRenders, type Rendered } from './kept-renders.ts';
import { type CheckPassword, createSharePasswords, refuseAfter } from './share-passwords.ts';
import { sharedAnnotations, sharedTiles } from './shared-tiles.ts';

interface SharedDeps {
  /** The time zone of a project's reports. */
  timezoneOf: (projectId: string) => string;
  weekStartOf: WeekStartOf;
  shares: ShareDirectory;
  checkPassword: CheckPassword;
  /** The network of the caller's address. */
  networkOf: (context: HandlerContext) => string | undefined;
  /** The whole dashboard with its answers; undefined where it is gone. It has its own deadline. */
  render: (projectId: string, request: BoardRequest) => Promise<BoardResponse | undefined>;
  /** Of a project; without them none is shown. */
  annotationsOf?: (projectId: string) => readonly Annotation[];
  clock: Clock;
}

const keepMs = 60_000;
/** Where a tile failed for a reason that may pass. */
const keepFailedMs = 5_000;
/** In binary; as messages they take some eight times as much. Room for the largest rendering. */
const maxKeptBytes = 12 * 1_048_576;
/** Calls from one network: so many at once, then so many each second; each 64 KiB of an answer count as one more. */
const callsAtOnce = 300;
const callsPerSecond = 5;
const bytesOfCall = 65_536;
const lasting = new Set(['invalid_argument', 'not_found', 'failed_precondition']);

/** An answer with its length in binary. */
interface Shown {
  response: RenderResponse;
  bytes: number;
}

export type RenderShared = (
  request: RenderRequest,
  context: HandlerContext,
) => Promise<RenderResponse>;

export function createRenderShared(deps: SharedDeps): RenderShared {
  const { shares, clock } = deps;
  const kept = new KeptRenders<Shown>(clock, maxKeptBytes);
  const isRight = createSharePasswords(deps);
  const calls = createTokenBuckets({ perSecond: callsPerSecond, burst: callsAtOnce, clock });
  return async ({ token, password, countBots }, context) => {
    const from = deps.networkOf(context) ?? '';
    refuseAfter(calls.take(from, 1), 'too many calls, try again later');
    const found = findShare(shares, token, clock);
    await requirePassword(isRight, found.share, password, deps.networkOf(context));
    // What is taken from a dashboard is not shown again, nor the days and weeks of another zone or beginning.
    const calendar = `${deps.timezoneOf(found.projectId)} ${deps.weekStartOf(found.projectId)}`;
    const key = `${found.share.id} ${found.revision} ${countBots} ${calendar}`;
    const answer = kept.get(key, () => renderShare(deps, found, !countBots));
    const { response, bytes } = await unlessGone(answer, context.signal);
    calls.charge(from, Math.floor(bytes / bytesOfCall));
    // It may have ended while this call waited.
    findShare(shares, token, clock);
    context.responseHeader.set('cache-control', 'private, no-store');
    return response;
  };
}

function findShare(shares: ShareDirectory, token: string, clock: Clock): FoundShare {
  if (shares.unconfirmedMs() > shareStaleAfterMs) {
    throw new ConnectError('the share cannot be checked now', Code.Unavailable);
  }
  const found = shares.find(token);
  const endMs = found?.share.expireTimeMs ?? Number.POSITIVE_INFINITY;
  if (found === undefined || clock.nowMs() >= endMs) throw noSuchShare();
  return found;
}

async function requirePassword(
  isRight: ReturnType<typeof createSharePasswords>,
  { id, passwordHash }: ShareRecord,
  password: string,
  from: string | undefined,
): Promise<void> {
  if (passwordHash === undefined) return;
  if (password === '') throw wrong();
  if (!(await isRight({ shareId: id, stored: passwordHash, password, from }))) throw wrong();
}

async function renderShare(
  { render, clock, annotationsOf = () => [] }: SharedDeps,
  { projectId, share }: FoundShare,
  leaveOutBots: boolean,
): Promise<Rendered<Shown>> {
  const request = create(BoardRequestSchema, { id: share.dashboardId, leaveOutBots });
  const board = await render(projectId, request);
  const { dashboard, time } = board ?? {};
  if (board === undefined || dashboard === undefined) throw noSuchShare();
  const { displayName, description } = dashboard;
  const response = create(RenderResponseSchema, {
    displayName,
    description,
    ...(time !== undefined && { time }),
    tiles: sharedTiles(board),
    hasBots: board.hasBots ?? false,
    annotations: sharedAnnotations(board, annotationsOf(projectId)),
    renderTime: timestampFromMs(clock.nowMs()),
  });
  const mayPass = board.results.some(
    ({ outcome }) => outcome.case === 'error' && !lasting.has(outcome.value.code),
  );
  const bytes = toBinary(RenderResponseSchema, response).length;
  return { value: { response, bytes }, bytes, keepMs: mayPass ? keepFailedMs : keepMs };
}

/** A rendering goes on for the others when one who waits for it leaves. */
function unlessGone<T>(answer: Promise<T>, signal: AbortSignal): Promise<T> {
  return new Promise((resolve, reject) => {
    const leave = (): void => reject(new ConnectError('gone', Code.Canceled));
    signal.addEventListener('abort', leave, { once: true });
    answer.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}

function noSuchShare(): ConnectError {
  return new ConnectError('there is no such share, or not any more', Code.NotFound);
}

function wrong(): ConnectError {
  return new ConnectError('the password is missing or wrong', Code.Unauthenticated);
}
