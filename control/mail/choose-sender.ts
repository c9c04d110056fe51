// Whose sender a mail of an organization goes through: its own provider's, or the instance's where it has none.

import type {
  EmailProviderRecord,
  OrganizationRecord,
} from '../../platform/access/organizations.ts';
import type { MailSender } from '../../platform/mail/mail.ts';
import type { SenderOrigin } from '../../platform/mail/send.ts';
import type { SecretBox } from '../../platform/secrets/secret-box.ts';

interface ChosenSender {
  sender: MailSender;
  origin: SenderOrigin;
}

/** `sealed`: a secret does not open with the instance key as it is now, and has to be set again. */
export function chooseSender(
  organization: OrganizationRecord,
  instanceSender: MailSender,
  box: Pick<SecretBox, 'open'>,
): ChosenSender | 'sealed' {
  const provider = organization.emailProvider;
  if (provider === undefined) return { sender: instanceSender, origin: 'instance' };
  const secret = openSecret(organization.id, provider, box);
  if (secret === undefined) return 'sealed';
  const { fromAddress, replyTo } = provider;
  const addresses = { fromAddress, ...(replyTo !== undefined && { replyTo }) };
  switch (provider.kind) {
    case 'resend':
      return {
        sender: { ...addresses, transport: { kind: 'resend', apiKey: secret } },
        origin: 'organization',
      };
    case 'smtp': {
      const { host, port, username, useTls } = provider;
      const login = { username, password: secret };
      const tls = useTls ? (port === 465 ? 'implicit' : 'required') : 'opportunistic';
      const transport = {
        kind: 'smtp',
        host,
        port,
        tls,
        ...(username !== '' && { login }),
      } as const;
      return { sender: { ...addresses, transport }, origin: 'organization' };
    }
    default:
      return provider satisfies never;
  }
}

/** What a provider's secret is sealed for. */
export function secretPurpose(organizationId: string): string {
  return `organization ${organizationId} e-mail provider`;
}

/** Empty where the provider has none. */
function openSecret(
  organizationId: string,
  provider: EmailProviderRecord,
  box: Pick<SecretBox, 'open'>,
): string | undefined {
  const sealed = provider.kind === 'smtp' ? provider.sealedPassword : provider.sealedApiKey;
  return sealed === undefined ? '' : box.open(sealed, secretPurpose(organizationId));
}
