// Takes back what an account gave out before its address was proven: a stranger may have signed up with the address and
// waited for its owner. Accounts of today can give out nothing until then (proven-customer.ts); older ones could.

import { setTimeout as delay } from 'node:timers/promises';
import type {
  OrganizationDirectory,
  OrganizationRecord,
} from '../../platform/access/organizations.ts';
import type { Clock } from '../../platform/clock.ts';
import { changeRecord, type Records } from '../../platform/records/change-record.ts';
import type { ProjectsByOrganization } from '../projects/by-organization.ts';
import { type ProjectStore, revokePrivateKeys } from '../projects/project-record.ts';
import { nowText } from '../record-times.ts';

/** Safe to repeat. Projects and their public keys stay: public keys can only write. */
export type EndUnprovenGrants = (customerId: string) => Promise<void>;

// A removed admin may still make a key through a process that has not seen the removal. All have seen it after this
// time: a watched record is confirmed every second, and a quarter of a second later it is read anew.
const settleMs = 1_500;

export function createEndUnprovenGrants(deps: {
  organizations: Records<OrganizationRecord>;
  directory: Pick<OrganizationDirectory, 'get' | 'organizationsOf'>;
  projects: ProjectStore;
  byOrganization: ProjectsByOrganization;
  clock: Clock;
}): EndUnprovenGrants {
  const { organizations, directory, projects, byOrganization, clock } = deps;
  return async (customerId) => {
    // The founder is the first member. Elsewhere the account was let in by others, who gave out what is there.
    const founded = directory
      .organizationsOf(customerId)
      .filter((id) => directory.get(id)?.members[0]?.customerId === customerId);
    let hadOthers = false;
    for (const id of founded) {
      const changed = await changeRecord(organizations, id, (record) => {
        const write = founderAlone(record, customerId, clock);
        return write === undefined
          ? { leave: false }
          : { write, answer: record.members.length > 1 };
      });
      if (changed.kind === 'done' && changed.answer) hadOthers = true;
    }
    if (hadOthers) await delay(settleMs);
    for (const id of founded.flatMap((organization) => byOrganization.idsOf(organization))) {
      await revokePrivateKeys(projects, id, clock);
    }
  };
}

/**
 * The organization with its founder only, as admin, without keys, open invitations and a mail server of its own, which
 * would see the tokens of the next invitations. Undefined if it is like that already.
 */
function founderAlone(
  record: OrganizationRecord,
  founderId: string,
  clock: Clock,
): OrganizationRecord | undefined {
  const { keys = [], invitations = [], emailProvider, ...rest } = record;
  const [founder] = record.members;
  const alone = record.members.length === 1 && founder?.role === 'admin';
  const bare = keys.length === 0 && invitations.length === 0 && emailProvider === undefined;
  if (alone && bare) return undefined;
  const members = [{ customerId: founderId, role: 'admin' as const }];
  return { ...rest, members, updateTime: nowText(clock) };
}
