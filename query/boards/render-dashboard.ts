// DashboardsService.Render: a saved or built-in dashboard with the answers of its tiles, for its own time and filters
// or for others that the request names.

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { Clock } from '../../platform/clock.ts';
import type { ReadDashboard } from '../../platform/dashboards/dashboard-reader.ts';
import { invalidArgument } from '../../platform/http/answers/invalid-argument.ts';
import type { WeekStartOf } from '../../platform/zones/weeks.ts';
import {
  type RenderRequest,
  type RenderResponse,
  RenderResponseSchema,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { checkSegments } from '../filters/segment-filter.ts';
import { type AnswerDeps, answerTiles } from './answer-tiles.ts';
import { boardTime, timeMessage } from './board-time.ts';
import { filtersSayOfBots } from './bots.ts';
import { checkFilters } from './check-question.ts';
import { withSegments } from './question.ts';

export interface RenderDeps extends AnswerDeps {
  readDashboard: ReadDashboard;
  /** The time zone of a project's reports. */
  timezoneOf: (projectId: string) => string;
  weekStartOf: WeekStartOf;
  /** Whether a project has events of bots. */
  hasBots: (projectId: string) => Promise<boolean>;
  clock: Clock;
}

/** Throws not_found where there is no such dashboard, and invalid_argument for a time or filters that cannot be. */
export async function renderDashboard(
  deps: RenderDeps,
  projectId: string,
  request: RenderRequest,
): Promise<RenderResponse> {
  const { id } = request;
  if (id === '') throw invalidArgument('id', 'is required');
  // Else each tile would name a field that the caller has not sent.
  if (request.filters !== undefined) checkFilters(request.filters);
  checkSegments(request);
  const dashboard = await deps.readDashboard(projectId, id);
  if (dashboard === undefined) {
    throw new ConnectError('the project has no such dashboard', Code.NotFound);
  }
  const timezone = request.timezone ?? dashboard.timezone;
  const time = boardTime(
    {
      timeRange: request.timeRange ?? dashboard.timeRange,
      granularity: request.granularity ?? dashboard.granularity,
      timezone: timezone === '' ? deps.timezoneOf(projectId) : timezone,
      weekStart: deps.weekStartOf(projectId),
    },
    deps.clock.nowMs(),
  );
  const { leaveOutBots } = request;
  const filters = withSegments(request.filters ?? dashboard.filters, request);
  const isSaid = filtersSayOfBots(filters);
  const hasBots =
    leaveOutBots === undefined ? undefined : !isSaid && (await deps.hasBots(projectId));
  const results = await answerTiles(deps, {
    projectId,
    tiles: dashboard.tiles,
    filters,
    includeCookieless: request.includeCookieless ?? dashboard.includeCookieless,
    leavesOutBots: leaveOutBots === true && hasBots === true,
    time,
  });
  return create(RenderResponseSchema, {
    ...{ dashboard, time: timeMessage(time), results },
    ...(hasBots !== undefined && { hasBots }),
  });
}
