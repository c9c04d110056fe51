// MailedReportsService: what a recipient sees and does by the link in a mail. A dead link and one that never opened
// anything get the same answer.

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import type { OrganizationDirectory } from '../../platform/access/organizations.ts';
import type { ProjectRecord } from '../../platform/access/projects.ts';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import {
  type ReportLink,
  readReportLink,
  recipientOf,
} from '../../platform/reports/report-link.ts';
import {
  type Report,
  ReportFrequency,
  type ReportRecipient,
  ReportRecipientState,
} from '../../proto/gen/dashboard/reports/v1/reports_pb.js';
import type { GetResponse } from '../../proto/gen/public/reports/v1/mailed_reports_pb.js';
import type { ItemStore } from '../project-items/item-store.ts';

export interface MailedReportDeps {
  reports: Pick<ItemStore<Report>, 'find' | 'changeInPlace'>;
  projects: Pick<WatchedBucket<ProjectRecord>, 'get'>;
  directory: Pick<OrganizationDirectory, 'get'>;
  clock: Clock;
}

type Answer = 'ACTIVE' | 'UNSUBSCRIBED';

export async function getMailedReport(
  deps: MailedReportDeps,
  { token }: { token: string },
): Promise<Omit<GetResponse, '$typeName' | '$unknown'>> {
  const { organizationId, report, recipient } = await openRecipient(deps, token);
  return {
    displayName: report.displayName,
    organization: deps.directory.get(organizationId)?.displayName ?? '',
    frequency: report.schedule?.frequency ?? ReportFrequency.UNSPECIFIED,
    state: recipient.state,
  };
}

/** The same answer twice changes nothing the second time. */
export async function answerMailedReport(
  deps: MailedReportDeps,
  { token }: { token: string },
  answer: Answer,
): Promise<Record<string, never>> {
  const { link, recipient } = await openRecipient(deps, token);
  const state = ReportRecipientState[answer];
  const stateTime = timestampFromMs(deps.clock.nowMs());
  if (recipient.state === state) return {};
  const changed = await deps.reports
    .changeInPlace(link.projectId, link.reportId, (before) => {
      const own = recipientOf(before, link);
      const recipients = before.recipients.map((one) =>
        one === own ? { ...one, state, stateTime } : one,
      );
      return { ...before, recipients };
    })
    .catch(noSuchLinkIfGone);
  if (recipientOf(changed, link) === undefined) throw noSuchLink();
  return {};
}

async function openRecipient(
  { projects, reports }: Pick<MailedReportDeps, 'projects' | 'reports'>,
  token: string,
): Promise<{
  link: ReportLink;
  organizationId: string;
  report: Report;
  recipient: ReportRecipient;
}> {
  const link = readReportLink(token);
  const project = link && projects.get(link.projectId)?.record;
  if (link === undefined || project === undefined) throw noSuchLink();
  const report = await reports.find(link.projectId, link.reportId).catch(noSuchLinkIfGone);
  const recipient = recipientOf(report, link);
  if (recipient === undefined) throw noSuchLink();
  return { link, organizationId: project.organizationId, report, recipient };
}

function noSuchLinkIfGone(error: unknown): never {
  const isGone = error instanceof ConnectError && error.code === Code.NotFound;
  throw isGone ? noSuchLink() : error;
}

function noSuchLink(): ConnectError {
  const message =
    'this link opens nothing: the report, or the address among its recipients, is gone';
  return new ConnectError(message, Code.NotFound);
}
