// Sends one mail over SMTP: picks the address, uses TLS as the sender asks, and reads the server's answer. Does not try
// again.

import { lookup } from 'node:dns/promises';
import { type BlockList, isIP } from 'node:net';
import { createTransport } from 'nodemailer';
import { isReachableAddress } from '../private-networks.ts';
import type { MailOutcome, MailTransport } from './mail.ts';

type SmtpTransport = MailTransport & { kind: 'smtp' };

interface SmtpOptions {
  extraCertificates: string | undefined;
  /** Where given, only servers in the public internet or in these networks are connected to. */
  vetAgainst: BlockList | undefined;
}

const connectTimeoutMs = 5_000;
const silenceTimeoutMs = 10_000;
const wholeTimeoutMs = 20_000;
const maxReasonCharacters = 200;

/** One try. It takes two connections where the server's use of TLS must be found out, else one. */
export async function sendBySmtp(
  transport: SmtpTransport,
  message: object,
  options: SmtpOptions,
): Promise<MailOutcome> {
  const address = await addressOf(transport.host, options.vetAgainst);
  if (typeof address !== 'string') return address;
  const send = (secure: boolean) => attempt(transport, address, secure, message, options);
  switch (transport.tls) {
    case 'implicit':
      return outcomeOf(await send(true));
    case 'starttls':
    case 'opportunistic':
      return outcomeOf(await send(false));
    case 'required': {
      const first = await send(true);
      return outcomeOf(speaksPlainText(first) ? await send(false) : first);
    }
    default:
      return transport.tls satisfies never;
  }
}

/** The checked address, to connect to directly: a name that is resolved again could lead elsewhere. */
async function addressOf(
  host: string,
  vetAgainst: BlockList | undefined,
): Promise<string | MailOutcome> {
  let addresses: { address: string }[];
  try {
    addresses = isIP(host) === 0 ? await lookup(host, { all: true }) : [{ address: host }];
  } catch {
    return { kind: 'unavailable', reason: `${host} is not found` };
  }
  const refused =
    vetAgainst !== undefined &&
    addresses.some(({ address }) => !isReachableAddress(address, vetAgainst));
  const [first] = addresses;
  if (refused) return { kind: 'refused', reason: `${host} is not in the public internet` };
  return first?.address ?? { kind: 'unavailable', reason: `${host} is not found` };
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
  const codes = [error, field(error, 'cause')].map((from) => field(from, 'code'));
  const reasons = [error, field(error, 'cause')].map((from) => field(from, 'reason'));
  return (
    codes.some((code) => code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'EPROTO') ||
    reasons.includes('wrong version number')
  );
}

// A 4xx from the server asks for another try. So does every failure before its answer, except a login or a certificate
// that will be no better next time.
function outcomeOf(error: unknown): MailOutcome {
  if (error === undefined) return { kind: 'sent' };
  const status = field(error, 'responseCode');
  const code = field(error, 'code');
  const reason = readable(error);
  if (typeof status === 'number') {
    return { kind: status >= 500 ? 'refused' : 'unavailable', reason };
  }
  const permanent = new Set<unknown>(['EAUTH', 'ETLS', 'EENVELOPE', 'EMESSAGE', 'ENOAUTH']);
  return { kind: permanent.has(code) ? 'refused' : 'unavailable', reason };
}

function readable(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replace(/[^\x20-\x7e]+/g, ' ').slice(0, maxReasonCharacters);
}

function field(from: unknown, name: string): unknown {
  return typeof from === 'object' && from !== null ? Reflect.get(from, name) : undefined;
}
