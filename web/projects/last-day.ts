// The last 24 hours of a project, hour by hour, and the moment of its last event.

import { timestampFromDate } from '@bufbuild/protobuf/wkt';
import { createClient } from '@connectrpc/connect';
import { ActivityService } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import {
  AggregationType,
  Granularity,
  InsightsService,
  InsightType,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { inProject, transport } from '../client.ts';

const insights = createClient(InsightsService, transport);
const activity = createClient(ActivityService, transport);

const hourMs = 3_600_000;

export async function loadLastDay(projectId: string, end: AbortSignal) {
  const now = Math.ceil(Date.now() / hourMs) * hourMs;
  const [answer, newest] = await Promise.all([
    insights.query(
      {
        spec: {
          insightType: InsightType.TRENDS,
          events: [{ event: {}, aggregation: AggregationType.TOTAL }],
          includeCookieless: true,
        },
        granularity: Granularity.HOUR,
        timeRange: {
          from: timestampFromDate(new Date(now - 24 * hourMs)),
          to: timestampFromDate(new Date(now)),
        },
      },
      inProject(projectId, end),
    ),
    activity.list({ pageSize: 1 }, inProject(projectId, end)),
  ]);
  const points =
    answer.result.case === 'trends' ? (answer.result.value.series[0]?.points ?? []) : [];
  return { hours: points.map(({ value }) => value ?? 0), last: newest.events[0]?.occurTime };
}
