// A board with its answers, and the words for its time.

import { createClient } from '@connectrpc/connect';
import {
  type Dashboard,
  DashboardsService,
  TimeRangePreset as Preset,
  type RenderResponse,
  type TileResult,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { InsightsService } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { inProject, transport } from '../client.ts';
import { areBotsCounted } from '../filter/bots.tsx';
import { segmentsOfAddress } from '../filter/known-segments.ts';
import { writeSegments } from '../filter/segment-names.ts';
import { boardTime } from '../question/board-time.ts';
import { type Resource, useResource } from '../resource.ts';
import { busySeconds } from '../retries/busy-tiles.ts';
import { address } from '../router.ts';
import { timeQuery } from '../time/kept-range.ts';
import { hasRange, useRange } from '../time/range.tsx';
import { currentZone, formatTime, toDate } from '../time/time.tsx';
import { learnClock } from '../time/zone.ts';

export const dashboards = createClient(DashboardsService, transport);
export const insights = createClient(InsightsService, transport);

/** The board for the address's range, else for its own, and for the people of the address's segments alone. */
export function useBoard(projectId: string, id: string): Resource<RenderResponse> {
  const range = useRange();
  const { query } = address.value;
  const leaveOutBots = !areBotsCounted();
  const segments = segmentsOfAddress();
  const which = `${JSON.stringify(timeQuery(query))} ${leaveOutBots}`;
  const key = `board ${projectId} ${id} ${which} ${writeSegments(segments)}`;
  const time = hasRange(query) ? { timeRange: boardTime(query, range) } : {};
  return useResource(
    key,
    async (end) => {
      const asked = { id, leaveOutBots, ...segments, ...time };
      const board = await dashboards.render(asked, inProject(projectId, end));
      // A board may have a zone of its own.
      if (board.time) learnClock(board.time.timezone, board.time.clock);
      return board;
    },
    busySeconds,
  );
}

export function resultOf(board: RenderResponse, tileId: string): TileResult | undefined {
  return board.results.find((result) => result.tileId === tileId);
}

const presetNames: Record<Preset, string> = {
  [Preset.UNSPECIFIED]: 'Last 30 days',
  [Preset.TODAY]: 'Today',
  [Preset.YESTERDAY]: 'Yesterday',
  [Preset.LAST_24_HOURS]: 'Last 24 hours',
  [Preset.LAST_7_DAYS]: 'Last 7 days',
  [Preset.LAST_30_DAYS]: 'Last 30 days',
  [Preset.LAST_90_DAYS]: 'Last 90 days',
  [Preset.LAST_12_MONTHS]: 'Last 12 months',
  [Preset.THIS_WEEK]: 'This week',
  [Preset.LAST_WEEK]: 'Last week',
  [Preset.THIS_MONTH]: 'This month',
  [Preset.LAST_MONTH]: 'Last month',
  [Preset.THIS_YEAR]: 'This year',
};

/** The board's own range in words. */
export function savedRangeName({ timeRange }: Dashboard, timezone: string | undefined): string {
  const range = timeRange?.range;
  if (range?.case !== 'fixed') return presetNames[range?.value ?? Preset.UNSPECIFIED];
  const { from, to } = range.value;
  if (!from || !to) return '';
  const zone = timezone || currentZone();
  const last = new Date(toDate(to).getTime() - 1);
  return `${formatTime(toDate(from), 'day', zone)} to ${formatTime(last, 'day', zone)}`;
}
