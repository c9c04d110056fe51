// The table of access: one row for every served method. Nothing here reads a request; that is authenticate.ts.
//
// To add a method, add one line to `accessTable`. The key is `package.Service/Method` as in the .proto file, the
// value is one of the rows named below. Where none fits, name a new one: its credential classes, where a customer
// needs a role (`scope`), and the least role. The second name of a whole service goes into `serviceAliases`. A
// process does not start while a registered method has no row; access-table.test.ts compares the table with the
// .proto files, and test/access-matrix.test.ts repeats each method's need on purpose.

import { maxBodyBytes, maxIdentityBodyBytes } from '../limits.ts';
import type { Role } from './organizations.ts';
import type { KeyScope } from './projects.ts';

/** `jwt` = a customer's token; `none` = the method is open to everybody. */
type CredentialClass = 'none' | 'public-key' | 'private-key' | 'jwt';

export interface AccessRow {
  credentials: readonly CredentialClass[];
  /**
   * A customer needs `role` in the project of x-project-id, in the organization that the request names, or nowhere;
   * `instance`: they must be a super admin.
   */
  scope: 'nothing' | 'organization' | 'project' | 'instance';
  /** The least role that suffices. */
  role: Role;
  /** What a private key's scope must be, where it has one; `all`: none that is narrower opens it. */
  keyScope: KeyScope | 'all';
  /** The longest body, as it is sent and after decompression. */
  maxBodyBytes: number;
  /** Whether the rate of calls is limited for each customer and organization: they can make records grow. */
  growsRecords: boolean;
}

const KiB = 1_024;
/** Requests of accounts hold a few texts. Each field has its bound in request-bounds.ts. */
const forms = 64 * KiB;
/** Filters: 64 KiB of text, up to three times as long as JSON may write what is not ASCII, and room for names. */
const filters = 256 * KiB;

/** A dashboard has 512 KiB; JSON may write what is not ASCII longer. The router reads no longer JSON. */
const boards = 1_024 * KiB;

/** A part of a file has 512 KiB; JSON writes it longer by a third. */
const fileParts = 1_024 * KiB;

const open: AccessRow = {
  credentials: ['none'],
  scope: 'nothing',
  role: 'viewer',
  keyScope: 'all',
  maxBodyBytes: forms,
  growsRecords: false,
};
const keys = ['public-key', 'private-key', 'jwt'] as const;
/** Writes from browsers, mobile apps and servers. */
const sdk: AccessRow = {
  credentials: keys,
  scope: 'project',
  role: 'member',
  keyScope: 'write',
  maxBodyBytes,
  growsRecords: false,
};
/** Traits and ids of one profile. */
const identity: AccessRow = { ...sdk, maxBodyBytes: maxIdentityBodyBytes };
/** Reads by servers and by customers. */
const shared: AccessRow = {
  ...sdk,
  credentials: keys.slice(1),
  role: 'viewer',
  keyScope: 'read',
  maxBodyBytes: filters,
};
/** What reads, and takes room while it is kept. */
const sharedKeeping: AccessRow = { ...shared, role: 'member' };
/** Changes by servers and by customers. */
const sharedWrite: AccessRow = { ...shared, role: 'member', keyScope: 'all' };
const sharedAdmin: AccessRow = { ...sharedWrite, role: 'admin' };
/** Any customer: the method concerns their own account, or narrows its answer by itself. */
const customer: AccessRow = { ...open, credentials: ['jwt'] };
const operator: AccessRow = { ...customer, scope: 'instance' };
const inOrganization = (role: Role): AccessRow => ({ ...customer, scope: 'organization', role });
const inProject = (role: Role): AccessRow => ({ ...customer, scope: 'project', role });
/** Whole dashboards. */
const boardChange: AccessRow = { ...inProject('member'), maxBodyBytes: boards, growsRecords: true };
const growing = (row: AccessRow): AccessRow => ({ ...row, growsRecords: true });

