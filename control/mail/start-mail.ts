// Puts the sending of mails together: the instance's own mail server or files, the queue, and whose server a mail
// takes.

import type { AccountSettings } from '../../platform/account-settings.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import type { MailSender } from '../../platform/mail/mail.ts';
import { createOutbox, type Outbox } from '../../platform/mail/outbox.ts';
import { createSendMail, type SendMail } from '../../platform/mail/send.ts';
import type { SecretBox } from '../../platform/secrets/secret-box.ts';
import type { SendInvitation } from '../orgs/invitations.ts';
import { type ChooseSender, createChooseSender } from './choose-sender.ts';
import { instanceSenderOf } from './instance-sender.ts';
import { createSendInvitation } from './send-invitation.ts';

export interface Mail {
  sendMail: SendMail;
  outbox: Outbox;
  instanceSender: MailSender;
  /** Whether the instance has a mail server of its own; without one its mails become files. */
  hasMailServer: boolean;
  chooseSender: ChooseSender;
  sendInvitation: SendInvitation;
  testsUnderWay: Set<string>;
}

interface MailOptions {
  dataDir: string;
  settings: Pick<AccountSettings, 'smtpUrl' | 'mailFrom' | 'mailNetworks'>;
  publicUrl: () => string;
  /** Whether only this machine reaches the service, whoever asks. */
  othersKeptOut: boolean;
  box: SecretBox;
  mailCertificates?: string;
  resendUrl?: string;
  clock: Clock;
  log: Log;
}

export function startMail(options: MailOptions): Mail {
  const { clock, log, dataDir, box, othersKeptOut, publicUrl } = options;
  const { mailCertificates, resendUrl } = options;
  const { smtpUrl, mailNetworks } = options.settings;
  const sendMail = createSendMail({
    clock,
    log,
    allowedNetworks: mailNetworks,
    ...(mailCertificates !== undefined && { extraCertificates: mailCertificates }),
    ...(resendUrl !== undefined && { resendUrl }),
  });
  const instanceSender = instanceSenderOf(dataDir, options.settings);
  const outbox = createOutbox({ send: sendMail, log });
  const chooseSender = createChooseSender({ instanceSender, box, othersKeptOut });
  const sendInvitation = createSendInvitation({ outbox, chooseSender, publicUrl });
  return {
    sendMail,
    outbox,
    instanceSender,
    hasMailServer: smtpUrl !== undefined,
    chooseSender,
    sendInvitation,
    testsUnderWay: new Set(),
  };
}
