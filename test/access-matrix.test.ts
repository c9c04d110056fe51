// Every method of every service against every kind of credential, over HTTP. The needs of each method are written down
// here a second time, on purpose: a wrong row in the table of access must not make its own test agree.

import { type DescMethod, type DescService, fromJson, type JsonObject } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessTable } from '../platform/access/access-table.ts';
import { Role } from '../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { ApiKeyKind, ApiKeyScope } from '../proto/gen/dashboard/projects/v1/projects_pb.js';
import { definedServices } from './harness/defined-services.ts';
import { useBroker } from './harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
  tokenIn,
} from './harness/services/accounts.ts';

type Need =
  | 'nothing'
  | 'customer'
  | `${'org' | 'project'} ${'viewer' | 'member' | 'admin'}`
  | 'sdk'
  | 'shared'
  | 'shared keeping'
  | 'shared write'
  | 'shared admin'
  | 'super admin';

const needs: Record<string, Record<string, Need>> = {
  'public.auth.v1.AuthService': { '*': 'nothing' },
  'dashboard.orgs.v1.OrgsService': {
    Create: 'customer',
    List: 'customer',
    AcceptInvite: 'customer',
    Get: 'org viewer',
    ListMembers: 'org viewer',
    ListInvitations: 'org viewer',
    ListOrgKeys: 'org viewer',
    Leave: 'org viewer',
    '*': 'org admin',
  },
  'dashboard.projects.v1.ProjectsService': {
    Create: 'org admin',
    List: 'customer',
    Get: 'project viewer',
    ListApiKeys: 'project viewer',
    Delete: 'org admin',
    ListDeletions: 'org admin',
    '*': 'project admin',
  },
  'dashboard.dashboards.v1.DashboardsService': {
    List: 'project viewer',
    Get: 'project viewer',
    Render: 'project viewer',
    CreateShare: 'project admin',
    ListShares: 'project admin',
    RevokeShare: 'project admin',
    '*': 'project member',
  },
  'dashboard.annotations.v1.AnnotationsService': {
    List: 'project viewer',
    Get: 'project viewer',
    '*': 'project member',
  },
  'dashboard.goals.v1.GoalsService': {
    List: 'project viewer',
    Get: 'project viewer',
    Measure: 'project viewer',
    '*': 'project member',
  },
  'dashboard.segments.v1.SegmentsService': {
    List: 'project viewer',
    Get: 'project viewer',
    Count: 'project viewer',
    '*': 'project member',
  },
  'dashboard.alerts.v1.AlertsService': {
    List: 'project viewer',
    Get: 'project viewer',
    '*': 'project member',
  },
  'dashboard.reports.v1.ReportsService': {
    List: 'project viewer',
    Get: 'project viewer',
    Preview: 'project viewer',
    '*': 'project member',
  },
  'public.reports.v1.MailedReportsService': { '*': 'nothing' },
  'dashboard.imports.v1.ImportsService': { List: 'project viewer', '*': 'project admin' },
  'dashboard.exports.v1.ExportSchedulesService': {
    List: 'project viewer',
    Get: 'project viewer',
    '*': 'project admin',
  },
  'public.dashboards.v1.SharedDashboardsService': { '*': 'nothing' },
  'dashboard.operator.v1.OperatorService': { '*': 'super admin' },
  'dashboard.customers.v1.CustomersService': { '*': 'customer' },
  'dashboard.orgemailproviders.v1.OrgEmailProvidersService': {
    Get: 'org viewer',
    '*': 'org admin',
  },
  'sdk.events.v1.EventsService': { '*': 'sdk' },
  'events.v1.EventsService': { '*': 'sdk' },
  'sdk.profiles.v1.ProfilesSDKService': { '*': 'sdk' },
  'shared.profiles.v1.ProfilesService': {
    Delete: 'shared write',
    UnmergeProfile: 'shared admin',
    DeleteDataSubject: 'shared admin',
    GetDeletionRequest: 'shared admin',
    GetDataSubject: 'shared admin',
    '*': 'shared',
  },
  'shared.activity.v1.ActivityService': { '*': 'shared' },
  'shared.insights.v1.InsightsService': { '*': 'shared' },
  'shared.exports.v1.ExportsService': {
    Get: 'shared',
    List: 'shared',
    '*': 'shared keeping',
  },
};

/** `in`: the call reached the method, whatever its answer. The others are refusals of the access check. */
type Verdict = 'in' | 'unauthenticated' | 'permission_denied' | 'not_found';

const credentials = [
  'none',
  'garbage',
  'expired token',
  "other organization's token",
  'viewer',
  'member',
  'admin',
  'member elsewhere',
  'public key',
  'private key',
  'writing key',
  'reading key',
  'expired key',
  "other project's key",
  'revoked key',
  'organization key',
  'removed member',
  'operator',
] as const;
type Credential = (typeof credentials)[number];

