// The members of the questions that the first table of the bench does not ask, in the order of theirs.

import type { Question } from '../question.ts';
import { segmentMembers } from '../segments/segment-questions.ts';
import { returningMembers } from './returning-members.ts';
import { seriesMembers } from './series-members.ts';
import { wayMembers } from './way-members.ts';

export const memberQuestions: readonly Question[] = [
  ...seriesMembers,
  ...returningMembers,
  ...wayMembers,
  ...segmentMembers,
];
