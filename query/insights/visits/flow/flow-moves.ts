// The moves of visits from one value to the next, as USER_FLOW counts them. Those of past days may be kept: each day of
// a visit counts as a visit there. A statement counts visits of several days anew, and takes their kept days back.

import { dayMs } from '../../../../platform/clock.ts';
import { both, type EventCondition } from '../../events/event-condition.ts';
import { type EventRead, groupColumn, readEventsSql } from '../../events/read-events.ts';
import {
  daysToKeep,
  isOfDays,
  keepCells,
  keptAsStoredSql,
  keptDays,
  notKept,
} from '../../kept/day-cells.ts';
import type { Question } from '../../question/question.ts';
import { sessionKey, sessionKeysSql, severalKeysSql } from '../visit-days.ts';

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
  /** As keptAsStoredSql: days that are kept are taken back from it. */
  check?: string;
}

export function flowMoves(question: Question, flow: FlowRead): Moves {
  const { condition, property } = flow;
  const groups = property === undefined ? [] : [property];
  const steps = (of: EventCondition): string => stepsSql(question, flow, { condition: of });
  const all = steps(condition);
  if (!isOfDays(question, [condition, question.everyEvent], groups)) {
    return { values: valuesSql(all), moves: movesSql(wholeVisitsSql(question, all), flow) };
  }
  const notOfKept = steps(both(condition, notKept));
  const ofSeveral = steps(both(condition, ofSeveralDays(question, notOfKept)));
  // Both may have an event. Its marks are equal, and equal neighbours are one step.
  const visits = correctedVisitsSql(question, `${notOfKept} UNION ALL ${ofSeveral}`);
  const moves = `SELECT step, code, next, sum(move.visits) AS visits, sum(move.beyond) AS beyond FROM (
      ${movesSql(visits, flow)}
      UNION ALL SELECT toInt64(${groupColumn(0)}) AS step, ${codeSql(groupColumn(1))} AS code, ${codeSql(groupColumn(2))} AS next,
        toInt64(a) AS visits, toInt64(b) AS beyond FROM (${keptMovesSql(question, flow)})
    ) AS move GROUP BY step, code, next HAVING visits > 0`;
  return {
    // Events of all days, because to find those that are not kept takes longer.
    values: valuesSql(property === undefined ? kindsSql(question) : all),
    moves,
    check: keptAsStoredSql(question),
  };
}

/** Of one statement: 65,000 of 29 days take 50 ms to read, and their ten million events a second to put in order. */
const maxKeptMoves = 200_000;

/** Rows of kept cells: the step, the texts of the values, and in a and b the visits and what is beyond. */
function keptMovesSql(question: Question, flow: FlowRead): string {
  const steps = stepsSql(question, flow, { condition: flow.condition, days: daysToKeep });
  const cells = `WITH (${valuesSql(steps)}) AS all_values
    SELECT toString(step) AS ${groupColumn(0)}, all_values[code + 1] AS ${groupColumn(1)}, all_values[next + 1] AS ${groupColumn(2)},
      bucket, toFloat64(visits) AS a, toFloat64(beyond) AS b, toFloat64(0) AS c, toFloat64(0) AS d
    FROM (${movesSql(daysOfVisitsSql(steps), flow, ['bucket'])})`;
  return keepCells(question, cells, { width: 3, bucket: 'moment_ms', maxCells: maxKeptMoves });
}

/**
 * Holds for the events of visits that may have several days, one of them kept; for none where no day is kept.
 * `notOfKept` are the events of other days: the table of visits may not have the newest.
 */
function ofSeveralDays(question: Question, notOfKept: string): EventCondition {
  const keys = [
    sessionKeysSql('visits', question, `day IN ${keptDays}`),
    `SELECT DISTINCT ${sessionKey} AS key FROM (${notOfKept}) WHERE notEmpty(${keptDays})`,
  ];
  const several = `${sessionKey} IN (${severalKeysSql(keys.join(' UNION ALL '))})`;
  return { sql: `(notEmpty(${keptDays}) AND ${several})`, usesUser: false, kind: 'filtered' };
}

/** The kinds of the range's UTC days. */
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
function stepsSql(question: Question, { property }: FlowRead, read: EventRead): string {
  const events = readEventsSql(question, {
    ...read,
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

// A mark is one number that orders the events of a visit: the milliseconds since the range or day began, then the code.
// A range has less than 2^39 milliseconds, and the engine makes no list of more than 2^24 values. An order by event id
// within a millisecond would take the ids of all events into memory, and the question half as long again.
const codeBits = 24;

/** The marks of a group's events, sorted: for numbers it takes a fraction of the time that a function of them takes. */
function marksSql(sinceMs: string): string {
  return `arraySort(groupArray(bitShiftLeft(toUInt64(${sinceMs}), ${codeBits}) + code)) AS marks`;
}

/** SELECT of `marks`, the events of a visit, and `sign`, how often they count. */
function wholeVisitsSql({ bindings, fromMs }: Question, steps: string): string {
  const marks = marksSql(`ms - ${bindings.bind('Int64', fromMs)}`);
  return `SELECT ${marks}, toInt64(1) AS sign
    FROM (SELECT *, ${codeSql('text')} AS code FROM (${steps})) WHERE code != 0 GROUP BY session_id`;
}

/** The same for each day of a visit, and the day's start. */
function daysOfVisitsSql(steps: string): string {
  return `SELECT ${marksSql(`ms % ${dayMs}`)}, toInt64(1) AS sign, bucket
    FROM (SELECT *, ${codeSql('text')} AS code, ms - ms % ${dayMs} AS bucket FROM (${steps})) WHERE code != 0
    GROUP BY session_id, bucket`;
}

/** Visits, and each kept day of theirs, which does not count. */
function correctedVisitsSql(question: Question, steps: string): string {
  const fromMs = question.bindings.bind('Int64', question.fromMs);
  const day = (mark: string): string =>
    `toInt32(intDiv(bitShiftRight(${mark}, ${codeBits}) + ${fromMs}, ${dayMs}))`;
  // No function of a list looks at another one: the engine would copy that for each.
  const days = `arraySplit((mark, more) -> more != 0, marks, arrayDifference(arrayMap(mark -> ${day('mark')}, marks)))`;
  const ofKept = `arrayFilter(one -> toDate(${day('one[1]')}) IN ${keptDays}, ${days})`;
  return `SELECT part.1 AS marks, part.2 AS sign FROM (
    SELECT arrayJoin(arrayPushFront(arrayMap(one -> (one, toInt64(-1)), ${ofKept}), (marks, sign))) AS part
    FROM (${wholeVisitsSql(question, steps)}))`;
}

/** SELECT of (step, code, next, visits, beyond) and the columns `by` of visits. */
function movesSql(visits: string, { maxHops }: FlowRead, by: readonly string[] = []): string {
  const more = by.map((column) => `${column}, `).join('');
  const ways = `SELECT ${more}sign, arrayCompact(arrayMap(mark -> toUInt32(bitAnd(mark, ${2 ** codeBits - 1})), marks)) AS way,
      arraySlice(way, 1, ${maxHops + 1}) AS followed
    FROM (${visits})`;
  return `SELECT ${more}toInt64(place) - 1 AS step, code, next, sum(sign) AS visits, sum(if(place = 1, rest, 0)) AS beyond
    FROM (SELECT ${more}sign, followed, toInt64(length(way) - length(followed)) * sign AS rest FROM (${ways}))
    ARRAY JOIN arrayEnumerate(followed) AS place, followed AS code, arrayPushBack(arraySlice(followed, 2), 0) AS next
    GROUP BY ${more}place, code, next`;
}
