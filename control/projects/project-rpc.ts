// ProjectsService: checks requests about projects and their keys, and makes the answers. Changing the record is
// project-record.ts's.

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError } from '@connectrpc/connect';
import type { PlaceOf } from '../../platform/access/customer-access.ts';
import { placeIn } from '../../platform/access/organization-interceptor.ts';
import { mayUse, type OrganizationDirectory } from '../../platform/access/organizations.ts';
import type { ApiKeyRecord, ProjectRecord } from '../../platform/access/projects.ts';
import { createTokenBuckets, type TokenBuckets } from '../../platform/access/token-bucket.ts';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import { clockMessage } from '../../platform/zones/clock-message.ts';
import { weekStartOf } from '../../platform/zones/weeks.ts';
import {
  type ApiKey,
  ApiKeyKind as ApiKeyKindValue,
  ApiKeySchema,
  ApiKeyScope,
  type CreateApiKeyRequest,
  type CreateRequest,
  type GetRequest,
  type ListRequest,
  type Project,
  ProjectSchema,
  type RevokeApiKeyRequest,
  type UpdateRequest,
} from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import type { CustomerStore } from '../customers/customer-store.ts';
import { refuseUnproven } from '../customers/proven-customer.ts';
import { timestampOf } from '../record-times.ts';
import {
  displayNameField,
  invalidArgument,
  optionalDisplayNameField,
  requiredField,
  timezoneField,
} from '../request-fields.ts';
import type {
  SignedInCustomer,
  SignedInMember,
  SignedInProjectMember,
} from '../signed-in-customer.ts';
import type { ProjectsByOrganization } from './by-organization.ts';
import { expireTimeField, kindField, scopeField, scopeValue } from './key-fields.ts';
import { changeProject, createApiKey, createProject, revokeApiKey } from './project-record.ts';
import { changedSettings, exclusionsMessage, hasLists } from './project-settings.ts';
import { refuseMoreBytes, refuseMoreProjects } from './projects-quota.ts';

export interface ProjectDeps {
  projects: WatchedBucket<ProjectRecord>;
  customers: Pick<CustomerStore, 'get'>;
  byOrganization: ProjectsByOrganization;
  directory: Pick<OrganizationDirectory, 'organizationsOf'>;
  placeOf: PlaceOf;
  /** Rows of lists sent to each customer, of createListedRows. */
  listedRows: Pick<TokenBuckets, 'wait' | 'charge'>;
  clock: Clock;
}

/**
 * A row takes some 20 µs of the process, and lists are not cut into pages: a customer is sent this many at once, then
 * as many per second. One list beyond it passes, and the next waits for its debt.
 */
const rowsAtOnce = 4_000;
const rowsPerSecond = 2_000;

export function createListedRows(clock: Clock): TokenBuckets {
  return createTokenBuckets({ perSecond: rowsPerSecond, burst: rowsAtOnce, clock });
}

export async function createProjectRpc(
  { projects, byOrganization, clock }: ProjectDeps,
  request: CreateRequest,
  signedIn: SignedInMember,
): Promise<{ project: Project; apiKey?: ApiKey; key: string }> {
  const displayName = displayNameField('displayName', request.displayName);
  const timezone = request.timezone === '' ? 'UTC' : timezoneField('timezone', request.timezone);
  const { organizationId } = signedIn;
  refuseMoreProjects({ projects, byOrganization }, organizationId);
  const record = await createProject(projects, { organizationId, displayName, timezone }, clock);
  const [key] = record.keys;
  return {
    project: projectMessage(record),
    ...(key !== undefined && { apiKey: apiKeyMessage(key) }),
    key: key?.publicKey ?? '',
  };
}

export function getProject(
  { projects }: Pick<ProjectDeps, 'projects'>,
  request: GetRequest,
  signedIn: SignedInProjectMember,
): { project: Project } {
  sameProject(request.id, signedIn);
  return { project: projectMessage(held(projects, signedIn.projectId)) };
}

export function listProjects(
  { projects, byOrganization, directory, placeOf, listedRows }: ProjectDeps,
  request: ListRequest,
  signedIn: SignedInCustomer,
): { projects: Project[] } {
  const { orgId } = request;
  const waitSeconds = listedRows.wait(signedIn.customerId, 1);
  if (waitSeconds > 0) {
    throw new ConnectError(
      'too many projects were listed, try again later',
      Code.ResourceExhausted,
      {
        'retry-after': String(waitSeconds),
      },
    );
  }
  if (orgId !== '') placeIn(placeOf, orgId, signedIn.customerId);
  const organizations = orgId === '' ? directory.organizationsOf(signedIn.customerId) : [orgId];
  const records = organizations
    .flatMap((id) => {
      const place = placeOf(id, signedIn.customerId);
      if (place === undefined || place.lacksSecondFactor === true) return [];
      return byOrganization.idsOf(id).filter((projectId) => mayUse(place, projectId));
    })
    .map((id) => held(projects, id))
    .sort(byAge);
  listedRows.charge(signedIn.customerId, records.length);
  return { projects: records.map(projectMessage) };
}

