// TOP_K: the greatest groups of events, by a property, the kind or the user.

import { create } from '@bufbuild/protobuf';
import { invalidArgument, notKnown } from '../../../../platform/http/answers/invalid-argument.ts';
import {
  AggregationType,
  LeftOut_Reason,
  type TopKQuery,
  TopKQuery_Dimension,
  TopKResultSchema,
} from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { traitsMessage } from '../../../profiles/stored-profile.ts';
import { type EventCondition, eventCondition } from '../../read/event-condition.ts';
import { type Question, readBreakdown, readLimit } from '../../read/question.ts';
import { numberOf } from '../../read/rows.ts';
import { eventCellsSql } from '../../sources/event-cells.ts';
import { noteEvents } from '../../sources/ladder.ts';
import { type RankedAggregation, readAggregation } from '../../sql/aggregation.ts';
import { groupText } from '../../sql/property-text.ts';
import { groupColumn, kindTextSql, readEventsSql } from '../../sql/read-events.ts';
import { leftOutOf, leftOutSql, maxReasons } from '../left-out.ts';
import type { Plan } from '../plan.ts';
import {
  type Greatest,
  greatestSql,
  othersAreTheRest,
  usersOfGroupsSql,
} from './greatest-groups.ts';
import { topUsersSql } from './top-users.ts';
import { otherProfiles, readProfiles, storedProfiles, type UserProfile } from './user-profiles.ts';

const defaultRows = 10;
const maxTopRows = 100;

type Dimension = { by: 'property'; property: string } | { by: 'kind' } | { by: 'user' };

/** Throws invalid_argument. */
export function planTopK(question: Question): Plan {
  const { topK } = question.spec;
  if (topK === undefined) throw invalidArgument('spec.topK', 'is required');
  const limit = readLimit(topK.limit, defaultRows, maxTopRows, 'spec.topK.limit');
  const dimension = readDimension(topK);
  const aggregation = readMetric(question, topK);
  const condition = eventCondition(topK.scope, 'spec.topK.scope', question);
  const greatest: Greatest = { aggregation, limit, withOthers: !topK.omitOthers };
  const countsUsers = dimension.by === 'user' || aggregation.counts === 'users';
  return {
    sql: planSql(question, condition, dimension, greatest, countsUsers),
    maxRows: limit + 1 + maxReasons,
    lookUps: dimension.by === 'user' ? profileLookUps(question, condition, limit) : [],
    read: (rows) => {
      const { top, leftOut } = readRows(rows, dimension, greatest, question);
      const value = create(TopKResultSchema, { rows: top });
      return { result: { case: 'topK', value }, leftOut };
    },
  };
}

function profileLookUps(
  question: Question,
  condition: EventCondition,
  limit: number,
): NonNullable<Plan['lookUps']> {
  const keysOf = (rows: readonly unknown[][]): string[] =>
    rows.flatMap(([part, place, key]) =>
      Number(part) === topPart && Number(place) <= limit ? [String(key)] : [],
    );
  return [
    (rows) => storedProfiles(question, keysOf(rows)),
    (rows) => otherProfiles(question, condition, keysOf(rows), rows),
  ];
}

function readDimension({ dimension, property }: TopKQuery): Dimension {
  if (dimension !== TopKQuery_Dimension.PROPERTY && property !== '') {
    throw invalidArgument('spec.topK.property', 'is for the dimension PROPERTY');
  }
  switch (dimension) {
    case TopKQuery_Dimension.PROPERTY:
      return { by: 'property', property: readBreakdown(property, 'spec.topK.property') };
    case TopKQuery_Dimension.EVENT_KIND:
      return { by: 'kind' };
    case TopKQuery_Dimension.USER:
      return { by: 'user' };
    case TopKQuery_Dimension.UNSPECIFIED:
      throw invalidArgument('spec.topK.dimension', 'is required');
    default:
      throw notKnown('spec.topK.dimension', dimension, 'is not a dimension');
  }
}

function readMetric(question: Question, topK: TopKQuery): RankedAggregation {
  const { dimension, metric, metricProperty } = topK;
  const paths = { type: 'spec.topK.metric', property: 'spec.topK.metricProperty' };
  const aggregation = readAggregation(metric, metricProperty, paths, question);
  if (aggregation.counts === 'users' && aggregation.of === 'numbers') {
    throw invalidArgument(paths.type, `${AggregationType[metric]} is for TRENDS and SEGMENTATION`);
  }
  if (dimension === TopKQuery_Dimension.USER && aggregation.counts === 'users') {
    throw invalidArgument(paths.type, `${AggregationType[metric]} is not for users`);
  }
  return aggregation;
}

