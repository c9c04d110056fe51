// The statement of USER_FLOW. Values are numbers while visits are put in order: their places in the list of all values,
// in byte order, so that an array of them is small and equal counts are ordered by value.

import type { EventCondition } from '../../events/event-condition.ts';
import { groupColumn, readEventsSql } from '../../events/read-events.ts';
import type { Question } from '../../question/question.ts';

export interface FlowRead {
  condition: EventCondition;
  /** Whose values are the nodes; undefined for kinds. */
  property: string | undefined;
  maxHops: number;
  maxNodes: number;
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
  const { maxNodes } = flow;
  const ranked = rankedSql(movesSql(question, flow));
  const folded = `SELECT step, source, target, sum(visits) AS visits, sum(beyond) AS beyond, max(source_rank) AS values_seen FROM (
      SELECT step, visits, beyond, source_rank, if(source_rank <= ${maxNodes}, toInt64(code), ${others}) AS source,
        multiIf(next = 0, ${end}, target_rank <= ${maxNodes}, toInt64(next), ${others}) AS target
      FROM (${ranked})
    ) AS move GROUP BY step, source, target`;
  return `WITH (${valuesSql(question, flow)}) AS all_values
    SELECT step, source, target, visits, beyond, toUInt64(values_seen) AS values_seen,
      if(source > 0 AND row_number() OVER (PARTITION BY source) = 1, all_values[source + 1], '') AS source_text
    FROM (${folded})`;
}

/** All values, in byte order; the first one is none, so that the list is not empty. */
function valuesSql(question: Question, flow: FlowRead): string {
  const texts = `SELECT text FROM (${stepsSql(question, flow)}) GROUP BY text`;
  return `SELECT arrayPushFront(arraySort(groupArray(toString(text))), '') FROM (${texts}) WHERE text NOT IN ('', '=')`;
}

/** The events of the question with their values as `text`. */
function stepsSql(question: Question, { condition, property }: FlowRead): string {
  const events = readEventsSql(question, {
    condition,
    columns: {
      session_id: 'session_id',
      ...(property === undefined ? { [groupColumn(0)]: "concat('=', kind)" } : {}),
    },
    groups: property === undefined ? [] : [property],
  });
  return `SELECT session_id, occur_time, ${groupColumn(0)} AS text FROM (${events})`;
}

// A mark is one number that orders the events of a visit: the milliseconds since the range began, then the code. A
// range has less than 2^39 milliseconds, and the engine makes no list of more than 2^24 values. An order by event id
// within a millisecond would take the ids of all events into memory, and the question half as long again.
const codeBits = 24;

/** SELECT of (step, code, next, visits, beyond); next is 0 where visits ended or are no longer followed. */
function movesSql(question: Question, flow: FlowRead): string {
  // Which is 0 for an event that lacks the value.
  const code = 'toUInt32(transform(text, all_values, range(length(all_values)), 0))';
  const steps = `SELECT session_id, occur_time, ${code} AS code FROM (${stepsSql(question, flow)})`;
  const sinceMs = `toUnixTimestamp64Milli(occur_time) - ${question.bindings.bind('Int64', question.fromMs)}`;
  const mark = `bitShiftLeft(toUInt64(${sinceMs}), ${codeBits}) + code`;
  const visits = `SELECT groupArray(${mark}) AS marks FROM (${steps}) WHERE code != 0 GROUP BY session_id`;
  // Numbers are sorted in a fraction of the time that a function of them takes.
  const ways = `SELECT arrayCompact(arrayMap(mark -> toUInt32(bitAnd(mark, ${2 ** codeBits - 1})), arraySort(marks))) AS way,
      arraySlice(way, 1, ${flow.maxHops + 1}) AS followed
    FROM (${visits})`;
  return `SELECT toInt64(place) - 1 AS step, code, next, count() AS visits, sum(if(place = 1, rest, 0)) AS beyond
    FROM (SELECT followed, length(way) - length(followed) AS rest FROM (${ways}))
    ARRAY JOIN arrayEnumerate(followed) AS place, followed AS code, arrayPushBack(arraySlice(followed, 2), 0) AS next
    GROUP BY place, code, next`;
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
