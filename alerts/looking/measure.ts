// Asks the question of an alert for one period, and for the period before where its condition is a change.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { askedOfPeriod } from '../../platform/alerts/alert-question.ts';
import { isOfChange } from '../../platform/alerts/condition-kind.ts';
import type { Alert } from '../../proto/gen/dashboard/alerts/v1/alerts_pb.js';
import {
  type QueryRequest,
  QueryRequestSchema,
  type QueryResponse,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { changePercent } from './next-state.ts';
import { type Period, periodBefore } from './periods.ts';

/** Answers as InsightsService.Query does, within half a minute. */
export type AskQuestion = (projectId: string, request: QueryRequest) => Promise<QueryResponse>;

export interface Measured {
  /** Null where there is nothing to compare. */
  value: number | null;
  /** Every event of before is in the value; undefined where nobody knows. */
  completeUntilMs: number | undefined;
}

/** Throws what questions throw. */
export async function measure(
  ask: AskQuestion,
  { projectId, alert, timezone }: { projectId: string; alert: Alert; timezone: string },
  period: Period,
): Promise<Measured> {
  const now = await periodValue(ask, projectId, alert, period);
  if (!isOfChange(alert.condition?.kind) || now.value === null) return now;
  const before = periodBefore(alert.interval, timezone, period);
  const former = await periodValue(ask, projectId, alert, before);
  const value = former.value === null ? null : changePercent(now.value, former.value);
  return { ...now, value };
}

async function periodValue(
  ask: AskQuestion,
  projectId: string,
  { spec }: Alert,
  { fromMs, toMs }: Period,
): Promise<Measured> {
  const timeRange = { from: timestampFromMs(fromMs), to: timestampFromMs(toMs) };
  const answers: QueryResponse[] = [];
  for (const asked of spec === undefined ? [] : askedOfPeriod(spec)) {
    answers.push(await ask(projectId, create(QueryRequestSchema, { spec: asked, timeRange })));
  }
  const [value = 0, over] = answers.flatMap(valuesIn);
  const until = answers.map(({ completeUntil }) => completeUntil && timestampMs(completeUntil));
  const known = until.flatMap((ms) => (ms === undefined ? [] : [ms]));
  return {
    value: over === 0 ? null : value,
    completeUntilMs:
      known.length < until.length || known.length === 0 ? undefined : Math.min(...known),
  };
}

function valuesIn({ result }: QueryResponse): number[] {
  return result.case === 'segmentation' ? result.value.series.map(({ value = 0 }) => value) : [];
}
