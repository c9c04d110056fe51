// Chooses the sender of an organization's mail: its own e-mail provider, or the instance's sender if it has none.
// Sending is platform/mail's.

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

/** `sealed`: today's instance key does not open the provider's secret, which must be set again. */
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

/** The purpose that a provider's secret is sealed with: a secret copied to another organization does not open. */
export function secretPurpose(organizationId: string): string {
  return `organization ${organizationId} e-mail provider`;
}

/** Empty if the provider has no secret; undefined if its secret does not open. */
function openSecret(
  organizationId: string,
  provider: EmailProviderRecord,
  box: Pick<SecretBox, 'open'>,
): string | undefined {
  const sealed = provider.kind === 'smtp' ? provider.sealedPassword : provider.sealedApiKey;
  return sealed === undefined ? '' : box.open(sealed, secretPurpose(organizationId));
}
