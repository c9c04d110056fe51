// OrgEmailProvidersService: the e-mail provider that an organization sets up to send its mail through. Secrets go in
// and never come out. Talking to mail servers is platform/mail's.

import { create } from '@bufbuild/protobuf';
import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import type {
  EmailProviderRecord,
  OrganizationDirectory,
  OrganizationRecord,
} from '../../platform/access/organizations.ts';
import type { Clock } from '../../platform/clock.ts';
import type { SendMail } from '../../platform/mail/send.ts';
import type { Records } from '../../platform/records/change-record.ts';
import type { SecretBox } from '../../platform/secrets/secret-box.ts';
import {
  type EmailProvider,
  EmailProviderSchema,
  type UpsertRequest,
} from '../../proto/gen/dashboard/orgemailproviders/v1/org_email_providers_pb.js';
import type { Attempts } from '../auth/attempts.ts';
import type { CustomerStore } from '../customers/customer-store.ts';
import { changeOrganization, noSuchOrganization } from '../orgs/org-record.ts';
import { nowText, timestampOf } from '../record-times.ts';
import { invalidArgument, mailboxField, requiredField } from '../request-fields.ts';
import type { SignedInMember } from '../signed-in-customer.ts';
import { type ChooseSender, secretPurpose } from './choose-sender.ts';
import { testMail } from './mail-texts.ts';

export interface EmailProviderDeps {
  organizations: Records<OrganizationRecord>;
  directory: Pick<OrganizationDirectory, 'get'>;
  customers: Pick<CustomerStore, 'get'>;
  attempts: Pick<Attempts, 'sendTest'>;
  box: SecretBox;
  sendMail: SendMail;
  chooseSender: ChooseSender;
  onlyThisMachine: (context: HandlerContext) => boolean;
  /** Ids of the customers whose test mails are under way. */
  testsUnderWay: Set<string>;
  clock: Clock;
}

/** Stands for a secret in every answer; a request that sends it back keeps the stored secret. */
const redacted = '********';
const hostPattern =
  /^(?=.{1,253}$)[\p{L}\p{N}]([\p{L}\p{N}.:_-]*[\p{L}\p{N}])?\.?$|^[0-9a-fA-F:]{2,39}$/u;
const maxLoginCharacters = 1_024;
/** Of all customers, in this process; a test holds a connection for 40 s at most. */
const maxTestsUnderWay = 32;
const testRetrySeconds = '20';

export function getEmailProvider(
  { directory }: Pick<EmailProviderDeps, 'directory'>,
  signedIn: SignedInMember,
): { emailProvider: EmailProvider } {
  const record = directory.get(signedIn.organizationId);
  if (record === undefined) throw noSuchOrganization();
  if (record.emailProvider === undefined) throw noProvider();
  return { emailProvider: providerMessage(record.emailProvider) };
}

export async function upsertEmailProvider(
  { organizations, box, onlyThisMachine, clock }: EmailProviderDeps,
  request: UpsertRequest,
  signedIn: SignedInMember,
  context: HandlerContext,
): Promise<{ emailProvider: EmailProvider }> {
  const fromAddress = mailboxField('fromAddress', request.fromAddress);
  const replyTo = request.replyTo === '' ? '' : mailboxField('replyTo', request.replyTo);
  const seal = (secret: string): string => box.seal(secret, secretPurpose(signedIn.organizationId));
  const checked = providerField(request, seal);
  const provider = await changeOrganization(organizations, signedIn.organizationId, (record) => {
    const before = record.emailProvider;
    const now = nowText(clock);
    const next: EmailProviderRecord = {
      ...checked.withStored(before),
      fromAddress,
      ...(replyTo !== '' && { replyTo }),
      ...(onlyThisMachine(context) && { setOnThisMachine: true }),
      createTime: before?.createTime ?? now,
      updateTime: now,
    };
    return { write: { ...record, emailProvider: next, updateTime: now }, answer: next };
  });
  return { emailProvider: providerMessage(provider) };
}

export async function deleteEmailProvider(
  { organizations, clock }: Pick<EmailProviderDeps, 'organizations' | 'clock'>,
  signedIn: SignedInMember,
): Promise<Record<string, never>> {
  await changeOrganization(organizations, signedIn.organizationId, (record) => {
    const { emailProvider, ...rest } = record;
    if (emailProvider === undefined) throw noProvider();
    return { write: { ...rest, updateTime: nowText(clock) }, answer: undefined };
  });
  return {};
}

export async function sendTest(
  deps: EmailProviderDeps,
  signedIn: SignedInMember,
): Promise<Record<string, never>> {
  const record = deps.directory.get(signedIn.organizationId);
  const customer = deps.customers.get(signedIn.customerId);
  if (record === undefined || customer === undefined) throw noSuchOrganization();
  if (record.emailProvider === undefined) throw noProvider();
  const chosen = deps.chooseSender(record);
  if (chosen === 'sealed') {
    throw new ConnectError(
      "the provider's secret cannot be read any more: set the provider again",
      Code.FailedPrecondition,
    );
  }
  deps.attempts.sendTest(signedIn.organizationId);
  const mail = { to: customer.email, ...testMail({ organization: record.displayName }) };
  const outcome = await oneAtATime(deps.testsUnderWay, customer.id, () =>
    deps.sendMail(chosen.sender, chosen.origin, mail),
  );
  switch (outcome.kind) {
    case 'sent':
      return {};
    case 'refused':
      throw new ConnectError(`the mail was refused: ${outcome.reason}`, Code.FailedPrecondition);
    case 'unavailable':
      throw new ConnectError(`the mail was not sent: ${outcome.reason}`, Code.Unavailable);
    default:
      return outcome satisfies never;
  }
}

