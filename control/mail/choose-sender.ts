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
export type ChooseSender = (organization: OrganizationRecord) => ChosenSender | 'sealed';

export function createChooseSender(options: {
  instanceSender: MailSender;
  box: Pick<SecretBox, 'open'>;
  /** Whether the settings let nobody but this machine in. */
  othersKeptOut: boolean;
}): ChooseSender {
  return (organization) => {
    const { emailProvider } = organization;
    if (emailProvider === undefined) return { sender: options.instanceSender, origin: 'instance' };
    const sender = senderOf(organization.id, emailProvider, options.box);
    if (sender === undefined) return 'sealed';
    // A host that was named on this machine loses its privilege once the settings let others in: behind a proxy that
    // leaves no trace in a request, everybody was on this machine until the operator set the public URL.
    const local = options.othersKeptOut && emailProvider.setOnThisMachine === true;
    return { sender, origin: local ? 'this machine' : 'organization' };
  };
}

function senderOf(
  organizationId: string,
  provider: EmailProviderRecord,
  box: Pick<SecretBox, 'open'>,
): MailSender | undefined {
  const secret = openSecret(organizationId, provider, box);
  if (secret === undefined) return undefined;
  const { fromAddress, replyTo } = provider;
  const addresses = { fromAddress, ...(replyTo !== undefined && { replyTo }) };
  switch (provider.kind) {
    case 'resend':
      return { ...addresses, transport: { kind: 'resend', apiKey: secret } };
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
      return { ...addresses, transport };
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
