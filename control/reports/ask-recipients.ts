// Asks people who are no members whether they want a report: nothing of it is mailed to them before they say yes.

import { Code, ConnectError } from '@connectrpc/connect';
import type { OrganizationDirectory } from '../../platform/access/organizations.ts';
import type { MailSender } from '../../platform/mail/mail.ts';
import type { Outbox } from '../../platform/mail/outbox.ts';
import { composeMail } from '../../platform/mail/texts/compose-mail.ts';
import { nameInMail } from '../../platform/mail/texts/name-in-mail.ts';
import { reportLinkUrl } from '../../platform/reports/report-link.ts';
import type { Report, ReportRecipient } from '../../proto/gen/dashboard/reports/v1/reports_pb.js';
import type { Attempts } from '../auth/attempts.ts';
import type { ChooseSender } from '../mail/choose-sender.ts';
import type { SignedInMember, SignedInProjectMember } from '../signed-in-customer.ts';

export interface AskDeps {
  directory: Pick<OrganizationDirectory, 'get'>;
  attempts: Pick<Attempts, 'invite'>;
  outbox: Pick<Outbox, 'add'>;
  chooseSender: ChooseSender;
  instanceSender: MailSender;
  /** Whether the instance has a mail server of its own. */
  hasMailServer: boolean;
  publicUrl: () => string;
}

type Caller = SignedInMember & SignedInProjectMember;

/** Counts the mails among the caller's invitations. Throws resource_exhausted where there are too many. */
export function countQuestions(
  { attempts }: Pick<AskDeps, 'attempts'>,
  others: readonly ReportRecipient[],
  { customerId }: Caller,
): void {
  for (const { email } of others) attempts.invite(customerId, email);
}

/** Throws unavailable where a mail cannot be queued; the recipients are stored then, and can be asked again. */
export function askRecipients(
  deps: AskDeps,
  report: Report,
  others: readonly ReportRecipient[],
  caller: Caller,
): void {
  for (const recipient of others) {
    if (ask(deps, report, recipient, caller)) continue;
    const message =
      'the report is stored, but a mail could not be sent: ask the address again later';
    throw new ConnectError(message, Code.Unavailable);
  }
}

function ask(
  deps: AskDeps,
  report: Report,
  { email, key }: ReportRecipient,
  { organizationId, projectId }: Caller,
): boolean {
  const record = deps.directory.get(organizationId);
  const chosen = record === undefined ? 'sealed' : senderFor(deps, record);
  if (record === undefined || chosen === 'sealed') return false;
  const name = nameInMail(report.displayName, 'a report');
  const organization = nameInMail(record.displayName, 'an organization');
  const link = reportLinkUrl(deps.publicUrl(), { projectId, reportId: report.id, key });
  const content = composeMail({
    subject: `Do you want the report ${name}?`,
    paragraphs: [
      `${organization} would like to mail you the report ${name} regularly. You get it if you say yes on this page.`,
      'If you do not know what it is about, ignore this mail: you get nothing more.',
    ],
    button: { label: 'Look at it', link },
  });
  const mail = { to: email, ...content };
  return deps.outbox.add({ about: 'report', ...chosen, organizationId, mail });
}

/**
 * The instance's own mail server where it has one: the owner of an organization's could read the question, and say yes
 * in the name of anybody.
 */
function senderFor(
  { hasMailServer, instanceSender, chooseSender }: AskDeps,
  record: Parameters<ChooseSender>[0],
): ReturnType<ChooseSender> {
  return hasMailServer ? { sender: instanceSender, origin: 'instance' } : chooseSender(record);
}