export async function updateProject(
  { projects, byOrganization, clock }: Pick<ProjectDeps, 'projects' | 'byOrganization' | 'clock'>,
  request: UpdateRequest,
  signedIn: SignedInProjectMember,
): Promise<{ project: Project }> {
  sameProject(request.id, signedIn);
  const changes = changedSettings(request);
  if (hasLists(changes)) {
    const { organizationId } = held(projects, signedIn.projectId);
    refuseMoreBytes({ projects, byOrganization }, organizationId);
  }
  const record = await changeProject(projects, signedIn.projectId, clock, (project) =>
    Object.keys(changes).length === 0 ? project : { ...project, ...changes },
  );
  if (record === undefined) throw noSuchProject();
  return { project: projectMessage(record) };
}

export async function createApiKeyRpc(
  {
    projects,
    byOrganization,
    customers,
    clock,
  }: Omit<ProjectDeps, 'directory' | 'placeOf' | 'listedRows'>,
  request: CreateApiKeyRequest,
  signedIn: SignedInCustomer & SignedInProjectMember,
): Promise<{ apiKey: ApiKey; key: string }> {
  const displayName = optionalDisplayNameField('displayName', request.displayName);
  const kind = kindField('kind', request.kind);
  const scope = scopeField('scope', request.scope, kind);
  const expireTime = expireTimeField('expireTime', request.expireTime, kind, clock);
  if (kind === 'private') refuseUnproven(customers, signedIn);
  const { organizationId } = held(projects, signedIn.projectId);
  refuseMoreBytes({ projects, byOrganization }, organizationId);
  const key = { kind, displayName, scope, expireTime };
  const result = await createApiKey(projects, signedIn.projectId, key, clock);
  switch (result.kind) {
    case 'created':
      return { apiKey: apiKeyMessage(result.key.record), key: result.key.raw };
    case 'project_not_found':
      throw noSuchProject();
    case 'too_many_keys':
      throw new ConnectError(
        `a project has at most ${result.max} keys: revoke one first`,
        Code.FailedPrecondition,
      );
    default:
      return result satisfies never;
  }
}

export function listApiKeys(
  { projects }: Pick<ProjectDeps, 'projects'>,
  signedIn: SignedInProjectMember,
): { apiKeys: ApiKey[] } {
  const live = held(projects, signedIn.projectId).keys.filter(
    (key) => key.revokeTime === undefined,
  );
  return { apiKeys: live.map(apiKeyMessage) };
}

export async function revokeApiKeyRpc(
  { projects, clock }: Pick<ProjectDeps, 'projects' | 'clock'>,
  request: RevokeApiKeyRequest,
  signedIn: SignedInProjectMember,
): Promise<Record<string, never>> {
  const id = requiredField('id', request.id);
  const result = await revokeApiKey(projects, signedIn.projectId, id, clock);
  if (result.kind === 'revoked') return {};
  throw new ConnectError('the project has no such key', Code.NotFound);
}

/** Of the same moment the smaller id comes first. */
function byAge(a: ProjectRecord, b: ProjectRecord): number {
  if (a.createTime === b.createTime) return a.id < b.id ? -1 : 1;
  return a.createTime < b.createTime ? -1 : 1;
}

function sameProject(id: string, signedIn: SignedInProjectMember): void {
  if (id !== '' && id !== signedIn.projectId)
    throw invalidArgument('id', 'must equal x-project-id');
}

function held(projects: Pick<WatchedBucket<ProjectRecord>, 'get'>, id: string): ProjectRecord {
  const found = projects.get(id);
  if (found === undefined) throw noSuchProject();
  return found.record;
}

function noSuchProject(): ConnectError {
  return new ConnectError('there is no such project', Code.NotFound);
}

function projectMessage(record: ProjectRecord): Project {
  return create(ProjectSchema, {
    id: record.id,
    orgId: record.organizationId,
    displayName: record.displayName,
    timezone: record.timezone,
    clock: clockMessage(record.timezone),
    createTime: timestampOf(record.createTime),
    updateTime: timestampOf(record.updateTime),
    compat: [...(record.compat ?? [])],
    allowedOrigins: [...(record.allowedOrigins ?? [])],
    weekStart: weekStartOf(record),
    currency: record.currency ?? '',
    retentionDays: record.retentionDays ?? 0,
    ...(record.exclusions && { exclusions: exclusionsMessage(record.exclusions) }),
  });
}

function apiKeyMessage(key: ApiKeyRecord): ApiKey {
  return create(ApiKeySchema, {
    id: key.id,
    displayName: key.displayName ?? '',
    kind: key.kind === 'public' ? ApiKeyKindValue.PUBLIC : ApiKeyKindValue.PRIVATE,
    key: key.publicKey ?? '',
    scope: key.kind === 'public' ? ApiKeyScope.WRITE : scopeValue(key.scope),
    createTime: timestampOf(key.createTime),
    ...(key.expireTime !== undefined && { expireTime: timestampOf(key.expireTime) }),
    ...(key.lastUseTime !== undefined && { lastUseTime: timestampOf(key.lastUseTime) }),
  });
}
