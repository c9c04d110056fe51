// The texts of the mails that people get, each as plain text and as HTML with the same words. Names are all that people
// typed in them, as mail-names.ts leaves them. A mail loads nothing from the net, so that nobody learns that it was
// opened. Sending is platform/mail's.

import type { Mail } from '../../platform/mail/mail.ts';
import { nameInMail } from './mail-names.ts';

type Content = Omit<Mail, 'to'>;

export function magicLinkMail(options: { link: string; minutes: number }): Content {
  return compose({
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
}): Content {
  const organization = nameInMail(options.organization, 'an organization');
  const inviter = nameInMail(options.inviter, 'Somebody');
  return compose({
    subject: `Invitation to ${organization}`,
    paragraphs: [
      `${inviter} invites you to the organization ${organization}.`,
      `Sign in with this address to accept. The invitation is good for ${options.days} days.`,
    ],
    button: { label: 'Accept the invitation', link: options.link },
  });
}

export function testMail(options: { organization: string }): Content {
  const organization = nameInMail(options.organization, 'your organization');
  return compose({
    subject: 'Your e-mail provider works',
    paragraphs: [
      `This mail was sent through the e-mail provider of ${organization}.`,
      'There is nothing to do.',
    ],
  });
}

function compose(content: {
  subject: string;
  paragraphs: readonly string[];
  button?: { label: string; link: string };
}): Content {
  const { subject, paragraphs, button } = content;
  const lines = [...paragraphs];
  const blocks = paragraphs.map((text) => `<p>${escapeHtml(text)}</p>`);
  if (button !== undefined) {
    lines.splice(1, 0, button.link);
    const link = escapeHtml(button.link);
    blocks.splice(1, 0, `<p><a href="${link}">${escapeHtml(button.label)}</a></p><p>${link}</p>`);
  }
  return {
    subject,
    text: `${lines.join('\n\n')}\n`,
    html: `<!doctype html><html lang="en"><body>${blocks.join('')}</body></html>\n`,
  };
}

function escapeHtml(text: string): string {
  const entities: Record<string, string> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  };
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? character);
}
