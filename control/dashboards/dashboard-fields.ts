// The rules of a dashboard's fields but its tiles: each is checked where it is given, and laid over what was before.
// Tiles are tile-fields.ts's.

import { create } from '@bufbuild/protobuf';
import type { Timestamp } from '@bufbuild/protobuf/wkt';
import { hasMoreCodePoints } from '../../platform/limits.ts';
import {
  type Dashboard,
  type DashboardFilters,
  DashboardSchema,
  type DashboardTimeRange,
  DashboardTimeRangeSchema,
  TimeRangePreset,
  TimeRangePresetSchema,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  type Granularity,
  GranularitySchema,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import {
  displayNameField,
  invalidArgument,
  momentField,
  timezoneField,
} from '../request-fields.ts';

const maxDescriptionCharacters = 2_000;

/** The fields that Create, Update and Upsert share; what is undefined was not given. */
export interface SentFields {
  displayName?: string | undefined;
  description?: string | undefined;
  timeRange?: DashboardTimeRange | undefined;
  granularity?: Granularity | undefined;
  timezone?: string | undefined;
  filters?: DashboardFilters | undefined;
  includeCookieless?: boolean | undefined;
}

/** A dashboard without a name, tiles and id: the values of fields that are not given. */
export function plainDashboard(): Dashboard {
  const preset = { case: 'preset', value: TimeRangePreset.LAST_30_DAYS } as const;
  return create(DashboardSchema, {
    timeRange: create(DashboardTimeRangeSchema, { range: preset }),
  });
}

/**
 * A copy of `before` with the given fields. Throws invalid_argument that names the field. Filters are checked with
 * the questions that they concern.
 */
export function withFields(before: Dashboard, sent: SentFields): Dashboard {
  const { displayName, description, timeRange, granularity, timezone } = sent;
  const { filters, includeCookieless } = sent;
  return {
    ...before,
    ...(displayName !== undefined && { displayName: displayNameField('displayName', displayName) }),
    ...(description !== undefined && { description: descriptionField(description) }),
    ...(timeRange !== undefined && { timeRange: timeRangeField(timeRange) }),
    ...(granularity !== undefined && { granularity: granularityField(granularity) }),
    ...(timezone !== undefined && { timezone: timezone && timezoneField('timezone', timezone) }),
    ...(filters !== undefined && { filters }),
    ...(includeCookieless !== undefined && { includeCookieless }),
  };
}

function descriptionField(text: string): string {
  if (hasMoreCodePoints(text, maxDescriptionCharacters)) {
    const rule = `must have at most ${maxDescriptionCharacters} characters`;
    throw invalidArgument('description', rule);
  }
  return text;
}

function granularityField(granularity: Granularity): Granularity {
  if (GranularitySchema.value[granularity] !== undefined) return granularity;
  throw invalidArgument('granularity', 'is not one that is known');
}

function timeRangeField(sent: DashboardTimeRange): DashboardTimeRange {
  const { range } = sent;
  switch (range.case) {
    case 'preset':
      if (range.value !== TimeRangePreset.UNSPECIFIED && TimeRangePresetSchema.value[range.value])
        return sent;
      throw invalidArgument('timeRange.preset', 'is not one that is known');
    case 'fixed': {
      const from = millisecondsOf(range.value.from, 'timeRange.fixed.from');
      const to = millisecondsOf(range.value.to, 'timeRange.fixed.to');
      if (from < to) return sent;
      throw invalidArgument('timeRange.fixed.to', 'must be after from');
    }
    case undefined:
      throw invalidArgument('timeRange', 'must have a preset or a fixed range');
    default:
      return range satisfies never;
  }
}

function millisecondsOf(time: Timestamp | undefined, field: string): number {
  if (time === undefined) throw invalidArgument(field, 'is required');
  return momentField(field, time);
}
