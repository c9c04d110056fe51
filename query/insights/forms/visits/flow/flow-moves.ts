// The statement of USER_FLOW: the moves of visits from one value to the next. Values are numbers while visits are put
// in order: their places in the list of all values, in byte order, so that an array of them is small and equal counts
// are ordered by value.

import { dayMs } from '../../../../../platform/clock.ts';
import { anyOf, type EventCondition } from '../../../read/event-condition.ts';
import type { Question } from '../../../read/question.ts';
import { noteEvents } from '../../../sources/ladder.ts';
import { groupColumn, kindTextSql, readEventsSql } from '../../../sql/read-events.ts';

export interface FlowRead {
  condition: EventCondition;
  /** Whose values are the nodes; undefined for kinds. */
  property: string | undefined;
  maxHops: number;
  maxNodes: number;
  from: EventCondition | undefined;
  to: EventCondition | undefined;
  /** A way is one of a user, not of a visit. */
  isOfUsers: boolean;
}

/** The events that a way may have as steps. */
export function stepCondition({ condition, from, to }: FlowRead): EventCondition {
  return anyOf([condition, ...(from ? [from] : []), ...(to ? [to] : [])]);
}

/** Ways to an event, wherever they begin: their steps are counted from their end. */
export function isCountedFromEnd({ from, to }: Pick<FlowRead, 'from' | 'to'>): boolean {
  return from === undefined && to !== undefined;
}

/** The kinds of the range's UTC days, and so all of the question's: to read them from its events takes another pass. */
function kindsSql({ project, bindings, fromMs, toMs }: Question): string {
  const seconds = (ms: number): string =>
    `toDateTime(${bindings.bind('Int64', ms / 1_000)}, 'UTC')`;
  const [firstMs, endMs] = [Math.floor(fromMs / dayMs) * dayMs, Math.ceil(toMs / dayMs) * dayMs];
  return `SELECT ${kindTextSql} AS text FROM event_counts
    WHERE project_id = ${project} AND quarter >= ${seconds(firstMs)} AND quarter < ${seconds(endMs)}`;
}

/**
 * SELECT of `all_values`, the list of all values in the form of property-text.ts and in byte order; the first one is
 * none, so that the list is not empty.
 */
function valuesSql(steps: string): string {
  return `SELECT arrayPushFront(arraySort(groupArray(toString(text))), '') FROM (SELECT text FROM (${steps}) GROUP BY text)
    WHERE text NOT IN ('', '=')`;
}

/** The events of the question with their values as `text`. */
function stepsSql(question: Question, flow: FlowRead): string {
  const { property, from, to, isOfUsers } = flow;
  const ends = {
    ...(from && { is_from: from.sql }),
    ...(to && { is_to: to.sql }),
  };
  const events = readEventsSql(question, {
    condition: stepCondition(flow),
    // The ends may ask for traits where the condition of all together does not.
    withUser: isOfUsers || from?.usesUser === true || to?.usesUser === true,
    columns: {
      ...(isOfUsers ? {} : { session_id: 'session_id' }),
      ...ends,
      ...(property === undefined ? { [groupColumn(0)]: kindTextSql } : {}),
    },
    groups: property === undefined ? [] : [property],
  });
  const way = isOfUsers ? 'user_key AS way_key' : 'session_id AS way_key';
  const columns = [way, `${groupColumn(0)} AS text`, ...Object.keys(ends)].join(', ');
  return `SELECT ${columns}, toUnixTimestamp64Milli(occur_time) AS ms FROM (${events})
    ${isOfUsers ? 'WHERE user_key != 0' : ''}`;
}

/** 0 for an event that lacks the value. */
function codeSql(text: string): string {
  return `toUInt32(transform(${text}, all_values, range(length(all_values)), 0))`;
}

// A mark is one number that orders the events of a visit: the milliseconds since the range began, then the code. A
// range has less than 2^39 milliseconds, and the engine makes no list of more than 2^24 values. An order by event id
// within a millisecond would take the ids of all events into memory, and the question half as long again.
const codeBits = 24;

/**
 * SELECT of `marks`, the events of a visit, and of those that may begin or end it, as `starts` and `ends`. To sort
 * numbers takes a fraction of the time of a function of them.
 */
function visitsSql({ bindings, fromMs }: Question, steps: string, { from, to }: FlowRead): string {
  const mark = `bitShiftLeft(toUInt64(ms - ${bindings.bind('Int64', fromMs)}), ${codeBits}) + code`;
  const starts = from ? `, arraySort(groupArrayIf(${mark}, is_from)) AS starts` : '';
  const ends = to ? `, arraySort(groupArrayIf(${mark}, is_to)) AS ends` : '';
  return `SELECT arraySort(groupArray(${mark})) AS marks${starts}${ends}
    FROM (SELECT *, ${codeSql('text')} AS code FROM (${steps})) WHERE code != 0 GROUP BY way_key`;
}