function expected(need: Need, credential: Credential): Verdict {
  if (need === 'nothing') return 'in';
  switch (credential) {
    case 'none':
    case 'garbage':
    case 'expired token':
    case 'revoked key':
    case 'expired key':
      return 'unauthenticated';
    case 'organization key':
      return 'permission_denied';
    case 'public key':
      return need === 'sdk' ? 'in' : 'permission_denied';
    case 'private key':
      return isOfKeys(need) ? 'in' : 'permission_denied';
    case 'writing key':
      return need === 'sdk' ? 'in' : 'permission_denied';
    case 'reading key':
      return need === 'shared' || need === 'shared keeping' ? 'in' : 'permission_denied';
    case "other project's key":
      return isOfKeys(need) ? 'not_found' : 'permission_denied';
    case "other organization's token":
    case 'removed member':
      if (need === 'super admin') return 'permission_denied';
      return need === 'customer' ? 'in' : 'not_found';
    case 'operator':
      return 'in';
    case 'admin':
      return need === 'super admin' ? 'permission_denied' : 'in';
    case 'member':
      return adminsOnly.includes(need) ? 'permission_denied' : 'in';
    // Of another project of the organization: this one is not there.
    case 'member elsewhere':
      if (need === 'customer' || need === 'org viewer') return 'in';
      return need.startsWith('org') || need === 'super admin' ? 'permission_denied' : 'not_found';
    case 'viewer':
      return [...adminsOnly, 'project member', 'sdk', 'shared write', 'shared keeping'].includes(
        need,
      )
        ? 'permission_denied'
        : 'in';
    default:
      return credential satisfies never;
  }
}

const adminsOnly: readonly Need[] = ['org admin', 'project admin', 'shared admin', 'super admin'];

function isOfKeys(need: Need): boolean {
  return need === 'sdk' || need.startsWith('shared');
}

const broker = useBroker();
let accounts: AccountsProcess;
let nowMs = Date.UTC(2026, 0, 1);
let orgId: string;
let projectId: string;
let headers: Record<Credential, Record<string, string>>;
const services = await definedServices();

beforeAll(async () => {
  accounts = await startAccounts({ brokerUrl: broker.url, clock: { nowMs: () => nowMs } });
  const stale = await newCustomer(accounts);
  nowMs += 3_600_000;
  const owner = await newCustomer(accounts);
  ({ orgId, projectId } = owner);
  const asOwner = accounts.as(bearer(owner, projectId));
  const { project } = await asOwner.projects.create({ orgId, displayName: 'Another' });
  const elsewhere = { projectIds: [project?.id ?? ''] };
  const join = async (role: Role, projects?: { projectIds: string[] }) => {
    const member = await newCustomer(accounts);
    await asOwner.orgs.inviteMember({
      ...{ orgId, email: member.email, role },
      ...(projects !== undefined && { projects }),
    });
    const token = tokenIn(await accounts.mailsTo(member.email));
    await accounts.as(bearer(member)).orgs.acceptInvite({ token });
    return member;
  };
  const removed = await join(Role.ADMIN);
  await accounts.as(bearer(removed)).orgs.get({ orgId });
  await asOwner.orgs.removeMember({ orgId, customerId: removed.customer?.id ?? '' });
  const other = await newCustomer(accounts);
  const operator = await newCustomer(accounts);
  await accounts.control.customers.change(operator.customer?.id ?? '', (record) => ({
    ...record,
    superAdmin: true,
  }));
  const key = async (kind: ApiKeyKind) => asOwner.projects.createApiKey({ kind });
  const scoped = async (scope: ApiKeyScope) =>
    (await asOwner.projects.createApiKey({ kind: ApiKeyKind.PRIVATE, scope })).key;
  const expired = await asOwner.projects.createApiKey({
    kind: ApiKeyKind.PRIVATE,
    expireTime: timestampFromMs(nowMs + 1_000),
  });
  nowMs += 1_000;
  const revoked = await key(ApiKeyKind.PRIVATE);
  await asOwner.projects.revokeApiKey({ id: revoked.apiKey?.id ?? '' });
  const otherKey = await accounts
    .as(bearer(other, other.projectId))
    .projects.createApiKey({ kind: ApiKeyKind.PRIVATE });
  const orgKey = await asOwner.orgs.createOrgKey({ orgId, role: Role.ADMIN });
  const apiKey = (value: string) => ({ 'x-api-key': value, 'x-project-id': projectId });
  headers = {
    none: { 'x-project-id': projectId },
    garbage: { authorization: 'Bearer garbage', 'x-project-id': projectId },
    'expired token': bearer(stale, projectId),
    "other organization's token": bearer(other, projectId),
    viewer: bearer(await join(Role.VIEWER), projectId),
    member: bearer(await join(Role.MEMBER), projectId),
    admin: bearer(owner, projectId),
    'member elsewhere': bearer(await join(Role.MEMBER, elsewhere), projectId),
    'public key': apiKey((await key(ApiKeyKind.PUBLIC)).key),
    'private key': apiKey((await key(ApiKeyKind.PRIVATE)).key),
    'writing key': apiKey(await scoped(ApiKeyScope.WRITE)),
    'reading key': apiKey(await scoped(ApiKeyScope.READ)),
    'expired key': apiKey(expired.key),
    "other project's key": apiKey(otherKey.key),
    'revoked key': apiKey(revoked.key),
    'organization key': { authorization: `Bearer ${orgKey.key}`, 'x-project-id': projectId },
    'removed member': bearer(removed, projectId),
    operator: bearer(operator, projectId),
  };
});

