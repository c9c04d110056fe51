// Clients that others publish speak binary protobuf to these messages: their fields keep these numbers, whatever is
// added from 20 on.

import type { DescField, DescMessage } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import * as schema from '../proto/gen/common/v1/filter_schema_pb.js';
import * as activity from '../proto/gen/shared/activity/v1/activity_pb.js';
import * as insights from '../proto/gen/shared/insights/v1/insights_pb.js';

const feedRequest =
  'distinct_id 1 string, session_id 2 string, time_range 3 TimeRange, property_filters 4 PropertyFilter[], page_size 5 int32, page_token 6 string, events 7 EventFilter[]';
const feedResponse = 'events 1 FeedEvent[], next_page_token 2 string';
const seen = 'name 1 string, count 2 uint64, last_seen_at 3 Timestamp';

const published: [DescMessage, string][] = [
  [schema.GetFilterSchemaRequestSchema, 'event_kind 1 string, allowed_types 2 PropertyValueType[]'],
  [
    schema.GetFilterSchemaResponseSchema,
    'events 1 SeenEvent[], auto_property_keys 2 SeenPropertyKey[], custom_property_keys 3 SeenPropertyKey[], profile_property_keys 4 SeenPropertyKey[]',
  ],
  [schema.SeenEventSchema, seen],
  [schema.SeenPropertyKeySchema, `${seen}, value_type 4 PropertyValueType`],
  [
    schema.GetPropertyValuesRequestSchema,
    'property_key 1 string, source 2 PropertySource, event_kind 3 string',
  ],
  [schema.GetPropertyValuesResponseSchema, 'values 1 string[]'],
  [activity.GetActivityFeedRequestSchema, feedRequest],
  [activity.GetActivityFeedResponseSchema, feedResponse],
  [activity.GetEventExplorerRequestSchema, feedRequest],
  [activity.GetEventExplorerResponseSchema, feedResponse],
  [
    activity.FeedEventSchema,
    'event_id 1 string, kind 2 string, distinct_id 3 string, occur_time 4 Timestamp, session_id 5 string, auto_properties 6 Struct, custom_properties 7 Struct',
  ],
  [activity.GetActivityHeatmapRequestSchema, 'distinct_id 1 string, time_range 2 TimeRange'],
  [activity.GetActivityHeatmapResponseSchema, 'days 1 ActivityDay[]'],
  [activity.ActivityDaySchema, 'date 1 string, count 2 int64'],
  [activity.GetProfileStatsRequestSchema, 'distinct_id 1 string'],
  [
    activity.GetProfileStatsResponseSchema,
    'stats 1 ProfileStats, heatmap 2 ActivityDay[], properties 3 Struct',
  ],
  [
    activity.ProfileStatsSchema,
    'first_seen 1 Timestamp, last_seen 2 Timestamp, total_events 3 int64, browser 4 string, browser_version 5 string, os 6 string, os_version 7 string, device 8 string, country 9 string, city 10 string',
  ],
  [
    insights.SegmentUsersRequestSchema,
    'time_range 1 TimeRange, events 2 EventQuery[], page_size 4 int32, page_token 5 string, filter_groups 6 FilterGroup[], filter_groups_operator 7 LogicalOperator',
  ],
  [
    insights.EventQuerySchema,
    'event 1 EventFilter, aggregation 2 AggregationType, aggregation_property 3 string',
  ],
  [insights.SegmentUsersResponseSchema, 'distinct_ids 1 string[], next_page_token 2 string'],
];

const scalars: Readonly<Record<number, string>> = {
  3: 'int64',
  4: 'uint64',
  5: 'int32',
  9: 'string',
};

function typeOf(field: DescField): string | undefined {
  const { message, enum: named, scalar } = field;
  const one = message?.name ?? named?.name ?? (scalar && scalars[scalar]);
  return field.fieldKind === 'list' ? `${one}[]` : one;
}

it.each(published)('%s has the published numbers', ({ fields }, numbers) => {
  const found = fields
    .filter(({ number }) => number < 20)
    .map((field) => `${field.name} ${field.number} ${typeOf(field)}`);
  expect(found.join(', ')).toBe(numbers);
});

it('the types of values have the published numbers', () => {
  const names = ['STRING', 'INTEGER', 'FLOAT', 'BOOLEAN', 'DATETIME', 'OTHER'];
  const { values } = schema.PropertyValueTypeSchema;
  expect(values.map(({ localName, number }) => [localName, number]).slice(1)).toEqual(
    names.map((name, index) => [name, index + 1]),
  );
});
