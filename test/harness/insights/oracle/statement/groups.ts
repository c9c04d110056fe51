// Groups of a breakdown: their order, those that stay, and the group of all others.

import type { Question } from '../../questions/question.ts';
import type { Row } from '../tables.ts';
import { breakdownText } from './conditions.ts';

/** SQL for the group of an event: a list of texts, NULL where a property is lacking. */
export function groupOf(question: Question): string {
  const { breakdowns = [] } = question;
  const texts = breakdowns.map((property) => breakdownText(question, property));
  return `[${texts.join(', ')}]::VARCHAR[]`;
}

export function limitOf({ breakdownLimit = 0 }: Question): number {
  return breakdownLimit === 0 ? 10 : breakdownLimit;
}

/** The terms that put groups in the order of their values. */
export function valueOrder(question: Question, group: string): string {
  const terms = (question.breakdowns ?? []).map((_, index) => `${group}[${index + 1}] NULLS FIRST`);
  return terms.length === 0 ? '1' : terms.join(', ');
}

/**
 * The common tables `ranked` (g, weight, place) and `slots_of` (g, slot): slot is the group's place, or one more than
 * the limit for all others. `weights` is the text of a SELECT of g and weight.
 */
export function rankTables(question: Question, weights: string): string {
  const limit = limitOf(question);
  return `
    ranked AS (SELECT g, weight,
      row_number() OVER (ORDER BY weight DESC, ${valueOrder(question, 'g')}) AS place FROM (${weights})),
    slots_of AS (SELECT g, least(place, ${limit + 1}) AS slot FROM ranked)`;
}

export interface Group {
  breakdown: Record<string, string>;
  isOthers: boolean;
}

/** The group of a row with `slot` and `g`. */
export function readGroup(question: Question, { slot, g }: Row): Group {
  const names = question.breakdowns ?? [];
  const isOthers = names.length > 0 && Number(slot) > limitOf(question);
  if (isOthers || !Array.isArray(g)) return { breakdown: {}, isOthers };
  const entries = names.flatMap((name, index) =>
    typeof g[index] === 'string' ? [[name, g[index]] as const] : [],
  );
  return { breakdown: Object.fromEntries(entries), isOthers };
}

/** How many groups are in the group of all others. */
export function othersCount(question: Question, groups: unknown): number {
  if ((question.breakdowns ?? []).length === 0) return 0;
  return Math.max(0, Number(groups) - limitOf(question));
}