/** The parts of the statement: the rows, and what is left out. Look-ups have others. */
const topPart = 0;
const leftOutPart = -1;

function planSql(
  question: Question,
  condition: EventCondition,
  dimension: Dimension,
  greatest: Greatest,
  countsUsers: boolean,
): string {
  const rows =
    dimension.by === 'user'
      ? topUsersSql(question, condition, greatest)
      : greatestSql(namedSql(question, condition, dimension, greatest), greatest);
  const top = `SELECT toInt32(${topPart}) AS part, toUInt64(place) AS place, toString(name) AS name, value, groups, whole
    FROM (${rows})`;
  const leftOut = leftOutSql(question, [{ condition, countsUsers }]).map(
    (
      sql,
    ) => `SELECT toInt32(${leftOutPart}) AS part, toUInt64(reason) AS place, '' AS name, toFloat64(0) AS value,
      toUInt64(0) AS groups, toFloat64(left_out) AS whole FROM (${sql})`,
  );
  return [top, ...leftOut].join(' UNION ALL ');
}

/** SELECT of (name, a, b) for each value or kind, in the form of property-text.ts. */
function namedSql(
  question: Question,
  condition: EventCondition,
  dimension: Exclude<Dimension, { by: 'user' }>,
  greatest: Greatest,
): string {
  const { aggregation } = greatest;
  const groups = dimension.by === 'property' ? [dimension.property] : [];
  if (aggregation.counts === 'events') {
    const by = dimension.by === 'property' ? groups : 'kinds';
    const cells = { condition, aggregation, groups: by, buckets: [question.fromMs] } as const;
    return `SELECT ${groupColumn(0)} AS name, ${aggregation.measure.combine}(cell.a) AS a, sum(cell.b) AS b
      FROM (${eventCellsSql(question, cells)}) AS cell GROUP BY name`;
  }
  const columns = dimension.by === 'property' ? {} : { [groupColumn(0)]: kindTextSql };
  const names = [...groups, ...Object.keys(columns)];
  noteEvents(question, { count: 'users', of: condition, groups: names });
  const events = readEventsSql(question, { condition, groups, columns, withUser: true });
  return usersOfGroupsSql(
    `SELECT *, ${groupColumn(0)} AS name FROM (${events}) WHERE user_key != 0`,
    greatest,
  );
}

/** The message's rows in the order of their places, and what is left out. */
function readRows(
  rows: readonly unknown[][],
  dimension: Dimension,
  { limit, withOthers, ...greatest }: Greatest,
  { standIns }: Question,
) {
  const leftOut = leftOutOf(rows, leftOutPart);
  const placed = rows
    .filter(([part]) => Number(part) === topPart)
    .toSorted(([, one], [, other]) => Number(one) - Number(other));
  const [, , , , groups = 0, whole] = placed[0] ?? [];
  const folded = Math.max(Number(groups) - limit, 0);
  leftOut.push({ reason: LeftOut_Reason.GROUPS_IN_OTHERS, count: folded });
  const profiles = readProfiles(rows);
  const top = placed.map(([, place, name, number]) => {
    const [value, text] = [numberOf(number), String(name)];
    if (Number(place) > limit) return { value, isOthers: true };
    const named = dimension.by === 'user' ? user(text, profiles.get(text), standIns) : group(text);
    return { value, ...named };
  });
  if (withOthers && othersAreTheRest(greatest) && folded > 0) {
    const value = top.reduce((rest, row) => rest - row.value, Number(whole));
    top.push({ value, isOthers: true });
  }
  return { top, leftOut };
}

function group(text: string) {
  const dimensionValue = groupText(text);
  return dimensionValue === undefined ? { isAbsent: true } : { dimensionValue };
}

function user(
  key: string,
  { id = key, record }: Partial<UserProfile> = {},
  standIns: Question['standIns'],
) {
  if (record === undefined) return { dimensionValue: id };
  const properties = traitsMessage(record, standIns);
  return { dimensionValue: id, profile: { id, externalId: record.externalId, properties } };
}
