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

export type SecondFactorChange =
  | { kind: 'set up' | 'taken away' | 'reset' | 'recovery codes renewed' }
  | { kind: 'recovery code used'; left: number };

export function secondFactorMail(options: {
  change: SecondFactorChange;
  link: string;
}): MailContent {
  return composeMail({
    subject: 'The second factor of your account',
    paragraphs: [
      sentenceOf(options.change),
      'If it was not you, somebody else can sign in as you: change the password, and ask the operator of the service to reset the second factor.',
    ],
    button: { label: 'Look at the account', link: options.link },
  });
}

function sentenceOf(change: SecondFactorChange): string {
  switch (change.kind) {
    case 'set up':
      return 'A second factor was set up for your account: signing in takes a code of your app from now on.';
    case 'taken away':
      return 'The second factor of your account was taken away: the password, or a link in a mail, is enough to sign in.';
    case 'reset':
      return 'The operator of the service has reset the second factor of your account, and has signed you out: the password, or a link in a mail, is enough to sign in. Set a new one up.';
    case 'recovery codes renewed':
      return 'Your account has new recovery codes: the earlier ones open nothing any more.';
    case 'recovery code used':
      return `A recovery code was used to sign in to your account: ${change.left} are left.`;
    default:
      return change satisfies never;
  }
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
