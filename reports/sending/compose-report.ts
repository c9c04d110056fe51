// The mail of a report for one period: the board is rendered once, and each recipient's mail is made of it.

import { overviewId } from '../../platform/dashboards/overview-dashboard.ts';
import type { MailContent } from '../../platform/mail/texts/compose-mail.ts';
import type { RenderedPeriod } from '../../platform/reports/rendered-period.ts';
import { reportLinkUrl } from '../../platform/reports/report-link.ts';
import type { ReportPeriod } from '../../platform/reports/report-schedule.ts';
import {
  ReportFrequency,
  type ReportRecipient,
} from '../../proto/gen/dashboard/reports/v1/reports_pb.js';
import { Granularity } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { periodName } from '../content/bucket-name.ts';
import { reportMail } from '../mail/report-mail.ts';
import type { OwnedReport } from '../owned-reports.ts';
import type { ReportParts } from './report-parts.ts';

/** What is said of this sending beside the figures. */
interface Occasion {
  leftOut: number;
  isTest: boolean;
}

export interface RenderedReport {
  isComplete: boolean;
  /** Whether a tile failed for a reason that may pass. */
  mayGetBetter: boolean;
  /** For a recipient: members see the board as it is, others as a shared one. */
  mailFor(recipient: Pick<ReportRecipient, 'customerId' | 'key'>, occasion: Occasion): MailContent;
}

const lasting = new Set(['invalid_argument', 'not_found', 'failed_precondition']);

/** Undefined where the board is gone. Throws what rendering throws. */
export async function renderReport(
  parts: ReportParts,
  owned: OwnedReport,
  period: ReportPeriod,
): Promise<RenderedReport | undefined> {
  const { projectId, report } = owned;
  const frequency = report.schedule?.frequency ?? ReportFrequency.DAILY;
  const isDay = frequency === ReportFrequency.DAILY;
  const calendar = parts.calendarOf(projectId);
  const { timezone } = calendar;
  const granularity = isDay ? Granularity.HOUR : Granularity.DAY;
  const asked = { ...period, granularity, ...calendar };
  const rendered = await parts.renderPeriod(projectId, report.dashboardId, asked);
  if (rendered === undefined) return undefined;
  const isComplete = rendered.completeUntilMs >= period.toMs;
  return {
    isComplete,
    mayGetBetter: rendered.tiles.some(
      ({ content }) => content.case === 'error' && !lasting.has(content.value.code),
    ),
    mailFor: (recipient, occasion) => {
      const isIncomplete = !isComplete;
      const said = { ...occasion, isIncomplete, period: periodName(frequency, timezone, period) };
      return mailOf(parts, owned, { rendered, recipient, said });
    },
  };
}

function mailOf(
  { projectName, organizationName, publicUrl }: ReportParts,
  { projectId, organizationId, report }: OwnedReport,
  {
    rendered,
    recipient,
    said,
  }: {
    rendered: RenderedPeriod;
    recipient: Pick<ReportRecipient, 'customerId' | 'key'>;
    said: Occasion & { isIncomplete: boolean; period: string };
  },
): MailContent {
  const isMember = recipient.customerId !== '';
  const { dashboardId } = report;
  // The built-in board is the first page of a project.
  const page = dashboardId === overviewId ? '' : `/boards/${dashboardId}`;
  const link = { projectId, reportId: report.id, key: recipient.key };
  return reportMail({
    ...said,
    reportName: report.displayName,
    projectName: projectName(projectId),
    organizationName: organizationName(organizationId),
    boardName: rendered.displayName,
    comparedWith: comparedWith(report.schedule?.frequency),
    tiles: isMember ? rendered.tiles : rendered.tilesForStrangers,
    ...(isMember && { statements: rendered.statements }),
    boardUrl: isMember ? `${publicUrl()}/p/${projectId}${page}` : undefined,
    unsubscribeUrl: reportLinkUrl(publicUrl(), link),
  });
}

function comparedWith(frequency: ReportFrequency = ReportFrequency.DAILY): string {
  switch (frequency) {
    case ReportFrequency.WEEKLY:
      return 'the week before';
    case ReportFrequency.MONTHLY:
      return 'the month before';
    case ReportFrequency.DAILY:
    case ReportFrequency.UNSPECIFIED:
      return 'the day before';
    default:
      return frequency satisfies never;
  }
}
