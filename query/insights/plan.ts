// What each form of a question is turned into: one statement, and the reading of its rows. A row is [part, ...]: the
// parts of an answer come from one statement, so that they are of one moment.

import type {
  LeftOut_Reason,
  QueryResponse,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';

export interface Plan {
  /** A SELECT; its parameters are the question's bindings. */
  sql: string;
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
