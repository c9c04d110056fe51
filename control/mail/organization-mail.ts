// Mail to the admins of an organization, for services that know neither accounts nor mail servers: who they are, and
// how it is sent. The words of the mails are the callers'.

import {
  mayUse,
  type OrganizationDirectory,
  placeOfMember,
} from '../../platform/access/organizations.ts';
import type { Mail, MailOutcome } from '../../platform/mail/mail.ts';
import type { SendMail } from '../../platform/mail/send.ts';
import type { CustomerStore } from '../customers/customer-store.ts';
import type { ChooseSender } from './choose-sender.ts';

export interface OrganizationMail {
  /** Its admins whose address is proven: others may have typed a stranger's. Undefined for an unknown organization. */
  organization(
    organizationId: string,
  ): { displayName: string; admins: readonly { customerId: string; email: string }[] } | undefined;
  /** Those of the customers who are members and may use the project, where their address is proven. */
  members(
    project: { organizationId: string; projectId: string },
    customerIds: readonly string[],
  ): readonly { customerId: string; email: string }[];
  /** False for an address of a member who may not use the project: nothing of it goes there by another way. */
  mayGet(project: { organizationId: string; projectId: string }, email: string): boolean;
  /** Sends once, by the organization's e-mail provider, else the instance's sender. Takes at most 40 s. */
  send(organizationId: string, mail: Mail): Promise<MailOutcome>;
}

export function createOrganizationMail(deps: {
  directory: Pick<OrganizationDirectory, 'get'>;
  customers: Pick<CustomerStore, 'get' | 'findByEmail'>;
  chooseSender: ChooseSender;
  sendMail: SendMail;
}): OrganizationMail {
  const { directory, customers } = deps;
  const proven = ({ customerId }: { customerId: string }) => {
    const customer = customers.get(customerId);
    return customer?.emailVerified === true ? [{ customerId, email: customer.email }] : [];
  };
  return {
    organization(organizationId) {
      const record = directory.get(organizationId);
      if (record === undefined) return undefined;
      const admins = record.members.filter(({ role }) => role === 'admin').flatMap(proven);
      return { displayName: record.displayName, admins };
    },
    members({ organizationId, projectId }, customerIds) {
      const members = directory.get(organizationId)?.members ?? [];
      return members
        .filter(({ customerId }) => customerIds.includes(customerId))
        .filter((member) => mayUse(placeOfMember(member), projectId))
        .flatMap(proven);
    },
    mayGet({ organizationId, projectId }, email) {
      const known = customers.findByEmail(email);
      const members = directory.get(organizationId)?.members ?? [];
      const member = members.find(({ customerId }) => customerId === known?.id);
      return member === undefined || mayUse(placeOfMember(member), projectId);
    },
    async send(organizationId, mail) {
      const record = directory.get(organizationId);
      if (record === undefined) return { kind: 'refused', reason: 'the organization is gone' };
      const chosen = deps.chooseSender(record);
      if (chosen === 'sealed') {
        const reason = 'the secret of its e-mail provider does not open: set it again';
        return { kind: 'refused', reason };
      }
      return deps.sendMail(chosen.sender, chosen.origin, mail);
    },
  };
}
