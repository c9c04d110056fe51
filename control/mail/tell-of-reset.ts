// Mails a customer that the operator has reset their second factor. The command line sends it itself and at once: its
// process ends with the command.

import { systemClock } from '../../platform/clock.ts';
import type { Config } from '../../platform/config.ts';
import type { Log } from '../../platform/log.ts';
import { outcomeOf } from '../../platform/mail/outbox.ts';
import { createSendMail } from '../../platform/mail/send.ts';
import { instanceSenderOf } from './instance-sender.ts';
import { secondFactorMail } from './mail-texts.ts';

/** What became of the mail, for the operator: a clause that follows "is signed out; ". */
export type TellOfReset = (email: string) => Promise<string>;

/** With the settings of the command's own environment. */
export function createTellOfReset(
  { dataDir, accounts, port }: Pick<Config, 'dataDir' | 'accounts' | 'port'>,
  log: Log,
): TellOfReset {
  const { mailNetworks: allowedNetworks, publicUrl = `http://localhost:${port}` } = accounts;
  const send = createSendMail({ clock: systemClock, log, allowedNetworks });
  const sender = instanceSenderOf(dataDir, accounts);
  return async (email) => {
    const mail = secondFactorMail({ change: { kind: 'reset' }, link: `${publicUrl}/account` });
    const outcome = await outcomeOf(send(sender, 'instance', { to: email, ...mail }));
    if (outcome.kind !== 'sent') return `no mail tells them (${outcome.reason}): do so`;
    const { transport } = sender;
    return transport.kind === 'file'
      ? `SMTP_URL is not set here: the mail to them is in ${transport.directory}`
      : 'a mail tells them';
  };
}
