// What a mail is, who sends it, and what may come of sending. How each kind of sender is spoken to is the other files'.

/** Both parts say the same; nothing in them is loaded from anywhere. */
export interface Mail {
  /** One address, without a name. */
  to: string;
  subject: string;
  text: string;
  html: string;
}

/** How TLS is used with a mail server. */
export type SmtpTls =
  /** From the first byte. */
  | 'implicit'
  /** By STARTTLS, or nothing is sent. */
  | 'starttls'
  /** From the first byte, or by STARTTLS where the server speaks plain text first; never without. */
  | 'required'
  /** Where the server offers it. */
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
  /** An address, or a name with an address in angle brackets. */
  fromAddress: string;
  replyTo?: string;
}

/** `refused` means that another try would end the same way; `reason` is written for whoever set the sender up. */
export type MailOutcome =
  | { kind: 'sent' }
  | { kind: 'refused'; reason: string }
  | { kind: 'unavailable'; reason: string };

/** A mail server of the instance as a URL: `smtp://` or `smtps://`, login and port as usual, `?tls=required`. */
export function smtpTransport(url: string): MailTransport & { kind: 'smtp' } {
  const { protocol, hostname, port, username, password, searchParams } = new URL(url);
  const implicit = protocol === 'smtps:';
  const plainTls = searchParams.get('tls') === 'required' ? 'starttls' : 'opportunistic';
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
