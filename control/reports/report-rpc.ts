// ReportsService without Preview and Test: checks requests about reports and makes the answers, each with its runs.
// Keeping reports is control/project-items'; sending them is reports/'s.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { newId } from '../../platform/access/ids.ts';
import type { ProjectRecord } from '../../platform/access/projects.ts';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import type { ReadDashboard } from '../../platform/dashboards/dashboard-reader.ts';
import { recipientName } from '../../platform/reports/report-link.ts';
import {
  type CreateRequest,
  type DeleteRequest,
  type GetRequest,
  type Report,
  type ReportRecipient,
  ReportRecipientState,
  type ReportRun,
  ReportSchema,
  type SendConfirmationRequest,
  type UpdateRequest,
} from '../../proto/gen/dashboard/reports/v1/reports_pb.js';
import { refuseLargeItem, refuseMoreItems } from '../project-items/item-bounds.ts';
import {
  createItemStore,
  type ItemStore,
  type ItemStoreDeps,
} from '../project-items/item-store.ts';
import type { ProjectsByOrganization } from '../projects/by-organization.ts';
import { displayNameField, emailField, invalidArgument, requiredField } from '../request-fields.ts';
import type { SignedInMember, SignedInProjectMember } from '../signed-in-customer.ts';
import { type AskDeps, askRecipients, countQuestions } from './ask-recipients.ts';
import {
  isOther,
  type RecipientDeps,
  recipientsField,
  refuseOthers,
  scheduleField,
} from './report-fields.ts';
import { type ReportStateBucket, readRuns, shownReport } from './report-view.ts';

export interface ReportDeps extends Omit<RecipientDeps, 'directory'>, Omit<AskDeps, 'directory'> {
  directory: RecipientDeps['directory'] & AskDeps['directory'];
  reports: ItemStore<Report>;
  reportStates: ReportStateBucket;
  byOrganization: ProjectsByOrganization;
  projects: Pick<WatchedBucket<ProjectRecord>, 'get'>;
  readDashboard: ReadDashboard;
}

type Caller = SignedInMember & SignedInProjectMember;

export const maxReports = 20;
/** Each is a board that is rendered again and again. */
const ofOrganization = { kind: 'reports', max: 100 } as const;
const reportSize = { noun: 'a report', maxBytes: 16_384, field: 'recipients' } as const;

export function createReports(deps: ItemStoreDeps): ItemStore<Report> {
  const kind = { kind: 'reports', noun: 'report', max: maxReports } as const;
  return createItemStore(deps, { ...kind, schema: ReportSchema }, (message) => message);
}

export async function listReports(
  deps: ReportDeps,
  { projectId }: SignedInProjectMember,
): Promise<{ reports: Report[] }> {
  const shown = deps.reports.listPlaced(projectId).map(async ({ item, place }) => {
    return asShown(
      deps,
      projectId,
      item,
      await readRuns(deps.reportStates, projectId, place, item),
    );
  });
  return { reports: await Promise.all(shown) };
}

export async function getReport(
  deps: ReportDeps,
  request: Pick<GetRequest, 'id'>,
  { projectId }: SignedInProjectMember,
): Promise<{ report: Report; runs: ReportRun[] }> {
  const id = requiredField('id', request.id);
  const { item, place } = await deps.reports.findPlaced(projectId, id);
  const runs = await readRuns(deps.reportStates, projectId, place, item);
  return { report: asShown(deps, projectId, item, runs), runs };
}

export async function createReport(
  deps: ReportDeps,
  request: CreateRequest,
  caller: Caller,
): Promise<{ report: Report }> {
  const { customerIds, emails } = request;
  const isForCaller = customerIds.length === 0 && emails.length === 0;
  const asked = isForCaller ? { customerIds: [caller.customerId], emails } : request;
  const now = timestampFromMs(deps.clock.nowMs());
  const report = create(ReportSchema, {
    id: newId(),
    displayName: displayNameField('displayName', request.displayName),
    dashboardId: await dashboardField(deps, request.dashboardId, caller),
    schedule: scheduleField(request.schedule),
    recipients: recipientsField(deps, '', asked, caller),
    ...{ activeTime: now, createTime: now, updateTime: now },
  });
  const others = report.recipients.filter(isOther);
  refuseOthers(deps, others, caller);
  refuseLargeItem(ReportSchema, report, reportSize);
  refuseMoreItems(deps.reports, deps.byOrganization, caller.organizationId, ofOrganization);
  countQuestions(deps, others, caller);
  await deps.reports.create(caller, report);
  askRecipients(deps, report, others, caller);
  return { report: asShown(deps, caller.projectId, report, []) };
}

