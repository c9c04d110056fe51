// What each form of a question is turned into: one statement, and the reading of its rows. All numbers of an answer
// come from this statement, so that they are of one moment; a row begins with the part of the answer that it is of.
// Only days that are kept are as they were when the question was asked. Names may be looked up for the rows.

import type {
  LeftOut_Reason,
  QueryResponse,
} from '../../../proto/gen/shared/insights/v1/insights_pb.js';

export interface Plan {
  /** A SELECT. */
  sql: string;
  /** The most rows that it can answer. */
  maxRows: number;
  /** One after the other, each told the rows until then; undefined where nothing is missing. */
  lookUps?: readonly ((rows: readonly unknown[][]) => LookUp | undefined)[];
  /** Takes the rows of the statement and of all look-ups. They tell all that happened before `untilMs`. */
  read(rows: readonly unknown[][], untilMs: number): Answer;
}

/** Like a plan's own statement. */
export type LookUp = Pick<Plan, 'sql' | 'maxRows'>;

export interface Answer {
  result: QueryResponse['result'];
  leftOut: readonly LeftOutCount[];
}

export interface LeftOutCount {
  reason: LeftOut_Reason;
  count: number;
}
