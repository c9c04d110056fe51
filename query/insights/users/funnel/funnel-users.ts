// SQL for the users of a FUNNEL: `level`, the furthest step that each reached, `chain`, the times of the events with
// which they did, where timing is asked for, and the columns of the groups of their first event that matches step 1.

import { eventOrderSql, groupColumn, readEventsSql } from '../../events/read-events.ts';
import type { Question } from '../../question/question.ts';
import { groupColumnsSql, groupsTupleSql } from '../group-columns.ts';
import { chainSql, levelSql } from './funnel-fold.ts';
import { anyStep, type Funnel, stepMaskSql, stepSql } from './funnel-steps.ts';

/** A SELECT of those who have an event that matches step 1. */
export function funnelUsersSql(question: Question, funnel: Funnel): string {
  return funnel.mayOverlap
    ? overlappingSql(question, funnel)
    : funnel.withTiming
      ? timedSql(question, funnel)
      : plainSql(question, funnel);
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

/** Events of few users are kept: of those who reached a second step. */
function timedSql(question: Question, funnel: Funnel): string {
  const { names, groups } = groupsOf(question, 'step = 1');
  const mark = markSql('step');
  return `SELECT ${groupColumnsSql(names)}level, ${chainSql(funnel, 'if(level > 1, arraySort(marks), [])')} AS chain FROM (
    SELECT ${groups}${reachedSql(funnel)} AS level, groupArray(${mark}) AS marks FROM (${stepsSql(question, funnel)})
    WHERE user_key != 0 GROUP BY user_key HAVING level > 0)`;
}

/** Event by event: only so does one that matches several steps serve one alone. */
function overlappingSql(question: Question, funnel: Funnel): string {
  const { names, groups } = groupsOf(question, 'bitTest(mask, 0)');
  // The first step that an event matches is the place of the lowest bit of its mask.
  const mark = markSql('bitCount(bitXor(mask, mask - 1))');
  const marks = 'arraySort(marks)';
  const level = funnel.withTiming
    ? `${chainSql(funnel, marks)} AS chain, toUInt8(length(chain)) AS level`
    : `${levelSql(funnel, marks)} AS level`;
  return `SELECT ${groupColumnsSql(names)}${level} FROM (
    SELECT ${groups}groupArray((${mark}, toUInt128(event_id), mask)) AS marks FROM (${stepsSql(question, funnel)})
    WHERE user_key != 0 GROUP BY user_key HAVING max(bitTest(mask, 0)))`;
}

/** One number that orders events by time, then by step: 5 bits hold a step. */
function markSql(step: string): string {
  return `bitShiftLeft(toUInt64(toUnixTimestamp64Milli(occur_time)), 5) + ${step}`;
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