/** The same of the visits that have both ends, with the marks between them. No mark is 0. */
function betweenEndsSql(visits: string, { from, to }: FlowRead): string {
  if (from === undefined && to === undefined) return visits;
  const start = from ? 'starts[1]' : 'toUInt64(0)';
  const last = to ? `arrayFirst(mark -> mark > ${start}, ends)` : 'toUInt64(-1)';
  return `SELECT arrayFilter(mark -> mark >= start AND mark <= last, all_marks) AS marks FROM (
    SELECT marks AS all_marks, ${start} AS start, ${last} AS last FROM (${visits}))
    WHERE last != 0${from ? ' AND start != 0' : ''}`;
}

/**
 * SELECT of (step, code, next, visits, beyond): values by their places. `next` is 0 where visits ended or are not
 * followed further.
 */
function movesSql(visits: string, flow: FlowRead): string {
  const { maxHops } = flow;
  const isFromEnd = isCountedFromEnd(flow);
  const slice = isFromEnd ? `-${maxHops + 1}` : `1, ${maxHops + 1}`;
  // The last step of all ways has the same number.
  const skipped = isFromEnd ? `toInt64(${maxHops + 1}) - toInt64(length(followed))` : 'toInt64(0)';
  const ways = `SELECT arrayCompact(arrayMap(mark -> toUInt32(bitAnd(mark, ${2 ** codeBits - 1})), marks)) AS way,
      arraySlice(way, ${slice}) AS followed
    FROM (${visits})`;
  return `SELECT toInt64(place) - 1 + skipped AS step, code, next, toInt64(count()) AS visits, sum(if(place = 1, rest, 0)) AS beyond
    FROM (SELECT followed, toInt64(length(way) - length(followed)) AS rest, ${skipped} AS skipped FROM (${ways}))
    ARRAY JOIN arrayEnumerate(followed) AS place, followed AS code, arrayPushBack(arraySlice(followed, 2), 0) AS next
    GROUP BY step, code, next`;
}

/** In place of a node: that of all other values, and the end of a visit. */
export const others = 0;
export const end = -1;

/**
 * SELECT of (step, source, target, visits, beyond, values_seen, source_text): how many visits went from a node to the
 * next step's, or ended. `beyond` counts their steps that are not followed, `values_seen` is the number of the step's
 * values in its row of others, and one row of each source has its text in the form of property-text.ts.
 */
export function flowSql(question: Question, flow: FlowRead): string {
  noteEvents(question, { count: 'ways', of: stepCondition(flow) });
  const { maxNodes, property } = flow;
  const steps = stepsSql(question, flow);
  const values = valuesSql(property === undefined ? kindsSql(question) : steps);
  const visits = betweenEndsSql(visitsSql(question, steps, flow), flow);
  const ranked = rankedSql(movesSql(visits, flow));
  const folded = `SELECT step, source, target, toUInt64(sum(move.visits)) AS visits, toUInt64(sum(move.beyond)) AS beyond, max(source_rank) AS values_seen FROM (
      SELECT step, visits, beyond, source_rank, if(source_rank <= ${maxNodes}, toInt64(code), ${others}) AS source,
        multiIf(next = 0, ${end}, target_rank <= ${maxNodes}, toInt64(next), ${others}) AS target
      FROM (${ranked})
    ) AS move GROUP BY step, source, target`;
  return `WITH (${values}) AS all_values
    SELECT step, source, target, visits, beyond, toUInt64(values_seen) AS values_seen,
      if(source > 0 AND row_number() OVER (PARTITION BY source) = 1, all_values[source + 1], '') AS source_text
    FROM (${folded})`;
}

/** Adds the ranks of a move's source and target among the values of their steps. */
function rankedSql(moves: string): string {
  const ends = `SELECT step, code, next, visits, beyond, is_target, step + is_target AS node_step, if(is_target, next, code) AS node
    FROM (${moves}) ARRAY JOIN if(next = 0, [0], [0, 1]) AS is_target`;
  const weighed = `SELECT *, sumIf(visits, NOT is_target) OVER (PARTITION BY node_step, node) AS node_visits FROM (${ends})`;
  const placed = `SELECT *, dense_rank() OVER (PARTITION BY node_step ORDER BY node_visits DESC, node) AS rank FROM (${weighed})`;
  return `SELECT step, code, next, any(placed.visits) AS visits, any(placed.beyond) AS beyond,
      maxIf(rank, NOT is_target) AS source_rank, maxIf(rank, is_target) AS target_rank
    FROM (${placed}) AS placed GROUP BY step, code, next`;
}