/** A slow mail server costs its owner the next test, and nobody else a place. */
async function oneAtATime<T>(
  underWay: Set<string>,
  customerId: string,
  test: () => Promise<T>,
): Promise<T> {
  if (underWay.has(customerId) || underWay.size >= maxTestsUnderWay) {
    throw new ConnectError('another test mail is under way', Code.ResourceExhausted, {
      'retry-after': testRetrySeconds,
    });
  }
  underWay.add(customerId);
  try {
    return await test();
  } finally {
    underWay.delete(customerId);
  }
}

/** The part of the record that says where and how mail goes out. */
type StoredProvider =
  | Pick<
      EmailProviderRecord & { kind: 'smtp' },
      'kind' | 'host' | 'port' | 'username' | 'sealedPassword' | 'useTls'
    >
  | Pick<EmailProviderRecord & { kind: 'resend' }, 'kind' | 'sealedApiKey'>;

/** Checks the request's provider; `withStored` then fills a secret that was not sent from the stored record. */
function providerField(
  { provider }: UpsertRequest,
  seal: (secret: string) => string,
): { withStored: (before: EmailProviderRecord | undefined) => StoredProvider } {
  switch (provider.case) {
    case 'smtp': {
      const { port, useTls } = provider.value;
      const username = loginField('smtp.username', provider.value.username);
      const host = requiredField('smtp.host', provider.value.host.trim());
      if (!hostPattern.test(host)) throw invalidArgument('smtp.host', 'must be a name or address');
      if (port < 1 || port > 65_535) throw invalidArgument('smtp.port', 'must be 1 to 65535');
      const password = newSecret('smtp.password', provider.value.password);
      const sealed = password === undefined ? undefined : seal(password);
      return {
        withStored(before) {
          // A stored password goes to the same server and user only, and as safely as before: a new host, or somebody
          // on the way to the old one, could collect it otherwise.
          const same =
            before?.kind === 'smtp' &&
            before.host === host &&
            before.port === port &&
            before.username === username &&
            before.useTls === useTls;
          const sealedPassword = sealed ?? (same ? before.sealedPassword : undefined);
          if (username !== '' && sealedPassword === undefined) {
            throw invalidArgument(
              'smtp.password',
              'is required with a username, and again where host, port, username or useTls change',
            );
          }
          const rest = { kind: 'smtp', host, port, username, useTls } as const;
          return sealedPassword === undefined ? rest : { ...rest, sealedPassword };
        },
      };
    }
    case 'resend': {
      const apiKey = newSecret('resend.apiKey', provider.value.apiKey);
      const sealed = apiKey === undefined ? undefined : seal(apiKey);
      return {
        withStored(before) {
          const stored = before?.kind === 'resend' ? before.sealedApiKey : undefined;
          const sealedApiKey = sealed ?? stored;
          if (sealedApiKey === undefined) throw invalidArgument('resend.apiKey', 'is required');
          return { kind: 'resend', sealedApiKey };
        },
      };
    }
    case undefined:
      throw invalidArgument('smtp', 'is required, or else resend');
    default:
      return provider satisfies never;
  }
}

/** Undefined if the stored secret stays. */
function newSecret(field: string, text: string): string | undefined {
  return text === '' || text === redacted ? undefined : loginField(field, text);
}

/** No line's end may come into what is said to a mail server. */
function loginField(field: string, text: string): string {
  if (text.length > maxLoginCharacters || /[\p{Cc}\u2028\u2029]/u.test(text)) {
    throw invalidArgument(field, `must have at most ${maxLoginCharacters} plain characters`);
  }
  return text;
}

function providerMessage(record: EmailProviderRecord): EmailProvider {
  return create(EmailProviderSchema, {
    provider: redactedProvider(record),
    fromAddress: record.fromAddress,
    replyTo: record.replyTo ?? '',
    createTime: timestampOf(record.createTime),
    updateTime: timestampOf(record.updateTime),
  });
}

function redactedProvider(record: EmailProviderRecord) {
  switch (record.kind) {
    case 'smtp': {
      const { host, port, username, useTls } = record;
      const password = record.sealedPassword === undefined ? '' : redacted;
      return { case: 'smtp', value: { host, port, username, useTls, password } } as const;
    }
    case 'resend':
      return { case: 'resend', value: { apiKey: redacted } } as const;
    default:
      return record satisfies never;
  }
}

function noProvider(): ConnectError {
  return new ConnectError('the organization has no e-mail provider', Code.NotFound);
}
