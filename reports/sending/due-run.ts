// Which run of a report is to be begun: the newest one that is due and was not begun. Earlier ones, which were due
// while no process ran, are counted as left out.

import { randomUUID } from 'node:crypto';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { countDue, lastDue, nextDue, periodOf } from '../../platform/reports/report-schedule.ts';
import type { ReportStateRecord, RunRecord } from '../../platform/reports/report-state.ts';
import type { Calendar } from '../../platform/zones/weeks.ts';
import type { OwnedReport } from '../owned-reports.ts';

/** Runs that were left out, as a run tells them: counting more would keep a report that slept for years waiting. */
const maxCounted = 1_000;

/** Undefined where none is due. */
export function dueRun(
  { report }: OwnedReport,
  { runs }: Pick<ReportStateRecord, 'runs'>,
  { calendar, nowMs }: { calendar: Calendar; nowMs: number },
): RunRecord | undefined {
  const { schedule, isPaused, activeTime } = report;
  if (schedule === undefined || isPaused) return undefined;
  const activeMs = activeTime === undefined ? nowMs : timestampMs(activeTime);
  const { timezone } = calendar;
  const { day, dueMs } = lastDue(schedule, timezone, nowMs);
  const last = runs.at(-1);
  // Also where the hour or the zone was changed after the day's run.
  if (dueMs <= activeMs || day <= (last?.day ?? Number.NEGATIVE_INFINITY)) return undefined;
  const afterMs = Math.max(activeMs, last?.dueMs ?? 0);
  return {
    ...{ id: randomUUID(), day, dueMs, beginMs: nowMs, ...periodOf(schedule, calendar, day) },
    leftOut: countDue(schedule, timezone, { afterMs, beforeMs: dueMs, max: maxCounted }),
    ...{ isDone: false, isIncomplete: false, sentTo: [], sent: 0, failures: [], failed: 0 },
    ...{ tries: 0, nextTryMs: 0, problem: '', endMs: 0 },
  };
}

/** When the next run is due; undefined while the report is paused. */
export function nextRunMs(
  { report }: OwnedReport,
  { timezone, nowMs }: { timezone: string; nowMs: number },
): number | undefined {
  const { schedule, isPaused } = report;
  if (schedule === undefined || isPaused) return undefined;
  return nextDue(schedule, timezone, nowMs).dueMs;
}
