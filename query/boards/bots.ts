// Bots in the questions of a dashboard: left out where they were asked to be, besides what a question says itself.

import { create } from '@bufbuild/protobuf';
import {
  FilterOperator,
  PropertyFilterSchema,
  PropertySource,
} from '../../proto/gen/common/v1/filter_pb.js';
import {
  type DashboardFilters,
  DashboardFiltersSchema,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import type { InsightQuerySpec } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { eventFiltersOf, groupPropertiesOf } from '../insights/read/event-filters.ts';
import { botProperty as property } from '../schema/seen-visitors.ts';

export function filtersOfPeople(): DashboardFilters {
  const operator = FilterOperator.NOT_EQUALS;
  const filter = create(PropertyFilterSchema, {
    ...{ property, operator, value: 'true', source: PropertySource.AUTO },
  });
  return create(DashboardFiltersSchema, { filterGroups: [{ filters: [filter] }] });
}

/** Whether filters say which are meant: then each question is asked as it is. */
export function filtersSayOfBots(filters: DashboardFilters | undefined): boolean {
  const all = filters?.filterGroups.flatMap((group) => group.filters) ?? [];
  return all.some((one) => one.property === property);
}

/** Whether a question compares or groups by $bot: it is asked as it is. */
export function saysOfBots(spec: InsightQuerySpec): boolean {
  const chosen = eventFiltersOf(spec).map(({ event }) => event);
  const filters = [...spec.filterGroups, ...chosen].flatMap((part) => part?.filters ?? []);
  return [...filters, ...groupPropertiesOf(spec)].some((one) => one.property === property);
}
