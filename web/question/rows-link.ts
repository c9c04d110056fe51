// Where the rows are that a figure counts: the page of events, or of one person, with the same filter and range.

import {
  FilterOperator,
  LogicalOperator,
  PropertySource,
} from '../../proto/gen/common/v1/filter_pb.js';
import {
  Granularity,
  type InsightQuerySpec,
  InsightType,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import {
  botProperty,
  type Condition,
  fromPropertyFilter,
  writeConditions,
} from '../filter/condition.ts';
import {
  isEmpty,
  type SegmentFilter,
  segmentOf,
  withSegments,
  writeSegments,
} from '../filter/segment-names.ts';
import type { Rows } from '../results/shown.ts';

export type RowsOf = {
  projectId: string;
  spec: InsightQuerySpec;
  /** Conditions of the page besides those of the question. */
  conditions: readonly Condition[];
  /** `range`, `from` and `to` of the address. */
  time: Record<string, string>;
  granularity: Granularity;
};

/** undefined where no list can show them: alternatives between groups of filters, or kinds, are the insights' own. */
export function rowsHref(of: RowsOf, rows: Rows): string | undefined {
  const { spec, projectId } = of;
  if (rows.profileId) return `/p/${projectId}/profiles/${encodeURIComponent(rows.profileId)}`;
  const ofGroups = conditionsOf(spec);
  if (!ofGroups) return undefined;
  const scope =
    spec.session?.scope ??
    spec.topK?.scope ??
    spec.userFlow?.scope ??
    spec.events[rows.eventIndex ?? 0]?.event;
  if (scope !== undefined && scope.kinds.length > 0) return undefined;
  const segments = segmentsOf(spec, rows);
  const kind = rows.kind || scope?.kind || '';
  const conditions = [
    ...of.conditions,
    ...ofGroups,
    ...(scope?.filters ?? []).map(fromPropertyFilter),
    ...groupConditions(spec, rows),
    ...paymentConditions(spec, rows),
  ];
  const query = new URLSearchParams(rows.day ? bucketDays(of, rows.day) : of.time);
  if (kind) query.set('kind', kind);
  if (!isEmpty(segments)) query.set('segments', writeSegments(segments));
  const filter = writeConditions(conditions);
  if (filter) query.set('filters', filter);
  // The list leaves bots out by itself, and the figure does not.
  if (!conditions.some(({ property }) => property === botProperty)) query.set('bots', '1');
  const text = query.toString();
  return `/p/${projectId}/events${text ? `?${text}` : ''}`;
}

function conditionsOf({
  filterGroups,
  filterGroupsOperator,
}: InsightQuerySpec): Condition[] | undefined {
  const { OR } = LogicalOperator;
  if (filterGroups.length > 1 && filterGroupsOperator === OR) return undefined;
  if (filterGroups.some(({ operator, filters }) => operator === OR && filters.length > 1))
    return undefined;
  return filterGroups.flatMap(({ filters }) => filters.map(fromPropertyFilter));
}

function groupConditions(spec: InsightQuerySpec, { breakdown }: Rows): Condition[] {
  if (!breakdown) return [];
  const properties = propertiesOf(spec).filter((property) => segmentOf(property) === undefined);
  return properties.map((property) => isValue(property, breakdown[property]));
}

/** Of payments: that the event is one, and of which currency. */
function paymentConditions(spec: InsightQuerySpec, { eventIndex, payment }: Rows): Condition[] {
  if (spec.insightType !== InsightType.REVENUE) return [];
  const property = spec.events[eventIndex ?? 0]?.aggregationProperty || 'amount';
  const source = PropertySource.UNSPECIFIED;
  return [
    { property, operator: FilterOperator.IS_SET, values: [], source },
    ...(payment ? [isValue('currency', payment.currency)] : []),
  ];
}

function propertiesOf({ breakdowns, topK }: InsightQuerySpec): string[] {
  if (topK?.property) return [topK.property];
  return breakdowns.map(({ property }) => property);
}

/** Those of the question, and those of the group: people in a segment, or outside of it. */
function segmentsOf(spec: InsightQuerySpec, { breakdown = {} }: Rows): SegmentFilter {
  const chosen: SegmentFilter = { segments: [], notInSegments: [] };
  for (const property of propertiesOf(spec)) {
    const id = segmentOf(property);
    if (id === undefined || breakdown[property] === undefined) continue;
    chosen[breakdown[property] === 'in' ? 'segments' : 'notInSegments'].push(id);
  }
  const { segments, notInSegments } = spec;
  return withSegments({ segments, notInSegments }, chosen);
}

/** The condition that a property is this value; undefined: that it lacks. */
export function isValue(property: string, value: string | undefined): Condition {
  const source = PropertySource.UNSPECIFIED;
  return value === undefined
    ? { property, operator: FilterOperator.IS_NOT_SET, values: [], source }
    : { property, operator: FilterOperator.EQUALS, values: [value], source };
}

/** The days of a bucket: lists of events go by days. */
function bucketDays({ granularity }: RowsOf, first: string): Record<string, string> {
  const last = new Date(`${first}T00:00:00Z`);
  if (granularity === Granularity.WEEK) last.setUTCDate(last.getUTCDate() + 6);
  if (granularity === Granularity.MONTH) last.setUTCMonth(last.getUTCMonth() + 1, 0);
  return { from: first, to: last.toISOString().slice(0, 10) };
}
