// SQL for the users of a FUNNEL: `level`, the furthest step that each reached, `chain`, the times of the events with
// which they did, where timing is asked for, and the columns of the groups of their first event that matches step 1.

import type { Question } from '../../../read/question.ts';
import { eventOrderSql, groupColumn, readEventsSql } from '../../../sql/read-events.ts';
import { groupColumnsSql, groupsTupleSql } from '../group-columns.ts';
import { anyStep, type Funnel, stepMaskSql, stepSql } from './funnel-steps.ts';
import { chainsSql, levelsSql } from './funnel-walk.ts';

/** A SELECT of those who have an event that matches step 1. */
export function funnelUsersSql(question: Question, funnel: Funnel): string {
  if (funnel.mayOverlap) return overlappingSql(question, funnel);
  return funnel.withTiming ? timedSql(question, funnel) : plainSql(question, funnel);
}

/** The engine's own function counts as this product does where an event has one step. Its times must not be signed. */
function reachedSql({ steps, windowMs }: Funnel): string {
  const conditions = steps.map((_, index) => `step = ${index + 1}`);
  return `windowFunnel(${windowMs})(toUInt64(toUnixTimestamp64Milli(occur_time)), ${conditions.join(', ')})`;
}

function plainSql(question: Question, funnel: Funnel): string {
  const { names, groups } = groupsOf(question, 'step = 1');
  return `SELECT ${groupColumnsSql(names)}level FROM (
    SELECT ${groups}${reachedSql(funnel)} AS level FROM (${stepsSql(question, funnel)})
    WHERE user_key != 0 GROUP BY user_key HAVING level > 0)`;
}

// A mark is one number that orders the events of a user: the milliseconds plus one, so that none is 0, then the step.
const stepBits = 5;
const timeSql = 'toUInt64(toUnixTimestamp64Milli(occur_time) + 1)';

/** Only events of those who reached a second step are looked at again. */
function timedSql(question: Question, funnel: Funnel): string {
  const { names, groups } = groupsOf(question, 'step = 1');
  const mark = `bitShiftLeft(${timeSql}, ${stepBits}) + step`;
  const users = `SELECT ${names.length === 0 ? '' : 'groups, '}level, if(level > 1, arraySort(marks), []) AS sorted,
      arrayMap(mark -> bitShiftRight(mark, ${stepBits}), sorted) AS times, arrayMap(mark -> toUInt8(bitAnd(mark, 31)), sorted) AS matched
    FROM (SELECT ${groups}${reachedSql(funnel)} AS level, groupArray(${mark}) AS marks FROM (${stepsSql(question, funnel)})
      WHERE user_key != 0 GROUP BY user_key HAVING level > 0)`;
  return `SELECT ${groupColumnsSql(names)}level, chain FROM (${chainsSql(funnel, users, { hasLevel: true })})`;
}

// Below the step, where events may match several: the id, then the mask of the steps.
const maskBits = 20;
const idBits = 128;

/** The first step that an event matches is the place of the lowest bit of its mask. */
function overlappingSql(question: Question, funnel: Funnel): string {
  const { names, groups } = groupsOf(question, 'bitTest(mask, 0)');
  const first = 'bitCount(bitXor(mask, mask - 1))';
  const timeAndStep = `bitShiftLeft(toUInt256(bitShiftLeft(${timeSql}, ${stepBits}) + ${first}), ${idBits + maskBits})`;
  const mark = `${timeAndStep} + bitShiftLeft(toUInt256(toUInt128(event_id)), ${maskBits}) + mask`;
  const users = `SELECT ${names.length === 0 ? '' : 'groups, '}arraySort(marks) AS sorted,
      arrayMap(mark -> toUInt64(bitShiftRight(mark, ${stepBits + idBits + maskBits})), sorted) AS times,
      arrayMap(mark -> toUInt32(bitAnd(mark, ${2 ** maskBits - 1})), sorted) AS matched
    FROM (SELECT ${groups}groupArray(${mark}) AS marks FROM (${stepsSql(question, funnel)})
      WHERE user_key != 0 GROUP BY user_key HAVING max(bitTest(mask, 0)))`;
  const walked = funnel.withTiming
    ? chainsSql(funnel, users, { hasLevel: false })
    : levelsSql(funnel, users);
  return `SELECT ${groupColumnsSql(names)}level${funnel.withTiming ? ', chain' : ''} FROM (${walked})`;
}

function groupsOf(
  { breakdowns }: Question,
  isFirstStep: string,
): { names: string[]; groups: string } {
  const names = breakdowns.map((_, index) => groupColumn(index));
  const first = `argMinIf(${groupsTupleSql(names)}, ${eventOrderSql}, ${isFirstStep})`;
  return { names, groups: names.length === 0 ? '' : `${first} AS groups, ` };
}

/** SELECT of the events that match a step. */
function stepsSql(question: Question, funnel: Funnel): string {
  const columns: Record<string, string> = funnel.mayOverlap
    ? { mask: stepMaskSql(funnel) }
    : { step: stepSql(funnel) };
  return readEventsSql(question, {
    ...{ condition: anyStep(funnel), columns, withUser: true },
    groups: question.breakdowns,
  });
}
