// What each form of a question is turned into: one statement, and the reading of its rows. A row is [part, ...]: the
// parts of an answer come from one statement, so that they are of one moment.

import type {
  LeftOut_Reason,
  QueryResponse,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import type { Question } from './question/question.ts';

export interface Plan {
  /** A SELECT. */
  sql: string;
  /** The question whose statement also answers others of those asked together; absent for the question's own. */
  joint?: Question;
  /** The most rows that it can answer. */
  maxRows: number;
  read(rows: readonly unknown[][]): Answer;
}

export interface Answer {
  result: QueryResponse['result'];
  leftOut: readonly LeftOutCount[];
}

export interface LeftOutCount {
  reason: LeftOut_Reason;
  count: number;
}
