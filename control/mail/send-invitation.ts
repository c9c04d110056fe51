// Puts an invitation's mail into the outbox, with the organization's own e-mail provider as its sender if it has one.
// The outbox and the sending are platform/mail's.

import type { MailSender } from '../../platform/mail/mail.ts';
import type { Outbox } from '../../platform/mail/outbox.ts';
import type { SecretBox } from '../../platform/secrets/secret-box.ts';
import type { SendInvitation } from '../orgs/invitations.ts';
import { chooseSender } from './choose-sender.ts';
import { invitationMail } from './mail-texts.ts';

export function createSendInvitation(deps: {
  outbox: Pick<Outbox, 'add'>;
  instanceSender: MailSender;
  box: Pick<SecretBox, 'open'>;
  publicUrl: () => string;
}): SendInvitation {
  return ({ organization, inviter, email, token, days }) => {
    const chosen = chooseSender(organization, deps.instanceSender, deps.box);
    if (chosen === 'sealed') return false;
    const content = invitationMail({
      link: `${deps.publicUrl()}/invitation?token=${token}`,
      organization: organization.displayName,
      inviter: inviter.displayName,
      days,
    });
    const mail = { to: email, ...content };
    const { id: organizationId } = organization;
    return deps.outbox.add({ about: 'invitation', ...chosen, organizationId, mail });
  };
}
