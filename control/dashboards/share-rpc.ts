// The shares of DashboardsService: links that show a dashboard to everybody who has them. Showing a shared dashboard is
// query/'s.

import { randomBytes } from 'node:crypto';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { newId, sha256 } from '../../platform/access/ids.ts';
import type { Clock } from '../../platform/clock.ts';
import type { ShareRecord } from '../../platform/dashboards/dashboard-list.ts';
import { embedOrigin, maxEmbedOrigins } from '../../platform/dashboards/embed-origins.ts';
import { overviewId } from '../../platform/dashboards/overview-dashboard.ts';
import { maxOriginCharacters } from '../../platform/senders/allowed-origins.ts';
import {
  type CreateShareRequest,
  type ListSharesRequest,
  type RevokeShareRequest,
  type Share,
  ShareSchema,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import type { Passwords } from '../auth/passwords.ts';
import type { CustomerStore } from '../customers/customer-store.ts';
import { refuseUnproven } from '../customers/proven-customer.ts';
import type { ProjectsByOrganization } from '../projects/by-organization.ts';
import { nowText, timestampOf } from '../record-times.ts';
import {
  invalidArgument,
  newPasswordField,
  optionalDisplayNameField,
  readTextList,
  requiredField,
} from '../request-fields.ts';
import type { SignedInMember, SignedInProjectMember } from '../signed-in-customer.ts';
import { refuseMoreDashboardBytes } from './dashboard-quota.ts';
import { noSuchDashboard } from './dashboard-rpc.ts';
import { changeList, type DashboardBuckets } from './dashboard-store.ts';

export interface ShareDeps {
  dashboardBuckets: DashboardBuckets;
  byOrganization: ProjectsByOrganization;
  customers: Pick<CustomerStore, 'get'>;
  passwords: Pick<Passwords, 'hash'>;
  clock: Clock;
}

type Caller = SignedInMember & SignedInProjectMember;

const maxShares = 20;
const tokenBytes = 32;
/** The end of the year 9999, the last that RFC 3339 can write. */
const lastTimeMs = 253_402_300_799_999;

export async function createShare(
  deps: ShareDeps,
  request: CreateShareRequest,
  caller: Caller,
): Promise<{ share: Share; token: string }> {
  const { customers, passwords, clock, dashboardBuckets, byOrganization } = deps;
  const dashboardId = requiredField('dashboardId', request.dashboardId);
  const displayName = optionalDisplayNameField('displayName', request.displayName);
  const expireTimeMs = expireTimeField(request, clock);
  const password = request.password && newPasswordField('password', request.password);
  const embedOrigins = embedOriginsField('embedOrigins', request.embedOrigins);
  // A link would outlive the first proof of the address.
  refuseUnproven(customers, caller);
  const { projectId, organizationId, customerId } = caller;
  refuseMoreDashboardBytes({ ...dashboardBuckets, byOrganization }, organizationId, 0);
  const token = `shr_${randomBytes(tokenBytes).toString('base64url')}`;
  const asking = { kind: 'session', from: customerId } as const;
  const share: ShareRecord = {
    id: newId(),
    dashboardId,
    displayName,
    tokenHash: sha256(token),
    ...(password !== '' && { passwordHash: await passwords.hash(password, asking) }),
    createTime: nowText(clock),
    ...(expireTimeMs !== undefined && { expireTimeMs }),
    ...(embedOrigins.length > 0 && { embedOrigins }),
  };
  const outcome = await changeList<Outcome>(dashboardBuckets, projectId, (list) => {
    const isThere =
      dashboardId === overviewId || list.dashboards.some(({ id }) => id === dashboardId);
    if (!isThere) return { leave: 'no dashboard' };
    const others = list.shares.filter((one) => one.dashboardId === dashboardId);
    const isFull = others.length >= maxShares;
    // Nobody can open it any more: its place is free.
    const expired = isFull ? others.find((one) => isExpired(one, clock)) : undefined;
    if (isFull && expired === undefined) return { leave: 'full' };
    const kept = list.shares.filter((one) => one !== expired);
    return { write: { ...list, shares: [...kept, share] }, answer: 'added' };
  });
  switch (outcome) {
    case 'added':
      return { share: shareMessage(share), token };
    case 'no dashboard':
      throw noSuchDashboard();
    case 'full': {
      const message = `a dashboard has at most ${maxShares} shares: revoke one first`;
      throw new ConnectError(message, Code.FailedPrecondition);
    }
    default:
      return outcome satisfies never;
  }
}

type Outcome = 'added' | 'no dashboard' | 'full';

export function listShares(
  { dashboardBuckets }: Pick<ShareDeps, 'dashboardBuckets'>,
  request: ListSharesRequest,
  { projectId }: SignedInProjectMember,
): { shares: Share[] } {
  const dashboardId = requiredField('dashboardId', request.dashboardId);
  const list = dashboardBuckets.lists.get(projectId)?.record;
  const isThere =
    dashboardId === overviewId || list?.dashboards.some(({ id }) => id === dashboardId) === true;
  if (!isThere) throw noSuchDashboard();
  const shares = (list?.shares ?? []).filter((share) => share.dashboardId === dashboardId);
  return { shares: shares.map(shareMessage) };
}

/** Stops a share: in this process at once, in others as soon as their watch brings the change, within a second. */
export async function revokeShare(
  { dashboardBuckets }: Pick<ShareDeps, 'dashboardBuckets'>,
  request: RevokeShareRequest,
  { projectId }: SignedInProjectMember,
): Promise<Record<string, never>> {
  const shareId = requiredField('id', request.id);
  const wasThere = await changeList<boolean>(dashboardBuckets, projectId, (list) => {
    const shares = list.shares.filter(({ id }) => id !== shareId);
    if (shares.length === list.shares.length) return { leave: false };
    return { write: { ...list, shares }, answer: true };
  });
  if (wasThere) return {};
  throw new ConnectError('the project has no such share', Code.NotFound);
}

function isExpired({ expireTimeMs }: ShareRecord, clock: Clock): boolean {
  return expireTimeMs !== undefined && expireTimeMs <= clock.nowMs();
}

function expireTimeField({ expireTime }: CreateShareRequest, clock: Clock): number | undefined {
  if (expireTime === undefined) return undefined;
  const timeMs = timestampMs(expireTime);
  if (timeMs > clock.nowMs() && timeMs <= lastTimeMs) return timeMs;
  throw invalidArgument('expireTime', 'must be in the future, before the year 10000');
}

function embedOriginsField(field: string, texts: readonly string[]): readonly string[] {
  return readTextList(field, texts, {
    max: maxEmbedOrigins,
    maxCharacters: maxOriginCharacters,
    read: embedOrigin,
    rule: 'must be an https origin such as https://example.com, or http of localhost',
  });
}

function shareMessage(record: ShareRecord): Share {
  const { id, dashboardId, displayName, createTime, expireTimeMs, passwordHash } = record;
  const { embedOrigins = [] } = record;
  return create(ShareSchema, {
    id,
    dashboardId,
    displayName,
    createTime: timestampOf(createTime),
    ...(expireTimeMs !== undefined && { expireTime: timestampFromMs(expireTimeMs) }),
    hasPassword: passwordHash !== undefined,
    embedOrigins: [...embedOrigins],
  });
}