afterAll(async () => {
  await accounts.close();
});

const methods = services.flatMap((service) =>
  service.methods.map((method): [string, DescService, DescMethod] => [
    `${service.typeName}/${method.name}`,
    service,
    method,
  ]),
);

it('every method has its need written down, and a row of access', () => {
  expect(methods.length).toBeGreaterThan(40);
  expect([...accessTable.keys()].sort()).toEqual(methods.map(([name]) => name).sort());
  for (const [, service, method] of methods) expect(needOf(service, method)).toBeDefined();
});

describe.each(methods)('%s', (_, service, method) => {
  it('answers each credential as it must', async () => {
    const need = needOf(service, method);
    const wanted = credentials.map((credential) => `${credential}: ${expected(need, credential)}`);
    const got: string[] = [];
    for (const credential of credentials) {
      // Leaving works, and would change the members.
      const harmless = method.name === 'Leave' && expected(need, credential) === 'in';
      const request = need.startsWith('org') ? { orgId } : {};
      const answer = harmless ? 'in' : await ask(service, method, request, headers[credential]);
      got.push(`${credential}: ${answer}`);
    }
    expect(got).toEqual(wanted);
  });
});

it.each(['projects', 'customers'] as const)(
  '%s of a named organization are for its own',
  async (name) => {
    const list = (credential: Credential) => accounts.as(headers[credential])[name].list({ orgId });
    await list('viewer');
    await list('operator');
    for (const credential of ["other organization's token", 'removed member'] as const) {
      await expect(list(credential)).rejects.toMatchObject({ code: Code.NotFound });
    }
  },
);

it.each([
  'shared.insights.v1.InsightsService/GetFilterSchema',
  'events.v1.EventsService/BatchCreate',
])('%s tells an expired key since when it is', async (path) => {
  const sent = { ...headers['expired key'], 'content-type': 'application/json' };
  const answer = await fetch(`${accounts.baseUrl}/${path}`, {
    ...{ method: 'POST', headers: sent, body: '{}' },
  });
  const message = `the API key expired at ${new Date(nowMs).toISOString()}: make another one`;
  expect([answer.status, await answer.json()]).toEqual([401, { code: 'unauthenticated', message }]);
});

it('answers access before it looks at arguments, broken ones included', async () => {
  const post = (path: string, sent: Record<string, string>) =>
    fetch(`${accounts.baseUrl}/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...sent },
      body: '{"orgId": 1, "displayName": ',
    }).then(({ status }) => status);
  const path = 'dashboard.projects.v1.ProjectsService/Update';
  expect(await post(path, headers.none)).toBe(401);
  expect(await post(path, headers.viewer)).toBe(403);
  expect(await post(path, headers["other organization's token"])).toBe(404);
  expect(await post(path, headers.admin)).toBe(400);
});

function needOf(service: DescService, method: DescMethod): Need {
  const need = needs[service.typeName]?.[method.name] ?? needs[service.typeName]?.['*'];
  if (need === undefined) throw new Error(`say what ${service.typeName}/${method.name} needs`);
  return need;
}

/** Calls the method with a request that changes no record. */
async function ask(
  service: DescService,
  method: DescMethod,
  fields: JsonObject,
  sent: Record<string, string>,
): Promise<Verdict> {
  const request = fromJson(method.input, fields);
  const client: Record<string, (request: object) => unknown> = accounts.client(service, sent);
  try {
    const answer = client[method.localName]?.(request);
    if (isStream(answer)) for await (const _ of answer) break;
    else await answer;
    return 'in';
  } catch (error) {
    return verdictOf(ConnectError.from(error));
  }
}

function verdictOf({ code, rawMessage }: ConnectError): Verdict {
  const foreign = ['there is no such organization', 'there is no such project'];
  // A method without an access check gives these codes too, for things that a request names; the requests here name
  // nothing.
  if (code === Code.NotFound && foreign.includes(rawMessage)) return 'not_found';
  if (code === Code.PermissionDenied) return 'permission_denied';
  const ofCredential = ['no credential', 'the API key', 'the authorization', 'the token'];
  if (code === Code.Unauthenticated && ofCredential.some((text) => rawMessage.startsWith(text))) {
    return 'unauthenticated';
  }
  expect([Code.InvalidArgument, Code.NotFound, Code.Unauthenticated]).toContain(code);
  return 'in';
}

function isStream(answer: unknown): answer is AsyncIterable<unknown> {
  return typeof answer === 'object' && answer !== null && Symbol.asyncIterator in answer;
}
