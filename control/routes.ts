// The methods of the accounts service: each with the function that answers it, and the person or project it acts for.
// A new method: 1. its definition below proto/, then `npm run generate`; 2. its row in platform/access/access-table.ts;
// 3. its function in a folder here, new dependencies in start.ts; 4. its line below; 5. its need in
// test/access-matrix.test.ts, unless it is the service's `*`; 6. a test beside the function. A new service also has a
// client in test/harness/services/accounts.ts. CONTRIBUTING.md says more.

import type { ConnectRouter, HandlerContext } from '@connectrpc/connect';
import { customerOf, principalOf } from '../platform/access/auth-interceptor.ts';
import { membershipOf } from '../platform/access/organization-interceptor.ts';
import { AlertsService } from '../proto/gen/dashboard/alerts/v1/alerts_pb.js';
import { AnnotationsService } from '../proto/gen/dashboard/annotations/v1/annotations_pb.js';
import { DashboardsService } from '../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { GoalsService } from '../proto/gen/dashboard/goals/v1/goals_pb.js';
import { ImportsService } from '../proto/gen/dashboard/imports/v1/imports_pb.js';
import { ReportsService } from '../proto/gen/dashboard/reports/v1/reports_pb.js';
import { SegmentsService } from '../proto/gen/dashboard/segments/v1/segments_pb.js';
import { MailedReportsService } from '../proto/gen/public/reports/v1/mailed_reports_pb.js';
import { type AccountDeps, registerAccounts } from './account-routes.ts';
import {
  type AlertDeps,
  createAlert,
  deleteAlert,
  getAlert,
  listAlerts,
  updateAlert,
} from './alerts/alert-rpc.ts';
import {
  type AnnotationDeps,
  createAnnotation,
  deleteAnnotation,
  getAnnotation,
  listAnnotations,
  updateAnnotation,
} from './annotations/annotation-rpc.ts';
import {
  createDashboardRpc,
  type DashboardDeps,
  deleteDashboardRpc,
  getDashboard,
  listDashboards,
  updateDashboard,
  upsertDashboard,
} from './dashboards/dashboard-rpc.ts';
import { createShare, listShares, revokeShare, type ShareDeps } from './dashboards/share-rpc.ts';
import {
  createGoal,
  deleteGoal,
  type GoalDeps,
  getGoal,
  listGoals,
  updateGoal,
} from './goals/goal-rpc.ts';
import {
  cancelImport,
  createImport,
  type ImportDeps,
  listImports,
  startImport,
  uploadImport,
} from './imports/import-rpc.ts';
import {
  type OrganizationDeps,
  registerOrganizations,
  registerProjects,
} from './organization-routes.ts';
import { answerMailedReport, getMailedReport } from './reports/mailed-report-rpc.ts';
import {
  createReport,
  deleteReport,
  getReport,
  listReports,
  type ReportDeps,
  sendConfirmation,
  updateReport,
} from './reports/report-rpc.ts';
import {
  createSegment,
  deleteSegment,
  getSegment,
  listSegments,
  type SegmentDeps,
  updateSegment,
} from './segments/segment-rpc.ts';

export type ControlDeps = AccountDeps &
  DashboardDeps &
  ShareDeps &
  AnnotationDeps &
  GoalDeps &
  SegmentDeps &
  AlertDeps &
  ReportDeps &
  ImportDeps &
  OrganizationDeps;

/**
 * Registers AuthService, OrgsService, ProjectsService, CustomersService, OrgEmailProvidersService, AnnotationsService,
 * ImportsService, MailedReportsService, DashboardsService without Render, GoalsService without Measure, SegmentsService
 * without Count, AlertsService without Test, and ReportsService without Preview and Test.
 */
export function registerControl(router: ConnectRouter, deps: ControlDeps): void {
  registerAccounts(router, deps);
  registerOrganizations(router, deps);
  registerProjects(router, deps);
  registerDashboards(router, deps);
  registerAnnotations(router, deps);
  registerGoals(router, deps);
  registerSegments(router, deps);
  registerAlerts(router, deps);
  registerReports(router, deps);
  registerImports(router, deps);
}

