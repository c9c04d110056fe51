// The moves of visits from one value to the next, as USER_FLOW counts them.

import { dayMs } from '../../../../../platform/clock.ts';
import type { EventCondition } from '../../../read/event-condition.ts';
import type { Question } from '../../../read/question.ts';
import { sourceOf } from '../../../sources/ladder.ts';
import { groupColumn, readEventsSql } from '../../../sql/read-events.ts';

export interface FlowRead {
  condition: EventCondition;
  /** Whose values are the nodes; undefined for kinds. */
  property: string | undefined;
  maxHops: number;
  maxNodes: number;
}

/**
 * SQL over `all_values`, the list of all values in the form of property-text.ts and in byte order; the first one is
 * none, so that the list is not empty.
 */
export interface Moves {
  /** SELECT of that list. */
  values: string;
  /**
   * SELECT of (step, code, next, visits, beyond): values by their places. `next` is 0 where visits ended or are not
   * followed further.
   */
  moves: string;
}

export function flowMoves(question: Question, flow: FlowRead): Moves {
  sourceOf(question, { count: 'ways', of: flow.condition });
  const steps = stepsSql(question, flow);
  return {
    values: valuesSql(flow.property === undefined ? kindsSql(question) : steps),
    moves: movesSql(visitsSql(question, steps), flow),
  };
}

/** The kinds of the range's UTC days, and so all of the question's: to read them from its events takes another pass. */
function kindsSql({ project, bindings, fromMs, toMs }: Question): string {
  const seconds = (ms: number): string =>
    `toDateTime(${bindings.bind('Int64', ms / 1_000)}, 'UTC')`;
  const [firstMs, endMs] = [Math.floor(fromMs / dayMs) * dayMs, Math.ceil(toMs / dayMs) * dayMs];
  return `SELECT concat('=', kind) AS text FROM event_counts
    WHERE project_id = ${project} AND quarter >= ${seconds(firstMs)} AND quarter < ${seconds(endMs)}`;
}

function valuesSql(steps: string): string {
  return `SELECT arrayPushFront(arraySort(groupArray(toString(text))), '') FROM (SELECT text FROM (${steps}) GROUP BY text)
    WHERE text NOT IN ('', '=')`;
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
  return `SELECT session_id, toUnixTimestamp64Milli(occur_time) AS ms, ${groupColumn(0)} AS text FROM (${events})`;
}

/** 0 for an event that lacks the value. */
function codeSql(text: string): string {
  return `toUInt32(transform(${text}, all_values, range(length(all_values)), 0))`;
}

// A mark is one number that orders the events of a visit: the milliseconds since the range began, then the code. A
// range has less than 2^39 milliseconds, and the engine makes no list of more than 2^24 values. An order by event id
// within a millisecond would take the ids of all events into memory, and the question half as long again.
const codeBits = 24;

/** SELECT of `marks`, the events of a visit. To sort numbers takes a fraction of the time of a function of them. */
function visitsSql({ bindings, fromMs }: Question, steps: string): string {
  const mark = `bitShiftLeft(toUInt64(ms - ${bindings.bind('Int64', fromMs)}), ${codeBits}) + code`;
  return `SELECT arraySort(groupArray(${mark})) AS marks
    FROM (SELECT *, ${codeSql('text')} AS code FROM (${steps})) WHERE code != 0 GROUP BY session_id`;
}

/** SELECT of (step, code, next, visits, beyond). */
function movesSql(visits: string, { maxHops }: FlowRead): string {
  const ways = `SELECT arrayCompact(arrayMap(mark -> toUInt32(bitAnd(mark, ${2 ** codeBits - 1})), marks)) AS way,
      arraySlice(way, 1, ${maxHops + 1}) AS followed
    FROM (${visits})`;
  return `SELECT toInt64(place) - 1 AS step, code, next, toInt64(count()) AS visits, sum(if(place = 1, rest, 0)) AS beyond
    FROM (SELECT followed, toInt64(length(way) - length(followed)) AS rest FROM (${ways}))
    ARRAY JOIN arrayEnumerate(followed) AS place, followed AS code, arrayPushBack(arraySlice(followed, 2), 0) AS next
    GROUP BY place, code, next`;
}
