// Asks a question for the service itself: nobody's key counts it, and nobody can leave before the answer.

import type {
  QueryRequest,
  QueryResponse,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { startDeadline } from '../deadline.ts';
import type { RunQuestion } from './query-insight.ts';
import { maxInsightMs } from './run/run-insight.ts';

/** Throws what a question throws; an AbortError where it takes longer than half a minute. */
export type AskAlone = (projectId: string, request: QueryRequest) => Promise<QueryResponse>;

export function askAlone(run: RunQuestion): AskAlone {
  return (projectId, request) => {
    const { signal } = new AbortController();
    const deadline = startDeadline({ signal, timeoutMs: () => undefined }, maxInsightMs);
    return run({ projectId, request, deadline });
  };
}