/** `package.Service/Method` to the row that says who may call it. A method without a row is closed to everybody. */
export const accessTable: ReadonlyMap<string, AccessRow> = new Map([
  ['public.auth.v1.AuthService/SignUp', open],
  ['public.auth.v1.AuthService/SignIn', open],
  ['public.auth.v1.AuthService/SignInWithMagicLink', open],
  ['public.auth.v1.AuthService/ListOAuthProviders', open],
  ['public.auth.v1.AuthService/StartOAuth', open],
  ['public.auth.v1.AuthService/SignInWithOAuth', open],
  ['public.auth.v1.AuthService/SignInWithSecondFactor', open],
  ['public.auth.v1.AuthService/OpenDemo', open],
  ['public.auth.v1.AuthService/RefreshToken', open],
  ['public.auth.v1.AuthService/SignOut', open],
  ['dashboard.orgs.v1.OrgsService/Create', growing(customer)],
  ['dashboard.orgs.v1.OrgsService/Get', inOrganization('viewer')],
  ['dashboard.orgs.v1.OrgsService/List', customer],
  ['dashboard.orgs.v1.OrgsService/Update', growing(inOrganization('admin'))],
  ['dashboard.orgs.v1.OrgsService/InviteMember', growing(inOrganization('admin'))],
  ['dashboard.orgs.v1.OrgsService/ListMembers', inOrganization('viewer')],
  ['dashboard.orgs.v1.OrgsService/RemoveMember', inOrganization('admin')],
  ['dashboard.orgs.v1.OrgsService/UpdateMemberRole', growing(inOrganization('admin'))],
  ['dashboard.orgs.v1.OrgsService/UpdateMemberProjects', growing(inOrganization('admin'))],
  ['dashboard.orgs.v1.OrgsService/ListInvitations', inOrganization('viewer')],
  ['dashboard.orgs.v1.OrgsService/ResendInvite', growing(inOrganization('admin'))],
  ['dashboard.orgs.v1.OrgsService/RevokeInvite', inOrganization('admin')],
  ['dashboard.orgs.v1.OrgsService/AcceptInvite', growing(customer)],
  ['dashboard.orgs.v1.OrgsService/Leave', inOrganization('viewer')],
  ['dashboard.orgs.v1.OrgsService/CreateOrgKey', growing(inOrganization('admin'))],
  ['dashboard.orgs.v1.OrgsService/ListOrgKeys', inOrganization('viewer')],
  ['dashboard.orgs.v1.OrgsService/RevokeOrgKey', inOrganization('admin')],
  ['dashboard.orgs.v1.OrgsService/Delete', inOrganization('admin')],
  ['dashboard.projects.v1.ProjectsService/Create', growing(inOrganization('admin'))],
  ['dashboard.projects.v1.ProjectsService/Get', inProject('viewer')],
  ['dashboard.projects.v1.ProjectsService/List', customer],
  ['dashboard.projects.v1.ProjectsService/Update', growing(inProject('admin'))],
  ['dashboard.projects.v1.ProjectsService/CreateApiKey', growing(inProject('admin'))],
  ['dashboard.projects.v1.ProjectsService/ListApiKeys', inProject('viewer')],
  ['dashboard.projects.v1.ProjectsService/RevokeApiKey', inProject('admin')],
  ['dashboard.projects.v1.ProjectsService/Delete', inOrganization('admin')],
  ['dashboard.projects.v1.ProjectsService/ListDeletions', inOrganization('admin')],
  ['dashboard.customers.v1.CustomersService/List', customer],
  ['dashboard.customers.v1.CustomersService/Get', customer],
  ['dashboard.customers.v1.CustomersService/Update', growing(customer)],
  ['dashboard.customers.v1.CustomersService/GetSecondFactor', customer],
  ['dashboard.customers.v1.CustomersService/StartSecondFactor', growing(customer)],
  ['dashboard.customers.v1.CustomersService/ConfirmSecondFactor', growing(customer)],
  ['dashboard.customers.v1.CustomersService/RenewRecoveryCodes', growing(customer)],
  ['dashboard.customers.v1.CustomersService/RemoveSecondFactor', customer],
  ['dashboard.customers.v1.CustomersService/Delete', customer],
  ['dashboard.orgemailproviders.v1.OrgEmailProvidersService/Get', inOrganization('viewer')],
  [
    'dashboard.orgemailproviders.v1.OrgEmailProvidersService/Upsert',
    growing(inOrganization('admin')),
  ],
  ['dashboard.orgemailproviders.v1.OrgEmailProvidersService/Delete', inOrganization('admin')],
  [
    'dashboard.orgemailproviders.v1.OrgEmailProvidersService/SendTest',
    growing(inOrganization('admin')),
  ],
  ['dashboard.operator.v1.OperatorService/GetHealth', operator],
  ['dashboard.operator.v1.OperatorService/ListLedgerHours', operator],
  ['dashboard.operator.v1.OperatorService/ListDeadLetters', operator],
  ['dashboard.dashboards.v1.DashboardsService/List', inProject('viewer')],
  ['dashboard.dashboards.v1.DashboardsService/Get', inProject('viewer')],
  ['dashboard.dashboards.v1.DashboardsService/Create', boardChange],
  ['dashboard.dashboards.v1.DashboardsService/Update', boardChange],
  ['dashboard.dashboards.v1.DashboardsService/Upsert', boardChange],
  ['dashboard.dashboards.v1.DashboardsService/Delete', inProject('member')],
  [
    'dashboard.dashboards.v1.DashboardsService/Render',
    { ...inProject('viewer'), maxBodyBytes: filters },
  ],
  ['dashboard.dashboards.v1.DashboardsService/CreateShare', growing(inProject('admin'))],
  ['dashboard.dashboards.v1.DashboardsService/ListShares', inProject('admin')],
  ['dashboard.dashboards.v1.DashboardsService/RevokeShare', inProject('admin')],
  ['public.dashboards.v1.SharedDashboardsService/Render', open],
  ['dashboard.annotations.v1.AnnotationsService/List', inProject('viewer')],
  ['dashboard.annotations.v1.AnnotationsService/Get', inProject('viewer')],
  ['dashboard.annotations.v1.AnnotationsService/Create', growing(inProject('member'))],
  ['dashboard.annotations.v1.AnnotationsService/Update', growing(inProject('member'))],
  ['dashboard.annotations.v1.AnnotationsService/Delete', inProject('member')],
  ['dashboard.goals.v1.GoalsService/List', inProject('viewer')],
  ['dashboard.goals.v1.GoalsService/Get', inProject('viewer')],
  ['dashboard.goals.v1.GoalsService/Create', growing(inProject('member'))],
  ['dashboard.goals.v1.GoalsService/Update', growing(inProject('member'))],
  ['dashboard.goals.v1.GoalsService/Delete', inProject('member')],
  ['dashboard.goals.v1.GoalsService/Measure', { ...inProject('viewer'), maxBodyBytes: filters }],
  ['dashboard.segments.v1.SegmentsService/List', inProject('viewer')],
  ['dashboard.segments.v1.SegmentsService/Get', inProject('viewer')],
  ['dashboard.segments.v1.SegmentsService/Create', growing(inProject('member'))],
  ['dashboard.segments.v1.SegmentsService/Update', growing(inProject('member'))],
  ['dashboard.segments.v1.SegmentsService/Delete', inProject('member')],
  ['dashboard.segments.v1.SegmentsService/Count', inProject('viewer')],
  ['dashboard.alerts.v1.AlertsService/List', inProject('viewer')],
  ['dashboard.alerts.v1.AlertsService/Get', inProject('viewer')],
  ['dashboard.alerts.v1.AlertsService/Create', growing(inProject('member'))],
  ['dashboard.alerts.v1.AlertsService/Update', growing(inProject('member'))],
  ['dashboard.alerts.v1.AlertsService/Delete', inProject('member')],
  ['dashboard.alerts.v1.AlertsService/Test', growing(inProject('member'))],
  ['dashboard.reports.v1.ReportsService/List', inProject('viewer')],
  ['dashboard.reports.v1.ReportsService/Get', inProject('viewer')],
  ['dashboard.reports.v1.ReportsService/Create', growing(inProject('member'))],
  ['dashboard.reports.v1.ReportsService/Update', growing(inProject('member'))],
  ['dashboard.reports.v1.ReportsService/Delete', inProject('member')],
  ['dashboard.reports.v1.ReportsService/Preview', inProject('viewer')],
  ['dashboard.reports.v1.ReportsService/Test', growing(inProject('member'))],
  ['dashboard.reports.v1.ReportsService/SendConfirmation', growing(inProject('member'))],
  ['public.reports.v1.MailedReportsService/Get', open],
  ['public.reports.v1.MailedReportsService/Confirm', open],
  ['public.reports.v1.MailedReportsService/Unsubscribe', open],
  ['dashboard.imports.v1.ImportsService/List', inProject('viewer')],
  ['dashboard.imports.v1.ImportsService/Create', growing(inProject('admin'))],
  [
    'dashboard.imports.v1.ImportsService/Upload',
    { ...inProject('admin'), maxBodyBytes: fileParts },
  ],
  ['dashboard.imports.v1.ImportsService/Start', growing(inProject('admin'))],
  ['dashboard.imports.v1.ImportsService/Cancel', inProject('admin')],
  ['dashboard.exports.v1.ExportSchedulesService/List', inProject('viewer')],
  ['dashboard.exports.v1.ExportSchedulesService/Get', inProject('viewer')],
  [
    'dashboard.exports.v1.ExportSchedulesService/Create',
    { ...growing(inProject('admin')), maxBodyBytes: filters },
  ],
  ['dashboard.exports.v1.ExportSchedulesService/Update', growing(inProject('admin'))],
  ['dashboard.exports.v1.ExportSchedulesService/Delete', inProject('admin')],
  ['dashboard.exports.v1.ExportSchedulesService/Run', growing(inProject('admin'))],
  ['sdk.events.v1.EventsService/BatchCreate', sdk],
  ['events.v1.EventsService/BatchCreate', sdk],
  ['sdk.profiles.v1.ProfilesSDKService/Identify', identity],
  ['sdk.profiles.v1.ProfilesSDKService/Alias', identity],
  ['shared.profiles.v1.ProfilesService/Get', shared],
  ['shared.profiles.v1.ProfilesService/GetByExternalId', shared],
  ['shared.profiles.v1.ProfilesService/List', shared],
  ['shared.profiles.v1.ProfilesService/Delete', sharedWrite],
  ['shared.profiles.v1.ProfilesService/UnmergeProfile', sharedAdmin],
  ['shared.profiles.v1.ProfilesService/DeleteDataSubject', sharedAdmin],
  ['shared.profiles.v1.ProfilesService/GetDeletionRequest', sharedAdmin],
  ['shared.profiles.v1.ProfilesService/GetDataSubject', sharedAdmin],
  ['shared.activity.v1.ActivityService/List', shared],
  ['shared.activity.v1.ActivityService/Watch', shared],
  ['shared.activity.v1.ActivityService/IngestHealth', shared],
  ['shared.activity.v1.ActivityService/GetLiveFigures', shared],
  ['shared.activity.v1.ActivityService/FindStored', shared],
  ['shared.activity.v1.ActivityService/GetActivityFeed', shared],
  ['shared.activity.v1.ActivityService/GetEventExplorer', shared],
  ['shared.activity.v1.ActivityService/GetActivityHeatmap', shared],
  ['shared.activity.v1.ActivityService/GetProfileStats', shared],
  ['shared.activity.v1.ActivityService/ListVisits', shared],
  ['shared.activity.v1.ActivityService/GetFilterSchema', shared],
  ['shared.activity.v1.ActivityService/GetPropertyValues', shared],
  ['shared.insights.v1.InsightsService/Query', shared],
  ['shared.insights.v1.InsightsService/GetFilterSchema', shared],
  ['shared.insights.v1.InsightsService/GetPropertyValues', shared],
  ['shared.insights.v1.InsightsService/SegmentUsers', shared],
  ['shared.exports.v1.ExportsService/Create', sharedKeeping],
  ['shared.exports.v1.ExportsService/Get', shared],
  ['shared.exports.v1.ExportsService/List', shared],
  ['shared.exports.v1.ExportsService/Cancel', sharedKeeping],
]);

/** Services with a second name: alias to the name that `accessTable` has. */
export const serviceAliases: ReadonlyMap<string, string> = new Map([
  ['profiles.v1.ProfilesSDKService', 'sdk.profiles.v1.ProfilesSDKService'],
  ['profiles.v1.ProfilesService', 'shared.profiles.v1.ProfilesService'],
]);

/** The short paths of a page's two methods, each with the method's own path; `collectPath` is the first of them. */
export function shortPaths(collectPath: string): ReadonlyMap<string, string> {
  return new Map([
    [collectPath, '/sdk.events.v1.EventsService/BatchCreate'],
    [`${collectPath}/i`, '/sdk.profiles.v1.ProfilesSDKService/Identify'],
  ]);
}

/** The row of `package.Service/Method`, by either name of the service. */
export function accessRowOf(method: string): AccessRow | undefined {
  return accessTable.get(method) ?? accessTable.get(canonicalMethod(method));
}

/** `package.Service/Method` with an alias of the service replaced by its name. */
export function canonicalMethod(method: string): string {
  const slash = method.indexOf('/');
  const name = serviceAliases.get(method.slice(0, slash));
  return name === undefined ? method : name + method.slice(slash);
}
