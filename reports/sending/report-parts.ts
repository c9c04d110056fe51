// What the turns, the preview and the test of reports are made with.

import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { Mail, MailOutcome } from '../../platform/mail/mail.ts';
import type { RenderPeriod } from '../../platform/reports/rendered-period.ts';
import type { ReportStateRecord } from '../../platform/reports/report-state.ts';
import type { HeldRecord, LeasedBucket } from '../../platform/turns/held-record.ts';
import type { Calendar } from '../../platform/zones/weeks.ts';
import type { OwnedReports } from '../owned-reports.ts';

export interface ProjectPlace {
  organizationId: string;
  projectId: string;
}

export interface ReportParts {
  reports: Pick<OwnedReports, 'find'>;
  states: LeasedBucket<ReportStateRecord>;
  renderPeriod: RenderPeriod;
  /** Those of the customers who may see the project and have proven their address. */
  members(
    project: ProjectPlace,
    customerIds: readonly string[],
  ): readonly { customerId: string; email: string }[];
  /** Whether the address is not one of a member who may not see the project. */
  mayGet(project: ProjectPlace, email: string): boolean;
  /** By the organization's own e-mail provider, else the instance's. Takes at most 40 s. */
  sendMail(organizationId: string, mail: Mail): Promise<MailOutcome>;
  /** Counts a mail of the organization; above 0, it may send the next one in so many seconds. */
  takeMail(organizationId: string): number;
  projectName(projectId: string): string;
  organizationName(organizationId: string): string;
  /** The zone of a project's reports, and the day that its weeks begin on. */
  calendarOf(projectId: string): Calendar;
  /** Where people reach the service, without a slash at the end. */
  publicUrl(): string;
  clock: Clock;
  log: Log;
}

export type HeldReport = HeldRecord<ReportStateRecord>;
