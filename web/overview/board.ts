// The answers of the built-in board for the address's range and filters, and the courses that it does not have.

import { create } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import { useMemo } from 'preact/hooks';
import {
  DashboardsService,
  type RenderedTime,
  type RenderResponse,
  type TileResult,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  type FilterGroup,
  FilterGroupSchema,
  type InsightQuerySpec,
  InsightsService,
  type QueryResponse,
  type TrendsResult,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { inProject, transport } from '../client.ts';
import { areBotsCounted } from '../filter/bots.tsx';
import { type Condition, toPropertyFilter, writeConditions } from '../filter/condition.ts';
import { segmentsOfAddress } from '../filter/known-segments.ts';
import { withSegments, writeSegments } from '../filter/segment-names.ts';
import { boardTime, timeKey } from '../question/board-time.ts';
import { type Resource, useResource } from '../resource.ts';
import { busySeconds } from '../retries/busy-tiles.ts';
import { address } from '../router.ts';
import { timeQuery } from '../time/kept-range.ts';
import { useRange } from '../time/range.tsx';
import { type Measure, measures } from './measures.ts';

const dashboards = createClient(DashboardsService, transport);
const insights = createClient(InsightsService, transport);

export function groupsOf(conditions: readonly Condition[]): FilterGroup[] {
  if (conditions.length === 0) return [];
  return [create(FilterGroupSchema, { filters: conditions.map(toPropertyFilter) })];
}

/** Names the question: the address's range and segments, and the page's conditions. */
export function questionKey(projectId: string, conditions: readonly Condition[]): string {
  const time = JSON.stringify(timeQuery(address.value.query));
  return `overview ${projectId} ${time} ${writeSegments(segmentsOfAddress())} ${writeConditions(conditions) ?? ''}`;
}

/** The service leaves out bots where there are any, and says whether: the page's first figures are one call away. */
export function useOverview(
  projectId: string,
  conditions: readonly Condition[],
  includeCookieless: boolean,
): Resource<RenderResponse> {
  const range = useRange();
  const { query } = address.value;
  const leaveOutBots = !areBotsCounted();
  const key = `${questionKey(projectId, conditions)} ${includeCookieless} ${leaveOutBots}`;
  const request = {
    ...{ id: 'overview', timeRange: boardTime(query, range), includeCookieless, leaveOutBots },
    filters: { filterGroups: groupsOf(conditions), ...segmentsOfAddress() },
  };
  return useResource(
    key,
    (end) => dashboards.render(request, inProject(projectId, end)),
    busySeconds,
  );
}

export function resultOf(board: RenderResponse, id: string): TileResult | undefined {
  return board.results.find(({ tileId }) => tileId === id);
}

export function answerOf(board: RenderResponse, id: string): QueryResponse | undefined {
  const outcome = resultOf(board, id)?.outcome;
  return outcome?.case === 'insight' ? outcome.value : undefined;
}

/** `labels`: of the buckets of `now`. */
export type Course = {
  now: TrendsResult;
  labels: readonly string[];
  before?: TrendsResult | undefined;
};

/**
 * The courses of all measures: those of the board at once, the others as soon as they are answered. While the board is
 * on its way its time is that of the question before, and nothing is asked.
 */
export function useCourses(
  projectId: string,
  conditions: readonly Condition[],
  { data: board, isLoading }: Resource<RenderResponse>,
): Resource<Map<string, Course>> {
  const time = isLoading ? undefined : board?.time;
  const segments = segmentsOfAddress();
  const key = time && `courses ${questionKey(projectId, conditions)} ${timeKey(time)}`;
  const asked = useResource(key, async (end) => {
    const courses = await Promise.all(
      measures
        .filter(({ inCourse }) => inCourse === undefined)
        .map(async ({ id, trend }) => {
          const spec = withSegments({ ...trend, filterGroups: groupsOf(conditions) }, segments);
          const ask = (which: 'range' | 'previous') => askTrend(projectId, spec, time, which, end);
          const [now, before] = await Promise.all([ask('range'), ask('previous')]);
          const course = { now: now.trends, labels: now.labels, before: before.trends };
          return [id, course] as const;
        }),
    );
    return new Map<string, Course>(courses);
  });
  // Kept, because a chart draws itself anew for each course that is another object.
  const data = useMemo(() => {
    const known = new Map(board && asked.data);
    if (board) for (const measure of measures) addOfBoard(known, board, measure);
    return known;
  }, [board, asked.data]);
  return { ...asked, data };
}

async function askTrend(
  projectId: string,
  spec: InsightQuerySpec,
  time: RenderedTime | undefined,
  which: 'range' | 'previous',
  end: AbortSignal,
): Promise<{ trends: TrendsResult; labels: readonly string[] }> {
  const { result, bucketLabels: labels } = await askQuestion(projectId, spec, time, end, which);
  if (result.case !== 'trends')
    throw new Error(`asked for trends, got ${result.case ?? 'nothing'}`);
  return { trends: result.value, labels };
}

/** The answer to a question over the board's range, or over the one before it. */
export function askQuestion(
  projectId: string,
  spec: InsightQuerySpec,
  time: RenderedTime | undefined,
  end: AbortSignal,
  which: 'range' | 'previous' = 'range',
): Promise<QueryResponse> {
  const timeRange = time?.[which];
  return insights.query(
    {
      spec,
      ...(timeRange ? { timeRange } : {}),
      granularity: time?.granularity ?? 0,
      timezone: time?.timezone ?? '',
      weekStart: time?.weekStart ?? 0,
    },
    inProject(projectId, end),
  );
}

function addOfBoard(
  known: Map<string, Course>,
  board: RenderResponse,
  { id, inCourse }: Measure,
): void {
  if (inCourse === undefined) return;
  const course = resultOf(board, 'course');
  if (course?.outcome.case !== 'insight') return;
  const { outcome, previous } = course;
  const now = only(outcome.value, inCourse);
  const before = previous && only(previous, inCourse);
  if (now) known.set(id, { now, labels: outcome.value.bucketLabels, before });
}

/** One series of trends, as if it had been asked for alone. */
function only({ result }: QueryResponse, index: number): TrendsResult | undefined {
  if (result.case !== 'trends') return undefined;
  const series = result.value.series
    .filter(({ eventIndex }) => eventIndex === index)
    .map((one) => ({ ...one, eventIndex: 0 }));
  return { ...result.value, series };
}
