// Puts an invitation's mail into the outbox, with the organization's own e-mail provider as its sender if it has one.
// The outbox and the sending are platform/mail's.

import type { Outbox } from '../../platform/mail/outbox.ts';
import type { SendInvitation } from '../orgs/invitations.ts';
import type { ChooseSender } from './choose-sender.ts';
import { invitationMail } from './mail-texts.ts';

export function createSendInvitation(deps: {
  outbox: Pick<Outbox, 'add'>;
  chooseSender: ChooseSender;
  publicUrl: () => string;
}): SendInvitation {
  return ({ organization, inviter, email, token, days }) => {
    const chosen = deps.chooseSender(organization);
    if (chosen === 'sealed') return 'not queued';
    const link = `${deps.publicUrl()}/invitation?token=${token}`;
    const content = invitationMail({
      link,
      organization: organization.displayName,
      inviter: inviter.displayName,
      days,
    });
    const mail = { to: email, ...content };
    const { id: organizationId } = organization;
    const isQueued = deps.outbox.add({ about: 'invitation', ...chosen, organizationId, mail });
    return isQueued ? { link } : 'not queued';
  };
}
