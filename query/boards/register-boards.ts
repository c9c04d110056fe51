// The two methods that render dashboards: DashboardsService.Render for members, SharedDashboardsService.Render for
// whoever has a link. DashboardsService's other methods are control's. Also what the service renders by itself.

import type { DescMethod } from '@bufbuild/protobuf';
import { Code, ConnectError, type ConnectRouter, type HandlerContext } from '@connectrpc/connect';
import type { Clock } from '../../platform/clock.ts';
import type { ReadDashboard } from '../../platform/dashboards/dashboard-reader.ts';
import type { ShareDirectory } from '../../platform/dashboards/share-directory.ts';
import type { RenderPeriod } from '../../platform/reports/rendered-period.ts';
import type { WeekStartOf } from '../../platform/zones/weeks.ts';
import type { Annotation } from '../../proto/gen/dashboard/annotations/v1/annotations_pb.js';
import {
  DashboardsService,
  type RenderRequest,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { SharedDashboardsService } from '../../proto/gen/public/dashboards/v1/shared_dashboards_pb.js';
import { type Deadline, startDeadline } from '../deadline.ts';
import type { RunQuestion } from '../insights/query-insight.ts';
import { answerOptions, type JsonStandIns } from '../json-codec.ts';
import { type FailureParts, readFailure } from '../read-failure.ts';
import type { RunStatement } from './answer-tiles.ts';
import { renderDashboard } from './render-dashboard.ts';
import { renderPeriod } from './render-period.ts';
import { createRenderShared } from './shared/render-shared.ts';
import type { CheckPassword } from './shared/share-passwords.ts';

/** What dashboards need besides the store. */
export interface BoardOptions {
  readDashboard: ReadDashboard;
  shares: ShareDirectory;
  checkPassword: CheckPassword;
  networkOf: (context: HandlerContext) => string | undefined;
  /** The annotations of a project, for shared dashboards; without them none is shown. */
  annotationsOf?: (projectId: string) => readonly Annotation[];
  /** Without it no statement is shown. */
  runStatement?: RunStatement;
  /** The time limit of one rendering; a minute unless given. */
  maxRenderMs?: number;
}

interface Call {
  projectId: string;
  standIns: JsonStandIns | undefined;
  /** Told how many characters were read. */
  count(characters: number): void;
  /** Told the milliseconds that each statement was at the engine. */
  spend(engineMs: number): void;
  /** Takes the price of what was read from the key's limit. */
  charge(): void;
}

interface BoardDeps extends BoardOptions, Pick<FailureParts, 'log'> {
  /** Whether the statements of the project's store hardly get the processor. */
  isStarved: (projectId: string) => boolean;
  /** The time zone of a project's reports. */
  timezoneOf: (projectId: string) => string;
  weekStartOf: WeekStartOf;
  runQuestion: RunQuestion;
  /** Whether a project has events of bots. */
  hasBots: (projectId: string, deadline: Deadline) => Promise<boolean>;
  clock: Clock;
  /** Takes one read of the caller's key; throws resource_exhausted where the key reads too often. */
  startCall: (context: HandlerContext) => Call;
}

type MethodContext = Pick<HandlerContext, 'signal' | 'method' | 'timeoutMs'>;

/** Each statement has half of it; where dozens of boards are rendered at once, the rest is waiting. */
export const defaultMaxRenderMs = 60_000;

/** Returns how the service renders a dashboard by itself. */
export function registerBoards(router: ConnectRouter, deps: BoardDeps): RenderPeriod {
  const { clock, readDashboard, timezoneOf, weekStartOf, runQuestion: run } = deps;
  const maxRenderMs = deps.maxRenderMs ?? defaultMaxRenderMs;
  const partsOf = (
    { projectId, standIns, count, spend }: Omit<Call, 'charge'>,
    context: MethodContext,
  ) => {
    const deadline = startDeadline(context, maxRenderMs);
    const call = { deadline, standIns, onRead: count, spend };
    const isStarved = (): boolean => deps.isStarved(projectId);
    const failureOf = (cause: unknown, signal: AbortSignal) =>
      readFailure(cause, context, { ...deadline, signal }, { isStarved, log: deps.log });
    const hasBots = (id: string) => deps.hasBots(id, deadline);
    const own = { readDashboard, timezoneOf, weekStartOf, hasBots };
    const { runStatement } = deps;
    return { ...own, clock, run, runStatement, call, failureOf };
  };
  const { render } = DashboardsService.method;
  const renderForMember = async (request: RenderRequest, context: HandlerContext) => {
    const call = deps.startCall(context);
    try {
      return await renderDashboard(partsOf(call, context), call.projectId, request);
    } finally {
      call.charge();
    }
  };
  router.rpc(render, renderForMember, answerOptions);
  const { render: renderShared } = SharedDashboardsService.method;
  const shared = createRenderShared({
    ...deps,
    render: (projectId, request) => {
      const parts = partsOf(ownCall(projectId), nobodys(renderShared));
      // The rows of a statement may be persons: none runs for strangers.
      const forStrangers = { ...parts, runStatement: undefined };
      return renderDashboard(forStrangers, projectId, request).catch(goneIfNotFound);
    },
  });
  router.rpc(renderShared, shared);
  return (projectId, dashboardId, period) => {
    const parts = partsOf(ownCall(projectId), nobodys(render));
    return renderPeriod(parts, projectId, dashboardId, period);
  };
}

/** Nobody's key counts it. */
function ownCall(projectId: string): Omit<Call, 'charge'> {
  return { projectId, standIns: undefined, count: () => {}, spend: () => {} };
}

/** Several callers may wait for a rendering: none of them ends it, and none's time limit is its own. */
function nobodys(method: DescMethod): MethodContext {
  const { signal } = new AbortController();
  return { signal, method, timeoutMs: () => undefined };
}

function goneIfNotFound(error: unknown): undefined {
  if (error instanceof ConnectError && error.code === Code.NotFound) return undefined;
  throw error;
}
