// All questions that the benches of insights ask, in the order of their table.

import { setTimeout } from 'node:timers/promises';
import type { Stack } from '../../../test/harness/servers/stack.ts';
import type { Mode } from '../../bench.ts';
import { runStatement } from '../engine/engine-statement.ts';
import { eventQuestions } from './event-questions.ts';
import { personQuestions } from './person-questions.ts';
import type { Question } from './question.ts';
import { visitQuestions } from './visit-questions.ts';

export const questions: readonly Question[] = [
  ...eventQuestions,
  ...personQuestions,
  ...visitQuestions,
];

/** One in so many is asked where a smoke run has asked each of them before. */
const smokeStep = 6;

/** The questions of the benches after the first: all in real runs, in smoke runs some of each form. */
export function questionsAgain(mode: Mode): readonly Question[] {
  return mode === 'real' ? questions : questions.filter((_, index) => index % smokeStep === 0);
}

interface Asks {
  warmUps: number;
  /** After them. */
  counted: number;
}

export const asksOf: Record<Mode, Asks> = {
  smoke: { warmUps: 0, counted: 1 },
  real: { warmUps: 2, counted: 7 },
};

/**
 * The second time that a question is asked its days are kept, if nothing was on its way when it was asked first. Days
 * are read into memory beside it.
 */
export async function untilDaysMayBeKept(mode: Mode): Promise<void> {
  if (mode === 'real') await setTimeout(3_000);
}

/** A turn of the other half of a day's quarters of an hour. */
export const halfOfADay = 48;

/** The next question counts all days, and keeps them. Days of profiles that are kept twice would be read twice. */
export async function forgetDays(stack: Pick<Stack, 'clickhouseUrl'>): Promise<void> {
  await runStatement(stack, 'TRUNCATE TABLE kept_days');
  await runStatement(stack, 'TRUNCATE TABLE kept_active_profiles');
}
