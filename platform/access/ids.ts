// Makes record ids and raw keys, and checks a raw key's form. Which key opens what, and which are revoked, is not known
// here.

import { createHash, randomInt, randomUUID } from 'node:crypto';
import { crc32 } from 'node:zlib';

export type ApiKeyKind = 'public' | 'private';

/** A new id of an organization, project or key record: a random UUID, so that it can be the namespace of a UUIDv5. */
export function newId(): string {
  return randomUUID();
}

const prefixes = { public: 'pub_', private: 'prv_' } as const satisfies Record<ApiKeyKind, string>;
const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
/** 36 base62 characters hold 214 random bits. */
const randomCharacters = 36;
/** 62^6 exceeds 2^32, so six characters hold any CRC. */
const checksumCharacters = 6;
const keyPattern = new RegExp(`^(pub|prv)_[0-9A-Za-z]{${randomCharacters + checksumCharacters}}$`);

/** A new raw key: prefix, random characters, checksum of both. */
export function newApiKey(kind: ApiKeyKind): string {
  let unchecked: string = prefixes[kind];
  for (let index = 0; index < randomCharacters; index++) unchecked += alphabet[randomInt(62)];
  return unchecked + checksum(unchecked);
}

/**
 * The kind that a raw key claims to be; undefined where it was never made here. The checksum finds garbage and typing
 * errors without a look-up. It proves nothing else.
 */
export function parseApiKey(text: string): ApiKeyKind | undefined {
  if (!keyPattern.test(text)) return undefined;
  const unchecked = text.slice(0, -checksumCharacters);
  if (!text.endsWith(checksum(unchecked))) return undefined;
  return text.startsWith(prefixes.public) ? 'public' : 'private';
}

const orgKeyPattern = new RegExp(`^org_[0-9A-Za-z]{${randomCharacters + checksumCharacters}}$`);

/** A new raw organization key, made like an API key. */
export function newOrgKey(): string {
  let unchecked = 'org_';
  for (let index = 0; index < randomCharacters; index++) unchecked += alphabet[randomInt(62)];
  return unchecked + checksum(unchecked);
}

/** Whether a raw organization key has the right form and checksum. It proves nothing else. */
export function parseOrgKey(text: string): boolean {
  return orgKeyPattern.test(text) && text.endsWith(checksum(text.slice(0, -checksumCharacters)));
}

/** SHA-256 of the text's UTF-8 bytes, in lower-case hex: the only form in which a private key is kept. */
export function sha256(text: string): string {
  return createHash('sha256').update(text).digest('hex');
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = '';
  for (let index = 0; index < checksumCharacters; index++) {
    digits = alphabet[rest % 62] + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}
