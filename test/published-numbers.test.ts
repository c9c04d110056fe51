// Clients that others publish speak binary protobuf to these messages: their fields keep these numbers, whatever is
// added from 20 on.

import type { DescMessage } from '@bufbuild/protobuf';
import { expect, it } from 'vitest';
import * as schema from '../proto/gen/common/v1/filter_schema_pb.js';
import * as activity from '../proto/gen/shared/activity/v1/activity_pb.js';
import * as insights from '../proto/gen/shared/insights/v1/insights_pb.js';

const feedRequest =
  'distinct_id 1 string, session_id 2 string, time_range 3 message, property_filters 4 list, page_size 5 int32, page_token 6 string, events 7 list';
const feedResponse = 'events 1 list, next_page_token 2 string';
const seen = 'name 1 string, count 2 uint64, last_seen_at 3 message';

const published: [DescMessage, string][] = [
  [schema.GetFilterSchemaRequestSchema, 'event_kind 1 string, allowed_types 2 list'],
  [
    schema.GetFilterSchemaResponseSchema,
    'events 1 list, auto_property_keys 2 list, custom_property_keys 3 list, profile_property_keys 4 list',
  ],
  [schema.SeenEventSchema, seen],
  [schema.SeenPropertyKeySchema, `${seen}, value_type 4 enum`],
  [
    schema.GetPropertyValuesRequestSchema,
    'property_key 1 string, source 2 enum, event_kind 3 string',
  ],
  [schema.GetPropertyValuesResponseSchema, 'values 1 list'],
  [activity.GetActivityFeedRequestSchema, feedRequest],
  [activity.GetActivityFeedResponseSchema, feedResponse],
  [activity.GetEventExplorerRequestSchema, feedRequest],
  [activity.GetEventExplorerResponseSchema, feedResponse],
  [
    activity.FeedEventSchema,
    'event_id 1 string, kind 2 string, distinct_id 3 string, occur_time 4 message, session_id 5 string, auto_properties 6 message, custom_properties 7 message',
  ],
  [activity.GetActivityHeatmapRequestSchema, 'distinct_id 1 string, time_range 2 message'],
  [activity.GetActivityHeatmapResponseSchema, 'days 1 list'],
  [activity.ActivityDaySchema, 'date 1 string, count 2 int64'],
  [activity.GetProfileStatsRequestSchema, 'distinct_id 1 string'],
  [activity.GetProfileStatsResponseSchema, 'stats 1 message, heatmap 2 list, properties 3 message'],
  [
    activity.ProfileStatsSchema,
    'first_seen 1 message, last_seen 2 message, total_events 3 int64, browser 4 string, browser_version 5 string, os 6 string, os_version 7 string, device 8 string, country 9 string, city 10 string',
  ],
  [
    insights.SegmentUsersRequestSchema,
    'time_range 1 message, events 2 list, page_size 4 int32, page_token 5 string, filter_groups 6 list, filter_groups_operator 7 enum',
  ],
  [insights.SegmentUsersResponseSchema, 'distinct_ids 1 list, next_page_token 2 string'],
];

const scalars: Readonly<Record<number, string>> = {
  3: 'int64',
  4: 'uint64',
  5: 'int32',
  9: 'string',
};

it.each(published)('%s has the published numbers', ({ fields }, numbers) => {
  const found = fields
    .filter(({ number }) => number < 20)
    .map((field) => {
      const type = field.fieldKind === 'scalar' ? scalars[field.scalar] : field.fieldKind;
      return `${field.name} ${field.number} ${type}`;
    });
  expect(found.join(', ')).toBe(numbers);
});

it('the types of values have the published numbers', () => {
  const names = ['STRING', 'INTEGER', 'FLOAT', 'BOOLEAN', 'DATETIME', 'OTHER'];
  const { values } = schema.PropertyValueTypeSchema;
  expect(values.map(({ localName, number }) => [localName, number]).slice(1)).toEqual(
    names.map((name, index) => [name, index + 1]),
  );
});
