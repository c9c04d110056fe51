// All questions that the benches of insights ask, in the order of their table.

import { eventQuestions } from './event-questions.ts';
import { personQuestions } from './person-questions.ts';
import type { Question } from './question.ts';
import { visitQuestions } from './visit-questions.ts';

export const questions: readonly Question[] = [
  ...eventQuestions,
  ...personQuestions,
  ...visitQuestions,
];
