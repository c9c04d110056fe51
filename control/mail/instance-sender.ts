// The instance's own sender of mails: its mail server, or files in the data directory.

import { join } from 'node:path';
import type { AccountSettings } from '../../platform/account-settings.ts';
import { type MailSender, smtpTransport } from '../../platform/mail/mail.ts';

export function instanceSenderOf(
  dataDir: string,
  { smtpUrl, mailFrom }: Pick<AccountSettings, 'smtpUrl' | 'mailFrom'>,
): MailSender {
  const transport =
    smtpUrl === undefined
      ? ({ kind: 'file', directory: join(dataDir, 'mail') } as const)
      : smtpTransport(smtpUrl);
  return { transport, fromAddress: mailFrom };
}
