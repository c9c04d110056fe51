// DashboardsService without Render and shares: checks requests about dashboards and makes the answers. Changing records
// is dashboard-store.ts's; Render is query/'s.

import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { newId } from '../../platform/access/ids.ts';
import { createTokenBuckets, type TokenBuckets } from '../../platform/access/token-bucket.ts';
import type { Clock } from '../../platform/clock.ts';
import type { ReadDashboard } from '../../platform/dashboards/dashboard-reader.ts';
import { overviewDashboard, overviewId } from '../../platform/dashboards/overview-dashboard.ts';
import {
  type CreateRequest,
  type Dashboard,
  DashboardSchema,
  type DeleteRequest,
  type GetRequest,
  type Tile,
  type UpdateRequest,
  type UpsertRequest,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import type { ProjectsByOrganization } from '../projects/by-organization.ts';
import { timestampOf } from '../record-times.ts';
import { invalidArgument, requiredField } from '../request-fields.ts';
import type { SignedInMember, SignedInProjectMember } from '../signed-in-customer.ts';
import { plainDashboard, type SentFields, withFields } from './dashboard-fields.ts';
import { refuseMoreDashboardBytes } from './dashboard-quota.ts';
import {
  changeDashboard,
  createDashboard,
  type DashboardBuckets,
  deleteDashboard,
  maxDashboards,
  sizeOf,
} from './dashboard-store.ts';
import {
  type CheckQuestion,
  type CheckStatement,
  checkQuestions,
  checkStatements,
  statementsOf,
  tilesField,
} from './tile-fields.ts';

export interface DashboardDeps {
  dashboardBuckets: DashboardBuckets;
  readDashboard: ReadDashboard;
  byOrganization: ProjectsByOrganization;
  /** Dashboards read by each customer, of createDashboardReads. */
  dashboardReads: Pick<TokenBuckets, 'take'>;
  checkQuestion: CheckQuestion;
  checkStatement: CheckStatement;
  clock: Clock;
}

type Caller = SignedInMember & SignedInProjectMember;

/** One read takes up to 10 ms of the process: this many at once, then half as many each second. */
const readsAtOnce = 100;

export function createDashboardReads(clock: Clock): TokenBuckets {
  return createTokenBuckets({ perSecond: readsAtOnce / 2, burst: readsAtOnce, clock });
}

export async function listDashboards(
  { dashboardBuckets }: DashboardDeps,
  { projectId }: Caller,
): Promise<{ dashboards: Dashboard[] }> {
  const list = dashboardBuckets.lists.get(projectId)?.record;
  const { displayName, revision, builtIn } = overviewDashboard();
  const overview = create(DashboardSchema, { id: overviewId, displayName, revision, builtIn });
  const saved = (list?.dashboards ?? []).map((listed) =>
    create(DashboardSchema, {
      id: listed.id,
      displayName: listed.displayName,
      revision: listed.revision,
      createTime: timestampOf(listed.createTime),
      updateTime: timestampOf(listed.updateTime),
    }),
  );
  return { dashboards: [overview, ...saved] };
}

export async function getDashboard(
  deps: DashboardDeps,
  request: GetRequest,
  caller: Caller,
): Promise<{ dashboard: Dashboard }> {
  return { dashboard: await readById(deps, requiredField('id', request.id), caller) };
}

export async function createDashboardRpc(
  deps: DashboardDeps,
  request: CreateRequest,
  caller: Caller,
): Promise<{ dashboard: Dashboard }> {
  const { copyFrom, tiles } = request;
  if (copyFrom === '') return makeNew(deps, request, tiles, caller);
  if (tiles.length > 0) throw invalidArgument('tiles', 'must be empty with copyFrom');
  const original = await readById(deps, copyFrom, caller);
  const displayName = request.displayName || original.displayName;
  const copy = original.tiles.map((tile) => ({ ...tile, id: newId() }));
  const dashboard = withFields({ ...original, tiles: copy }, { ...request, displayName });
  if (request.filters !== undefined) check(deps, dashboard);
  return save(deps, dashboard, caller);
}

export async function updateDashboard(
  deps: DashboardDeps,
  request: UpdateRequest,
  caller: Caller,
): Promise<{ dashboard: Dashboard }> {
  return change(deps, request, caller, (before) => {
    const after = withFields(before, request);
    // The service may have become stricter since the questions were saved: that keeps nobody from renaming.
    if (request.filters !== undefined) check(deps, after);
    return after;
  });
}

export async function upsertDashboard(
  deps: DashboardDeps,
  request: UpsertRequest,
  caller: Caller,
): Promise<{ dashboard: Dashboard }> {
  const { id, revision, tiles } = request;
  if (id === '') return makeNew(deps, request, tiles, caller);
  if (id !== overviewId && revision === 0) throw invalidArgument('revision', 'is required');
  await checkNewStatements(deps, id, tiles, caller);
  return change(deps, request, caller, (before) => {
    const known = new Set(before.tiles.map((tile) => tile.id));
    const after = { ...withFields(before, request), tiles: tilesField(tiles, known) };
    check(deps, after);
    return after;
  });
}

export async function deleteDashboardRpc(
  { dashboardBuckets }: DashboardDeps,
  request: DeleteRequest,
  { projectId }: Caller,
): Promise<Record<string, never>> {
  const id = requiredField('id', request.id);
  refuseBuiltIn(id);
  if (await deleteDashboard(dashboardBuckets, projectId, id)) return {};
  throw noSuchDashboard();
}

async function makeNew(
  deps: DashboardDeps,
  sent: SentFields,
  sentTiles: readonly Tile[],
  caller: Caller,
): Promise<{ dashboard: Dashboard }> {
  const displayName = sent.displayName ?? '';
  const tiles = tilesField(sentTiles, new Set());
  await checkNewStatements(deps, undefined, tiles, caller);
  const dashboard = { ...withFields(plainDashboard(), { ...sent, displayName }), tiles };
  check(deps, dashboard);
  return save(deps, dashboard, caller);
}

function check({ checkQuestion }: DashboardDeps, { tiles, filters }: Dashboard): void {
  checkQuestions(tiles, filters, checkQuestion);
}

/** Those that the dashboard has were checked when they came, and moving a tile must not need the event store. */
async function checkNewStatements(
  { checkStatement, readDashboard }: DashboardDeps,
  id: string | undefined,
  tiles: readonly Tile[],
  { projectId }: Caller,
): Promise<void> {
  if (statementsOf(tiles).size === 0) return;
  const before = id === undefined ? undefined : await readDashboard(projectId, id);
  const known = statementsOf(before?.tiles ?? []);
  await checkStatements(tiles, known, (sql) => checkStatement(projectId, sql));
}

/** Stores a dashboard as a new one. */
async function save(
  deps: DashboardDeps,
  fields: Dashboard,
  { projectId, organizationId }: Caller,
): Promise<{ dashboard: Dashboard }> {
  const now = timestampFromMs(deps.clock.nowMs());
  const times = { createTime: now, updateTime: now };
  const dashboard = { ...fields, id: newId(), revision: 1, builtIn: false, ...times };
  const { byOrganization, dashboardBuckets } = deps;
  const { lists } = dashboardBuckets;
  refuseMoreDashboardBytes({ lists, byOrganization }, organizationId, sizeOf(dashboard));
  const made = await createDashboard(dashboardBuckets, projectId, dashboard);
  if (made === 'created') return { dashboard };
  throw new ConnectError(
    `a project has at most ${maxDashboards} dashboards: delete one first`,
    Code.FailedPrecondition,
  );
}

/** Changes a dashboard; throws aborted where the request names a revision that is not the newest. */
async function change(
  { dashboardBuckets, byOrganization, clock }: DashboardDeps,
  request: { id: string; revision: number },
  { projectId, organizationId }: Caller,
  next: (before: Dashboard) => Dashboard,
): Promise<{ dashboard: Dashboard }> {
  const id = requiredField('id', request.id);
  refuseBuiltIn(id);
  const { lists } = dashboardBuckets;
  const dashboard = await changeDashboard(dashboardBuckets, projectId, id, (before, bytes) => {
    if (request.revision !== 0 && request.revision !== before.revision) throw stale(before);
    const updateTime = timestampFromMs(clock.nowMs());
    const after = { ...next(before), revision: before.revision + 1, updateTime };
    const growth = sizeOf(after) - bytes;
    if (growth > 0) refuseMoreDashboardBytes({ lists, byOrganization }, organizationId, growth);
    return after;
  });
  if (dashboard === undefined) throw noSuchDashboard();
  return { dashboard };
}

async function readById(
  { readDashboard, dashboardReads }: DashboardDeps,
  id: string,
  { projectId, customerId }: Caller,
): Promise<Dashboard> {
  const waitSeconds = dashboardReads.take(customerId, 1);
  if (waitSeconds > 0) {
    const retryAfter = { 'retry-after': String(waitSeconds) };
    throw new ConnectError('too many dashboards are read', Code.ResourceExhausted, retryAfter);
  }
  const dashboard = await readDashboard(projectId, id);
  if (dashboard === undefined) throw noSuchDashboard();
  return dashboard;
}

function refuseBuiltIn(id: string): void {
  if (id !== overviewId) return;
  const message = 'the dashboard is built in: copy it, and change the copy';
  throw new ConnectError(message, Code.FailedPrecondition);
}

function stale({ revision }: Dashboard): ConnectError {
  const message = `revision: the dashboard has changed, its revision is ${revision}: read it again`;
  return new ConnectError(message, Code.Aborted);
}

export function noSuchDashboard(): ConnectError {
  return new ConnectError('the project has no such dashboard', Code.NotFound);
}