function registerDashboards(router: ConnectRouter, deps: ControlDeps): void {
  const { list, get, create, update, upsert, delete: remove } = DashboardsService.method;
  const caller = memberOfProject;
  router
    .rpc(list, (_, context) => listDashboards(deps, caller(context)))
    .rpc(get, (request, context) => getDashboard(deps, request, caller(context)))
    .rpc(create, (request, context) => createDashboardRpc(deps, request, caller(context)))
    .rpc(update, (request, context) => updateDashboard(deps, request, caller(context)))
    .rpc(upsert, (request, context) => upsertDashboard(deps, request, caller(context)))
    .rpc(remove, (request, context) => deleteDashboardRpc(deps, request, caller(context)));
  const { createShare: share, listShares: shares, revokeShare: revoke } = DashboardsService.method;
  router
    .rpc(share, (request, context) => createShare(deps, request, caller(context)))
    .rpc(shares, (request, context) => listShares(deps, request, principalOf(context)))
    .rpc(revoke, (request, context) => revokeShare(deps, request, principalOf(context)));
}

function registerAnnotations(router: ConnectRouter, deps: ControlDeps): void {
  const caller = memberOfProject;
  router.service(AnnotationsService, {
    list: (request, context) => listAnnotations(deps, request, principalOf(context)),
    get: (request, context) => getAnnotation(deps, request, principalOf(context)),
    create: (request, context) => createAnnotation(deps, request, caller(context)),
    update: (request, context) => updateAnnotation(deps, request, caller(context)),
    delete: (request, context) => deleteAnnotation(deps, request, caller(context)),
  });
}

function registerGoals(router: ConnectRouter, deps: ControlDeps): void {
  const { list, get, create, update, delete: remove } = GoalsService.method;
  const caller = memberOfProject;
  router
    .rpc(list, (_, context) => listGoals(deps, principalOf(context)))
    .rpc(get, (request, context) => getGoal(deps, request, principalOf(context)))
    .rpc(create, (request, context) => createGoal(deps, request, caller(context)))
    .rpc(update, (request, context) => updateGoal(deps, request, caller(context)))
    .rpc(remove, (request, context) => deleteGoal(deps, request, principalOf(context)));
}

function registerSegments(router: ConnectRouter, deps: ControlDeps): void {
  const { list, get, create, update, delete: remove } = SegmentsService.method;
  const caller = memberOfProject;
  router
    .rpc(list, (_, context) => listSegments(deps, principalOf(context)))
    .rpc(get, (request, context) => getSegment(deps, request, principalOf(context)))
    .rpc(create, (request, context) => createSegment(deps, request, caller(context)))
    .rpc(update, (request, context) => updateSegment(deps, request, caller(context)))
    .rpc(remove, (request, context) => deleteSegment(deps, request, principalOf(context)));
}

function registerAlerts(router: ConnectRouter, deps: ControlDeps): void {
  const { list, get, create, update, delete: remove } = AlertsService.method;
  const caller = memberOfProject;
  router
    .rpc(list, (_, context) => listAlerts(deps, principalOf(context)))
    .rpc(get, (request, context) => getAlert(deps, request, principalOf(context)))
    .rpc(create, (request, context) => createAlert(deps, request, caller(context)))
    .rpc(update, (request, context) => updateAlert(deps, request, caller(context)))
    .rpc(remove, (request, context) => deleteAlert(deps, request, principalOf(context)));
}

function registerReports(router: ConnectRouter, deps: ControlDeps): void {
  const {
    list,
    get,
    create,
    update,
    delete: remove,
    sendConfirmation: ask,
  } = ReportsService.method;
  const caller = memberOfProject;
  router
    .rpc(list, (_, context) => listReports(deps, principalOf(context)))
    .rpc(get, (request, context) => getReport(deps, request, principalOf(context)))
    .rpc(create, (request, context) => createReport(deps, request, caller(context)))
    .rpc(update, (request, context) => updateReport(deps, request, caller(context)))
    .rpc(remove, (request, context) => deleteReport(deps, request, principalOf(context)))
    .rpc(ask, (request, context) => sendConfirmation(deps, request, caller(context)));
  router.service(MailedReportsService, {
    get: (request) => getMailedReport(deps, request),
    confirm: (request) => answerMailedReport(deps, request, 'ACTIVE'),
    unsubscribe: (request) => answerMailedReport(deps, request, 'UNSUBSCRIBED'),
  });
}

function registerImports(router: ConnectRouter, deps: ControlDeps): void {
  router.service(ImportsService, {
    list: (_, context) => listImports(deps, principalOf(context)),
    create: (request, context) => {
      const { projectId } = principalOf(context);
      return createImport(deps, request, { ...customerOf(context), projectId });
    },
    upload: (request, context) => uploadImport(deps, request, principalOf(context)),
    start: (request, context) => startImport(deps, request, principalOf(context)),
    cancel: (request, context) => cancelImport(deps, request, principalOf(context)),
  });
}

function memberOfProject(context: HandlerContext) {
  return { ...membershipOf(context), projectId: principalOf(context).projectId };
}
