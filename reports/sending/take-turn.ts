// One turn at a report: takes its lease, begins the run that is due, then sends it step by step, each written when it
// is done. A process that dies leaves the rest to the turn after its lease.

import type { ReadResult } from '../../platform/broker/record-bucket.ts';
import {
  maxRuns,
  newReportState,
  type ReportStateRecord,
  type RunRecord,
  reportStateKey,
  withinBounds,
} from '../../platform/reports/report-state.ts';
import { HeldRecord, isLeased, LeaseLost } from '../../platform/turns/held-record.ts';
import type { OwnedReport } from '../owned-reports.ts';
import { dueRun, nextRunMs } from './due-run.ts';
import type { HeldReport, ReportParts } from './report-parts.ts';
import { finish, openRun, sendRun } from './send-run.ts';

/** A board takes two thirds of it at most; it is renewed before a mail. */
const leaseMs = 90_000;
const againMs = 10_000;
/** The project's zone may change meanwhile. */
const longestRestMs = 600_000;

/** Returns when the report's next turn is. Throws the bucket's errors. */
export async function takeTurn(parts: ReportParts, owned: OwnedReport): Promise<number> {
  const { states, clock, log } = parts;
  const key = reportStateKey(owned.projectId, owned.place);
  const found = await states.get(key);
  const record = stateOf(found, owned);
  const nowMs = clock.nowMs();
  if (isLeased(record, nowMs, leaseMs)) return record.leaseEndMs;
  const calendar = parts.calendarOf(owned.projectId);
  const due = dueRun(owned, record, { calendar, nowMs });
  const open = record.runs.find(({ isDone }) => !isDone);
  if (due === undefined && (open === undefined || open.nextTryMs > nowMs)) {
    return nextTurnMs(parts, owned, record, nowMs);
  }
  const held = await HeldRecord.take({ states, clock, leaseMs }, key, found, record);
  if (held === undefined) return nowMs + againMs;
  try {
    if (due !== undefined) await begin(parts, owned, held, due);
    await sendRun(parts, owned, held);
    await held.release();
    return nextTurnMs(parts, owned, held.record, nowMs);
  } catch (error) {
    if (!(error instanceof LeaseLost)) throw error;
    log.warn({ report: owned.report.id }, error.message);
    return nowMs + againMs;
  }
}

/** A run that is still open is given up for the newer one. */
async function begin(
  parts: ReportParts,
  owned: OwnedReport,
  held: HeldReport,
  due: RunRecord,
): Promise<void> {
  const open = openRun(held);
  if (open !== undefined) {
    await finish(parts, owned, held, open.problem || 'the next report was due');
  }
  const runs = [...held.record.runs, due].slice(-maxRuns);
  await held.write(withinBounds({ ...held.record, runs }));
}

/** `nowMs`: when this turn began; a run that came due while it was taken is the next turn's, at once. */
function nextTurnMs(
  { calendarOf }: ReportParts,
  owned: OwnedReport,
  { runs }: ReportStateRecord,
  nowMs: number,
): number {
  const { timezone } = calendarOf(owned.projectId);
  const open = runs.find(({ isDone }) => !isDone);
  const dueMs = nextRunMs(owned, { timezone, nowMs }) ?? Number.POSITIVE_INFINITY;
  return Math.min(open?.nextTryMs ?? dueMs, dueMs, nowMs + longestRestMs);
}

/** What the broker has of the report. Throws where another version of the service wrote it. */
function stateOf(found: ReadResult<ReportStateRecord>, { report }: OwnedReport): ReportStateRecord {
  switch (found.kind) {
    case 'found':
      return found.record.reportId === report.id ? found.record : newReportState(report.id);
    case 'absent':
      return newReportState(report.id);
    case 'unreadable':
      throw new Error(`the state of report ${report.id} cannot be read by this version`);
    default:
      return found satisfies never;
  }
}
