// Bots in the questions of a dashboard: left out where they were asked to be, besides what a question says itself.

import { create } from '@bufbuild/protobuf';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
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
import type { Deadline } from '../deadline.ts';
import { createBindings } from '../filters/bindings.ts';
import { readRows } from '../read-rows.ts';

const property = '$bot';

/** Whether the project has events of bots. Throws the client's errors. */
export async function hasBots(
  clickhouse: RowReader,
  projectId: string,
  deadline: Deadline,
): Promise<boolean> {
  const bindings = createBindings();
  const sql = `SELECT 1 FROM property_keys
    WHERE project_id = ${bindings.bind('String', projectId)} AND property = '${property}' LIMIT 1`;
  const bounds = { deadline, maxRows: 1, maxCharacters: 1_024 };
  const result = await readRows(clickhouse, { sql, params: bindings.params }, bounds);
  return result.kind === 'rows' && result.rows.length > 0;
}

export function filtersOfPeople(): DashboardFilters {
  const operator = FilterOperator.NOT_EQUALS;
  const filter = create(PropertyFilterSchema, {
    ...{ property, operator, value: 'true', source: PropertySource.AUTO },
  });
  return create(DashboardFiltersSchema, { filterGroups: [{ filters: [filter] }] });
}

/** Whether a question compares or groups by $bot: it is asked as it is. */
export function saysOfBots({
  filterGroups,
  events,
  breakdowns,
  session,
  userFlow,
  topK,
}: Pick<
  InsightQuerySpec,
  'filterGroups' | 'events' | 'breakdowns' | 'session' | 'userFlow' | 'topK'
>): boolean {
  const scopes = [
    ...events.map(({ event }) => event),
    ...[session, userFlow, topK].map((part) => part?.scope),
  ];
  const filters = [...filterGroups, ...scopes].flatMap((part) => part?.filters ?? []);
  const grouped = topK === undefined ? breakdowns : [...breakdowns, topK];
  return [...filters, ...grouped].some((one) => one.property === property);
}
