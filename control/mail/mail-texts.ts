// The texts of the mails that people get from accounts and organizations. Names are all that people typed in them, as
// name-in-mail.ts leaves them. Sending is platform/mail's.

import { composeMail, type MailContent } from '../../platform/mail/texts/compose-mail.ts';
import { nameInMail } from '../../platform/mail/texts/name-in-mail.ts';

export function magicLinkMail(options: { link: string; minutes: number }): MailContent {
  return composeMail({
    subject: 'Your sign-in link',
    paragraphs: [
      `This link signs you in. It works once, for ${options.minutes} minutes.`,
      'If you did not ask for it, somebody else typed your address: ignore this mail.',
    ],
    button: { label: 'Sign in', link: options.link },
  });
}

export function invitationMail(options: {
  link: string;
  organization: string;
  inviter: string;
  days: number;
}): MailContent {
  const organization = nameInMail(options.organization, 'an organization');
  const inviter = nameInMail(options.inviter, 'Somebody');
  return composeMail({
    subject: `Invitation to ${organization}`,
    paragraphs: [
      `${inviter} invites you to the organization ${organization}.`,
      `Sign in with this address to accept. The invitation is good for ${options.days} days.`,
    ],
    button: { label: 'Accept the invitation', link: options.link },
  });
}

export function testMail(options: { organization: string }): MailContent {
  const organization = nameInMail(options.organization, 'your organization');
  return composeMail({
    subject: 'Your e-mail provider works',
    paragraphs: [
      `This mail was sent through the e-mail provider of ${organization}.`,
      'There is nothing to do.',
    ],
  });
}
