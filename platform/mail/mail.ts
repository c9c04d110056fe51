// The types of a mail, its sender and the outcome of sending. Speaking to each kind of mail server is smtp.ts and
// resend.ts.

/** `text` and `html` say the same, and neither loads anything from elsewhere. */
export interface Mail {
  /** One address, without a name. */
  to: string;
  subject: string;
  text: string;
  html: string;
  /**
   * What comes before the @ of its Message-ID, of letters, digits, dots and hyphens: the same where it is sent again,
   * so that its receivers can tell. A random one unless given.
   */
  messageId?: string;
  /** Where a POST ends these mails at once, and where people look at it (RFC 8058). */
  unsubscribeUrl?: string;
}

/** The header fields that name where a mail's receiver ends such mails. */
export function unsubscribeHeaders({ unsubscribeUrl: url }: Mail): Record<string, string> {
  if (url === undefined) return {};
  // RFC 8058 asks for https: elsewhere mail programs open the page.
  const oneClick = { 'List-Unsubscribe-Post': 'List-Unsubscribe=One-Click' };
  return { 'List-Unsubscribe': `<${url}>`, ...(url.startsWith('https://') && oneClick) };
}

/** How TLS is used with a mail server. */
export type SmtpTls =
  /** TLS from the first byte. */
  | 'implicit'
  /** TLS by STARTTLS, or nothing is sent. */
  | 'starttls'
  /** TLS from the first byte, or by STARTTLS where the server speaks plain text first; never without TLS. */
  | 'required'
  /** TLS where the server offers it. */
  | 'opportunistic';

export type MailTransport =
  | {
      kind: 'smtp';
      host: string;
      port: number;
      tls: SmtpTls;
      login?: { username: string; password: string };
    }
  | { kind: 'resend'; apiKey: string }
  | { kind: 'file'; directory: string };

export interface MailSender {
  transport: MailTransport;
  /** One mailbox of mailbox.ts, like `replyTo`. */
  fromAddress: string;
  replyTo?: string;
}

/** `refused`: another try would end the same way. `reason` is written for the person who set the sender up. */
export type MailOutcome =
  | { kind: 'sent' }
  | { kind: 'refused'; reason: string }
  | { kind: 'unavailable'; reason: string };

/** The values of `tls` in the instance's URL. */
export const smtpUrlTls: readonly (string | null)[] = [null, 'required', 'optional'];

/**
 * Reads the instance's mail server from a URL: `smtp://` or `smtps://`, login and port as usual. `?tls=required`
 * insists on STARTTLS with a valid certificate, as a URL with a login does by itself; `?tls=optional` does without.
 */
export function smtpTransport(url: string): MailTransport & { kind: 'smtp' } {
  const { protocol, hostname, port, username, password, searchParams } = new URL(url);
  const implicit = protocol === 'smtps:';
  const tls = searchParams.get('tls') ?? (username === '' ? 'optional' : 'required');
  const plainTls = tls === 'required' ? 'starttls' : 'opportunistic';
  return {
    kind: 'smtp',
    host: hostname.replace(/^\[|\]$/g, ''),
    port: port === '' ? (implicit ? 465 : 587) : Number(port),
    tls: implicit ? 'implicit' : plainTls,
    ...(username !== '' && {
      login: { username: decodeURIComponent(username), password: decodeURIComponent(password) },
    }),
  };
}
