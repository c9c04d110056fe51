// ReportsService.Preview and Test: the mail for the newest complete period, shown or sent to the caller alone. Nothing
// of the report changes.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { createTokenBuckets } from '../../platform/access/token-bucket.ts';
import { periodOf, type ReportPeriod } from '../../platform/reports/report-schedule.ts';
import { dayAt } from '../../platform/zones/wall-clock.ts';
import {
  type PreviewRequest,
  type PreviewResponse,
  PreviewResponseSchema,
  type TestRequest,
  type TestResponse,
  TestResponseSchema,
} from '../../proto/gen/dashboard/reports/v1/reports_pb.js';
import type { OwnedReport } from '../owned-reports.ts';
import { type RenderedReport, renderReport } from './compose-report.ts';
import type { ReportParts } from './report-parts.ts';

export interface TryCaller {
  projectId: string;
  customerId: string;
}

/** A board is rendered for each: so many at once, then one in ten seconds. */
const triesAtOnce = 20;
const triesPerSecond = 0.1;

export function createTryReport(parts: ReportParts) {
  const tries = createTokenBuckets({
    perSecond: triesPerSecond,
    burst: triesAtOnce,
    clock: parts.clock,
  });
  const rendered = async (id: string, { projectId, customerId }: TryCaller) => {
    const waitSeconds = tries.take(customerId, 1);
    if (waitSeconds > 0) {
      const retry = { 'retry-after': String(waitSeconds) };
      throw new ConnectError('too many tries, try again later', Code.ResourceExhausted, retry);
    }
    const owned = await parts.reports.find(projectId, id);
    if (owned === undefined) throw new ConnectError('there is no such report', Code.NotFound);
    return { owned, ...(await renderNow(parts, owned)) };
  };
  return {
    async preview(request: PreviewRequest, caller: TryCaller): Promise<PreviewResponse> {
      const { made, period } = await rendered(request.id, caller);
      const customerId = request.forOthers ? '' : caller.customerId;
      const mail = made.mailFor({ customerId, key: noKey }, { leftOut: 0, isTest: false });
      return create(PreviewResponseSchema, {
        ...{ subject: mail.subject, text: mail.text, html: mail.html },
        ...{ from: timestampFromMs(period.fromMs), to: timestampFromMs(period.toMs) },
        isIncomplete: !made.isComplete,
      });
    },
    async test(request: TestRequest, caller: TryCaller): Promise<TestResponse> {
      const { owned, made } = await rendered(request.id, caller);
      const problem = await mailed(parts, owned, made, caller);
      return create(TestResponseSchema, { isMailed: problem === '', problem });
    },
  };
}

/** Of no recipient: the link of a mail that is none of the report's opens nothing. */
const noKey = '0'.repeat(32);

async function renderNow(
  parts: ReportParts,
  owned: OwnedReport,
): Promise<{ made: RenderedReport; period: ReportPeriod }> {
  const { schedule } = owned.report;
  const calendar = parts.calendarOf(owned.projectId);
  if (schedule === undefined) throw new Error(`report ${owned.report.id} has no schedule`);
  const period = periodOf(schedule, calendar, dayAt(calendar.timezone, parts.clock.nowMs()));
  const made = await renderReport(parts, owned, period);
  if (made !== undefined) return { made, period };
  throw new ConnectError(
    'the board of the report is gone: choose another',
    Code.FailedPrecondition,
  );
}

/** Why the caller has no mail; empty where the server took it. */
async function mailed(
  parts: ReportParts,
  owned: OwnedReport,
  { mailFor }: RenderedReport,
  { customerId }: TryCaller,
): Promise<string> {
  const [caller] = parts.members(owned, [customerId]);
  if (caller === undefined) return 'your address is not proven: open a link that was mailed to it';
  const { organizationId, report } = owned;
  if (parts.takeMail(organizationId) > 0) {
    return 'the organization sends more reports than may leave in an hour';
  }
  const own = report.recipients.find((one) => one.customerId === customerId);
  const recipient = { customerId, key: own?.key ?? noKey };
  const mail = mailFor(recipient, { leftOut: 0, isTest: true });
  const outcome = await parts.sendMail(organizationId, { ...mail, to: caller.email });
  return outcome.kind === 'sent' ? '' : outcome.reason;
}