export async function updateReport(
  deps: ReportDeps,
  request: UpdateRequest,
  caller: Caller,
): Promise<{ report: Report }> {
  const id = requiredField('id', request.id);
  const { displayName, dashboardId, schedule, isPaused, recipients } = request;
  const now = timestampFromMs(deps.clock.nowMs());
  const given = {
    ...(displayName !== undefined && { displayName: displayNameField('displayName', displayName) }),
    ...(dashboardId !== undefined && {
      dashboardId: await dashboardField(deps, dashboardId, caller),
    }),
    ...(schedule !== undefined && { schedule: scheduleField(schedule) }),
    ...(isPaused !== undefined && { isPaused }),
    updateTime: now,
  };
  const named = recipients && recipientsField(deps, 'recipients.', recipients, caller);
  if (named?.length === 0) {
    throw invalidArgument('recipients', 'must name somebody: pause the report instead');
  }
  const before = await deps.reports.find(caller.projectId, id);
  const others = newOthers(named ?? [], before.recipients);
  refuseOthers(deps, others, caller);
  // Whoever is no member was named for one board, as a link is made for one.
  const isOtherBoard = dashboardId !== undefined && dashboardId !== before.dashboardId;
  if (isOtherBoard) refuseOthers(deps, (named ?? before.recipients).filter(isOther), caller);
  countQuestions(deps, others, caller);
  const after = await deps.reports.change(caller, id, (report) => {
    const isResumed = report.isPaused && isPaused === false;
    const changed = {
      ...report,
      ...given,
      ...((schedule !== undefined || isResumed) && { activeTime: now }),
      ...(named !== undefined && { recipients: withStates(named, report.recipients) }),
    };
    refuseLargeItem(ReportSchema, changed, reportSize);
    return changed;
  });
  const added = after.recipients.filter(({ key }) => others.some((one) => one.key === key));
  askRecipients(deps, after, added, caller);
  const { report } = await getReport(deps, { id }, caller);
  return { report };
}

export async function deleteReport(
  { reports }: Pick<ReportDeps, 'reports'>,
  request: DeleteRequest,
  { projectId }: SignedInProjectMember,
): Promise<Record<string, never>> {
  await reports.delete(projectId, requiredField('id', request.id));
  return {};
}

export async function sendConfirmation(
  deps: ReportDeps,
  request: SendConfirmationRequest,
  caller: Caller,
): Promise<Record<string, never>> {
  const id = requiredField('id', request.id);
  const email = emailField('email', request.email);
  const report = await deps.reports.find(caller.projectId, id);
  const asked = report.recipients.filter((one) => one.email === email);
  if (asked.length === 0) throw new ConnectError('email: is no recipient', Code.NotFound);
  if (asked.some(({ state }) => state !== ReportRecipientState.UNCONFIRMED)) {
    throw new ConnectError('email: has answered already', Code.FailedPrecondition);
  }
  refuseOthers(deps, asked, caller);
  countQuestions(deps, asked, caller);
  askRecipients(deps, report, asked, caller);
  return {};
}

function asShown(
  { projects, clock }: ReportDeps,
  projectId: string,
  report: Report,
  runs: readonly ReportRun[],
): Report {
  const timezone = projects.get(projectId)?.record.timezone ?? 'UTC';
  return shownReport(report, runs, { timezone, nowMs: clock.nowMs() });
}

async function dashboardField(
  { readDashboard }: Pick<ReportDeps, 'readDashboard'>,
  sent: string,
  { projectId }: Caller,
): Promise<string> {
  const id = requiredField('dashboardId', sent);
  if ((await readDashboard(projectId, id)) !== undefined) return id;
  throw invalidArgument('dashboardId', 'is no dashboard of the project');
}

/** Whoever is among those before keeps the entry. */
function withStates(
  named: readonly ReportRecipient[],
  before: readonly ReportRecipient[],
): ReportRecipient[] {
  const known = new Map(before.map((one) => [recipientName(one), one]));
  return named.map((one) => known.get(recipientName(one)) ?? one);
}

function newOthers(
  named: readonly ReportRecipient[],
  before: readonly ReportRecipient[],
): ReportRecipient[] {
  return withStates(named, before).filter((one) => isOther(one) && !before.includes(one));
}
