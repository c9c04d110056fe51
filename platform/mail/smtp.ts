// Sends one mail over SMTP: picks the address, uses TLS as the sender asks, and reads the server's answer. Decides what
// an organization's mail server may be. What people see of the answer is smtp-outcome.ts's. Does not try again.

import { type BlockList, isIP } from 'node:net';
import { createTransport } from 'nodemailer';
import { areReachable, type Internet } from './internet.ts';
import type { MailOutcome, MailTransport, SmtpTls } from './mail.ts';
import { codesOf, outcomeOf, type TargetKind } from './smtp-outcome.ts';

type SmtpTransport = MailTransport & { kind: 'smtp' };

interface SmtpOptions {
  extraCertificates: string | undefined;
  /** Where given, only servers in the public internet or in these networks are connected to. */
  vetAgainst: BlockList | undefined;
  internet: Internet;
}

interface Target {
  kind: TargetKind;
  address: string;
}

/** Of one try: until it is connected, between two words of the server, and in all. */
const connectTimeoutMs = 5_000;
const silenceTimeoutMs = 10_000;
const wholeTimeoutMs = 20_000;

/** One try. It takes two connections where the server's use of TLS must be found out, else one. */
export async function sendBySmtp(
  transport: SmtpTransport,
  message: object,
  options: SmtpOptions,
): Promise<MailOutcome> {
  const target = await targetOf(transport.host, options);
  if (target.kind === 'refused' || target.kind === 'unavailable') return target;
  const tls = tlsFor(transport, target);
  const send = (secure: boolean) =>
    attempt({ ...transport, tls }, target.address, secure, message, options);
  switch (tls) {
    case 'implicit':
      return outcomeOf(await send(true), target.kind);
    case 'starttls':
    case 'opportunistic':
      return outcomeOf(await send(false), target.kind);
    case 'required': {
      const first = await send(true);
      return outcomeOf(speaksPlainText(first) ? await send(false) : first, target.kind);
    }
    default:
      return tls satisfies never;
  }
}

/** The checked address, to connect to directly: a name that is resolved again could lead elsewhere. */
async function targetOf(
  host: string,
  { vetAgainst, internet }: SmtpOptions,
): Promise<Target | (MailOutcome & { kind: 'refused' | 'unavailable' })> {
  let addresses: readonly { address: string }[];
  try {
    addresses = isIP(host) === 0 ? await internet.resolve(host) : [{ address: host }];
  } catch (error) {
    const [code] = codesOf(error);
    const lasting = code === 'ENOTFOUND' || code === 'ENODATA';
    if (vetAgainst !== undefined && lasting) return notPublic(host);
    return { kind: 'unavailable', reason: `${host} is not found` };
  }
  const [first] = addresses;
  if (first === undefined) return { kind: 'unavailable', reason: `${host} is not found` };
  const { address } = first;
  if (vetAgainst === undefined) return { kind: 'operator', address };
  if (!areReachable(addresses, internet, vetAgainst)) return notPublic(host);
  return { kind: internet.isPublic(address) ? 'public' : 'exception', address };
}

/** One answer for a name without an address and for a name inside: nobody lists our network's names by asking. */
function notPublic(host: string): MailOutcome & { kind: 'refused' } {
  return { kind: 'refused', reason: `${host} is not in the public internet` };
}

/**
 * A password crosses the public internet over verified TLS alone: whoever can strip the offer of TLS from the server's
 * greeting would get it otherwise. In networks that the operator opened, and for the operator's own server, the
 * settings say.
 */
function tlsFor({ tls, login }: SmtpTransport, { kind }: Target): SmtpTls {
  return login !== undefined && kind === 'public' && tls === 'opportunistic' ? 'required' : tls;
}

/** Undefined where the server took the mail, else the thrown error. */
async function attempt(
  { host, port, tls, login }: SmtpTransport,
  address: string,
  secure: boolean,
  message: object,
  { extraCertificates }: SmtpOptions,
): Promise<unknown> {
  const transport = createTransport({
    host: address,
    port,
    secure,
    requireTLS: !secure && tls !== 'opportunistic',
    opportunisticTLS: !secure && tls === 'opportunistic',
    connectionTimeout: connectTimeoutMs,
    greetingTimeout: connectTimeoutMs,
    socketTimeout: silenceTimeoutMs,
    ...(login !== undefined && { auth: { user: login.username, pass: login.password } }),
    tls: {
      ...(isIP(host) === 0 && { servername: host }),
      ...(extraCertificates !== undefined && { ca: extraCertificates }),
      // Where plain text is allowed, TLS without a proven name is still better than none.
      rejectUnauthorized: tls !== 'opportunistic',
    },
  });
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    const late = Object.assign(new Error('the server is too slow'), { code: 'ETIMEDOUT' });
    timer = setTimeout(() => reject(late), wholeTimeoutMs);
  });
  try {
    await Promise.race([transport.sendMail(message), timeout]);
    return undefined;
  } catch (error) {
    return error ?? new Error('no reason');
  } finally {
    clearTimeout(timer);
    transport.close();
  }
}

function speaksPlainText(error: unknown): boolean {
  const codes = codesOf(error);
  return codes.includes('ERR_SSL_WRONG_VERSION_NUMBER') || codes.includes('EPROTO');
}
