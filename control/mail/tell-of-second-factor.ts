// Mails a customer that their second factor has changed: it may have been somebody else.

import type { MailSender } from '../../platform/mail/mail.ts';
import type { Outbox } from '../../platform/mail/outbox.ts';
import type { CustomerRecord } from '../customers/customer-record.ts';
import { type SecondFactorChange, secondFactorMail } from './mail-texts.ts';

/** Queues the mail. Where too many wait it is not sent: the change holds all the same. */
export type TellOfSecondFactor = (customer: CustomerRecord, change: SecondFactorChange) => void;

export function createTellOfSecondFactor(deps: {
  outbox: Pick<Outbox, 'add'>;
  instanceSender: MailSender;
  publicUrl: () => string;
}): TellOfSecondFactor {
  return ({ id: customerId, email }, change) => {
    const link = `${deps.publicUrl()}/account`;
    deps.outbox.add({
      ...{ about: 'second factor', origin: 'instance', customerId },
      sender: deps.instanceSender,
      mail: { to: email, ...secondFactorMail({ change, link }) },
    });
  };
}
