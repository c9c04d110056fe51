// Puts reports together for one process: their turns, and ReportsService.Preview and Test. What reports there are is
// control/'s to change.

import type { ConnectRouter, HandlerContext } from '@connectrpc/connect';
import { createTokenBuckets } from '../platform/access/token-bucket.ts';
import type { ItemSources } from '../platform/project-items/owned-items.ts';
import { runTurns, type Turns } from '../platform/turns/run-turns.ts';
import { type WeekSetting, weekStartOf } from '../platform/zones/weeks.ts';
import { ReportsService } from '../proto/gen/dashboard/reports/v1/reports_pb.js';
import { createOwnedReports, type OwnedReport } from './owned-reports.ts';
import type { ReportParts } from './sending/report-parts.ts';
import { takeTurn } from './sending/take-turn.ts';
import { createTryReport, type TryCaller } from './sending/try-report.ts';

/** A project as reports know it; undefined where it is gone. */
interface ProjectOfReports extends WeekSetting {
  organizationId: string;
  displayName: string;
  timezone: string;
}

export interface ReportsOptions
  extends Pick<ReportParts, 'states' | 'renderPeriod' | 'publicUrl' | 'clock' | 'log'> {
  items: ItemSources['items'];
  project(projectId: string): ProjectOfReports | undefined;
  mail: {
    members: ReportParts['members'];
    mayGet: ReportParts['mayGet'];
    send: ReportParts['sendMail'];
    organization(organizationId: string): { displayName: string } | undefined;
  };
  callerOf(context: HandlerContext): TryCaller;
}

/** Of an organization, in each process: so many mails at once, and so many more in an hour. */
const mailsAnHour = 400;

/** Registers the methods, and begins to send. */
export function startReports(router: ConnectRouter, options: ReportsOptions): Turns {
  const { items, project, mail, callerOf, clock, log } = options;
  const reports = createOwnedReports({
    items,
    organizationOf: (projectId) => project(projectId)?.organizationId,
  });
  const perSecond = mailsAnHour / 3_600;
  const mails = createTokenBuckets({ perSecond, burst: mailsAnHour, clock });
  const parts: ReportParts = {
    ...options,
    reports,
    ...{ members: mail.members, mayGet: mail.mayGet, sendMail: mail.send },
    takeMail: (organizationId) => mails.take(organizationId, 1),
    organizationName: (organizationId) => mail.organization(organizationId)?.displayName ?? '',
    projectName: (projectId) => project(projectId)?.displayName ?? '',
    calendarOf: (projectId) => ({
      timezone: project(projectId)?.timezone ?? 'UTC',
      weekStart: weekStartOf(project(projectId)),
    }),
  };
  const tries = createTryReport(parts);
  router
    .rpc(ReportsService.method.preview, (request, context) =>
      tries.preview(request, callerOf(context)),
    )
    .rpc(ReportsService.method.test, (request, context) => tries.test(request, callerOf(context)));
  return runTurns<OwnedReport>({
    ...{ noun: 'report', clock, log },
    all: () => reports.all(),
    nameOf: ({ report: { id, updateTime } }) => `${id} ${updateTime?.seconds} ${updateTime?.nanos}`,
    organizationOf: ({ organizationId }) => organizationId,
    take: (owned) => takeTurn(parts, owned),
  });
}
