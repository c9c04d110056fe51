// The messages that show a report with what is known of its runs. The record is reports/'s to write.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import type { RecordBucket } from '../../platform/broker/record-bucket.ts';
import { nextDue } from '../../platform/reports/report-schedule.ts';
import {
  type FailedMail,
  type ReportStateRecord,
  type RunRecord,
  reportStateKey,
} from '../../platform/reports/report-state.ts';
import {
  type Report,
  type ReportFailure,
  ReportFailureSchema,
  type ReportRun,
  ReportRunSchema,
  ReportRunState,
} from '../../proto/gen/dashboard/reports/v1/reports_pb.js';

export type ReportStateBucket = Pick<RecordBucket<ReportStateRecord>, 'get'>;

/** The newest first. */
export async function readRuns(
  states: ReportStateBucket,
  projectId: string,
  place: number,
  { id }: Report,
): Promise<ReportRun[]> {
  const found = await states.get(reportStateKey(projectId, place));
  if (found.kind !== 'found' || found.record.reportId !== id) return [];
  return found.record.runs.toReversed().map(runMessage);
}

/** As people see it: the keys of its links are left out. */
export function shownReport(
  report: Report,
  [lastRun]: readonly ReportRun[],
  { timezone, nowMs }: { timezone: string; nowMs: number },
): Report {
  const { schedule, isPaused, recipients } = report;
  const hasNext = schedule !== undefined && !isPaused;
  return {
    ...report,
    recipients: recipients.map((one) => ({ ...one, key: '' })),
    ...(lastRun !== undefined && { lastRun }),
    ...(hasNext && { nextTime: timestampFromMs(nextDue(schedule, timezone, nowMs).dueMs) }),
  };
}

function runMessage(run: RunRecord): ReportRun {
  const { id, dueMs, fromMs, toMs, sent, failed, failures, leftOut, isIncomplete } = run;
  return create(ReportRunSchema, {
    ...{ id, state: runState(run), sent, failed, leftOut, isIncomplete, problem: run.problem },
    ...{ time: timestampFromMs(dueMs), from: timestampFromMs(fromMs), to: timestampFromMs(toMs) },
    failures: failures.map(failureMessage),
    ...(run.endMs > 0 && { endTime: timestampFromMs(run.endMs) }),
  });
}

function runState({ isDone, sent, failed }: RunRecord): ReportRunState {
  if (!isDone) return ReportRunState.SENDING;
  if (sent === 0) return ReportRunState.FAILED;
  return failed > 0 ? ReportRunState.PARTLY_SENT : ReportRunState.SENT;
}

function failureMessage({ to, reason }: FailedMail): ReportFailure {
  const name = to.includes('@') ? { email: to } : { customerId: to };
  return create(ReportFailureSchema, { ...name, reason });
}
