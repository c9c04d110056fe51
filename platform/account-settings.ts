// Reads the settings of accounts and mail: where people reach the service, how mail leaves it, and the sign-in
// providers. The texts come from config.ts, which alone reads the environment. Problems are collected, never thrown.

import { type BlockList, isIP } from 'node:net';
import { parseUrl } from './http/parse-url.ts';
import { smtpUrlTls } from './mail/mail.ts';
import { readMailbox } from './mail/mailbox.ts';
import { isLoopbackHost, readNetworks } from './private-networks.ts';

/** An OpenID Connect provider. */
export interface OAuthProviderSettings {
  /** The name that requests use. */
  name: string;
  issuer: string;
  clientId: string;
  clientSecret?: string;
  /** The URLs that browsers may be sent back to, compared character by character. */
  redirectUris: readonly string[];
}

const signUpModes = ['open', 'invited', 'closed'] as const;

export interface AccountSettings {
  /** Who may make an account: anybody, invited addresses, nobody. Absent, each request's origin decides. */
  signUp?: (typeof signUpModes)[number];
  /** The dashboard's address, without a slash at the end; absent, the address on which this process listens. */
  publicUrl?: string;
  /** The instance's mail server; absent, mails become files in the data directory. */
  smtpUrl?: string;
  mailFrom: string;
  /** Networks that organizations' mail servers may be in besides the public internet. */
  mailNetworks: BlockList;
  oauthProviders: readonly OAuthProviderSettings[];
}

type ReadText = (name: string) => string | undefined;

export function readAccountSettings(text: ReadText, problems: string[]): AccountSettings {
  const publicUrl = readPublicUrl(text('MILLRACE_PUBLIC_URL'), problems);
  const smtpUrl = readSmtpUrl(text('SMTP_URL'), problems);
  const host = publicUrl === undefined ? 'localhost' : new URL(publicUrl).hostname;
  const mailFrom = text('MILLRACE_MAIL_FROM') ?? `Millrace <millrace@${mailDomain(host)}>`;
  if (readMailbox(mailFrom) === undefined) {
    problems.push('MILLRACE_MAIL_FROM must be an e-mail address, or a name and <address>');
  }
  const signUpText = text('MILLRACE_SIGNUP');
  const signUp = signUpModes.find((mode) => mode === signUpText);
  if (signUpText !== undefined && signUp === undefined) {
    problems.push(`MILLRACE_SIGNUP must be one of ${signUpModes.join(', ')}`);
  }
  return {
    ...(signUp !== undefined && { signUp }),
    ...(publicUrl !== undefined && { publicUrl }),
    ...(smtpUrl !== undefined && { smtpUrl }),
    mailFrom,
    mailNetworks: readNetworks('MILLRACE_MAIL_ALLOW', text('MILLRACE_MAIL_ALLOW'), problems),
    oauthProviders: readProviders(text('MILLRACE_OAUTH_PROVIDERS'), problems),
  };
}

function readPublicUrl(url: string | undefined, problems: string[]): string | undefined {
  if (url === undefined) return undefined;
  const parsed = parseUrl(url);
  if (parsed !== undefined) {
    const { protocol, search, hash } = parsed;
    const web = protocol === 'https:' || protocol === 'http:';
    if (web && search === '' && hash === '') return url.replace(/\/+$/, '');
  }
  problems.push('MILLRACE_PUBLIC_URL must be a URL that starts with https:// or http://');
  return undefined;
}

function readSmtpUrl(url: string | undefined, problems: string[]): string | undefined {
  if (url === undefined) return undefined;
  const parsed = parseUrl(url);
  if (parsed !== undefined) {
    const { protocol, hostname, searchParams } = parsed;
    const mail = ['smtp:', 'smtps:'].includes(protocol) && hostname !== '';
    if (mail && smtpUrlTls.includes(searchParams.get('tls'))) return url;
  }
  problems.push(
    'SMTP_URL must be a URL such as smtps://user:password@mail.example.com, with ?tls=required or ?tls=optional at most',
  );
  return undefined;
}

function readProviders(json: string | undefined, problems: string[]): OAuthProviderSettings[] {
  if (json === undefined) return [];
  let list: unknown;
  try {
    list = JSON.parse(json);
  } catch {
    list = undefined;
  }
  if (Array.isArray(list) && list.every(isProvider)) {
    const names = new Set(list.map(({ name }) => name));
    if (names.size === list.length) return list;
  }
  problems.push(
    'MILLRACE_OAUTH_PROVIDERS must be a JSON array of {"name", "issuer", "clientId", "clientSecret", "redirectUris"}' +
      ' with https issuers',
  );
  return [];
}

function isProvider(value: unknown): value is OAuthProviderSettings {
  if (typeof value !== 'object' || value === null) return false;
  const field = (name: string): unknown => Reflect.get(value, name);
  const redirectUris = field('redirectUris');
  const issuer = field('issuer');
  const secret = field('clientSecret');
  return (
    [field('name'), field('clientId')].every((text) => typeof text === 'string' && text !== '') &&
    (secret === undefined || typeof secret === 'string') &&
    typeof issuer === 'string' &&
    isTrustworthy(issuer) &&
    Array.isArray(redirectUris) &&
    redirectUris.length > 0 &&
    redirectUris.every((uri) => typeof uri === 'string' && parseUrl(uri) !== undefined)
  );
}

function isTrustworthy(issuer: string): boolean {
  const url = parseUrl(issuer);
  if (url === undefined) return false;
  const { protocol, hostname } = url;
  return protocol === 'https:' || (protocol === 'http:' && isLoopbackHost(hostname));
}

function mailDomain(host: string): string {
  return isIP(host) !== 0 || host.startsWith('[') ? 'localhost' : host;
}
