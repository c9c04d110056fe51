// The limits on invitations' mails of the last 24 hours, counted in the organization's record: they hold across
// processes and restarts. Limits on one customer's attempts are ../auth/attempts.ts's.

import { Code, ConnectError } from '@connectrpc/connect';
import { sha256 } from '../../platform/access/ids.ts';
import type { InvitationRecord, OrganizationRecord } from '../../platform/access/organizations.ts';
import { dayMs } from '../../platform/clock.ts';
import type { Change } from '../../platform/records/change-record.ts';
import { maxInvitations } from './org-record.ts';

const maxSendsPerDay = 10;
/**
 * An organization's quota of mails, to all addresses: as many as it may have open invitations, so that a large team is
 * invited in a day, and a stranger who signs up can neither mail the world in our name nor fill the record.
 */
const maxSendsInAllPerDay = maxInvitations;

export interface SentInvitation {
  organization: OrganizationRecord;
  invitation: InvitationRecord;
}

/** The record with one more send to the address. Throws resource_exhausted beyond a limit, with Retry-After. */
export function withOneMoreSend(
  record: OrganizationRecord,
  invitation: InvitationRecord,
  nowMs: number,
): Change<OrganizationRecord, SentInvitation> {
  const recent: Record<string, readonly number[]> = {};
  for (const [address, times] of Object.entries(record.inviteSends ?? {})) {
    const kept = times.filter((atMs) => nowMs - atMs < dayMs);
    if (kept.length > 0) recent[address] = kept;
  }
  const key = sha256(invitation.email);
  const times = recent[key] ?? [];
  refuseMoreSends(times, maxSendsPerDay, 'to one address', nowMs);
  refuseMoreSends(Object.values(recent).flat(), maxSendsInAllPerDay, 'out', nowMs);
  const write = {
    ...record,
    inviteSends: { ...recent, [key]: [...times, nowMs] },
    updateTime: new Date(nowMs).toISOString(),
  };
  return { write, answer: { organization: write, invitation } };
}

function refuseMoreSends(
  times: readonly number[],
  max: number,
  where: string,
  nowMs: number,
): void {
  if (times.length < max) return;
  const waitMs = Math.min(...times) + dayMs - nowMs;
  throw new ConnectError(
    `at most ${max} invitations go ${where} in 24 hours`,
    Code.ResourceExhausted,
    { 'retry-after': String(Math.ceil(waitMs / 1_000)) },
  );
}
