// What an agent may ask: each tool is one read of the service, with the caller's own credential and its limits.

import type { DescMethodStreaming, DescMethodUnary, JsonObject } from '@bufbuild/protobuf';
import { DashboardsService } from '../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { ActivityService } from '../proto/gen/shared/activity/v1/activity_pb.js';
import { InsightsService } from '../proto/gen/shared/insights/v1/insights_pb.js';
import { ProfilesService } from '../proto/gen/shared/profiles/v1/profiles_pb.js';

/** A method with one answer, or one whose first message is a page. */
export type ToolMethod = DescMethodUnary | DescMethodStreaming;

export interface Tool {
  name: string;
  title: string;
  /** For the agent: what it answers, and what to ask before. */
  description: string;
  method: ToolMethod;
  /** Members of the request that the tool sets, whatever is asked. */
  fixed?: JsonObject;
  /** Members of the answer that the tool leaves out. */
  without?: readonly string[];
  /** What to ask less of where the answer is too long. */
  narrowBy: string;
}

const { query } = InsightsService.method;
/** The members that hold what a question found: the answer's alternatives, and the answer of the period before. */
const results = [
  ...query.output.oneofs.flatMap(({ fields }) => fields.map(({ jsonName }) => jsonName)),
  query.output.field.previous.jsonName,
];

const membersOnly = 'Needs a member’s token, as boards are of people: a private key is refused.';

export const tools: readonly Tool[] = [
  {
    name: 'describe_schema',
    title: 'What is stored',
    description:
      'The kinds of events and the names and types of properties that the project has stored, with how often each ' +
      'was seen. Ask this first: names in other tools must be these.',
    method: InsightsService.method.getFilterSchema,
    narrowBy: 'eventKind',
  },
  {
    name: 'property_values',
    title: 'Values of a property',
    description: 'The values of one property, the most frequent first.',
    method: InsightsService.method.getPropertyValues,
    narrowBy: 'eventKind',
  },
  {
    name: 'query_insight',
    title: 'Ask a question about events',
    description:
      'Answers a question exactly: trends, one number, funnels, retention, ways, the greatest groups, lifecycle, ' +
      'stickiness, revenue. completeUntil says up to when the answer knows everything, leftOut what it does not count, ' +
      'incompleteFrom which buckets are not over: tell these with a number.',
    method: query,
    narrowBy: 'timeRange, granularity, breakdowns or breakdownLimit',
  },
  {
    name: 'explain_number',
    title: 'Where a number comes from',
    description:
      'For the same question as query_insight: which tables served each part and why others did not, what was left ' +
      'out and why, and up to when it is complete. It answers no figures.',
    method: query,
    fixed: { explain: true },
    without: results,
    narrowBy: 'spec',
  },
  {
    name: 'list_events',
    title: 'Events one by one',
    description:
      'Stored events with all their properties, newest first, a page at a time. To count, ask query_insight.',
    method: ActivityService.method.list,
    narrowBy: 'pageSize, kinds, filters or timeRange',
  },
  {
    name: 'find_profiles',
    title: 'Profiles by their traits',
    description:
      'A page of at most 100 profiles that meet filters, with their traits and activity.',
    method: ProfilesService.method.list,
    narrowBy: 'filterGroups',
  },
  {
    name: 'get_profile',
    title: 'One profile',
    description: 'The profile of an external id: traits, what was merged into it, activity.',
    method: ProfilesService.method.getByExternalId,
    narrowBy: 'nothing: a profile has a bound',
  },
  {
    name: 'list_boards',
    title: 'Boards',
    description: `The project’s boards with their ids. ${membersOnly}`,
    method: DashboardsService.method.list,
    narrowBy: 'nothing: ask for one board',
  },
  {
    name: 'render_board',
    title: 'A board with its figures',
    description: `All tiles of a board with their answers. ${membersOnly}`,
    method: DashboardsService.method.render,
    narrowBy: 'timeRange or granularity',
  },
  {
    name: 'ingest_health',
    title: 'What came in and what did not',
    description:
      'Refused events by rule and hour, and dead letters, without their values. Ask this where events are missing.',
    method: ActivityService.method.ingestHealth,
    narrowBy: 'pageSize',
  },
];
