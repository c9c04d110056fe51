// Access tokens with real signatures: good ones, forged ones, and a change of signing key.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { SignJWT } from 'jose';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type AccessTokens, createAccessTokens, signedTokenLifetimeMs } from './access-token.ts';
import {
  openSigningKeys,
  rotateSigningKey,
  type SigningKeys,
  signingKeysPath,
} from './signing-keys.ts';

let dataDir: string;
let keys: SigningKeys;
let tokens: AccessTokens;
let nowMs = Date.UTC(2026, 0, 1);
const clock = { nowMs: () => nowMs };

beforeAll(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-tokens-'));
  keys = await openSigningKeys(dataDir, clock);
  tokens = createAccessTokens(keys, clock);
});
afterAll(() => rmSync(dataDir, { recursive: true }));

const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');

/** A valid token with these changes, signed with `signer` or else the current key. */
async function forged(
  header: object = {},
  claims: object = {},
  signer?: Parameters<SignJWT['sign']>[0],
): Promise<string> {
  const { id, privateKey } = await keys.current();
  const issuedAt = Math.floor(nowMs / 1_000);
  const right = {
    iss: 'millrace',
    aud: 'millrace',
    sub: 'c',
    sid: 's',
    iat: issuedAt,
    iat_ms: nowMs,
    exp: issuedAt + 900,
  };
  return new SignJWT({ ...right, ...claims })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: id, ...header })
    .sign(signer ?? privateKey);
}

it('names its customer and session, and costs a look-up from the second use on', async () => {
  const token = await tokens.issue('customer', 'session');
  expect(tokens.known(token)).toBeUndefined();
  const claims = { customerId: 'customer', sessionId: 'session', issuedAtMs: nowMs };
  expect(await tokens.verify(token)).toMatchObject(claims);
  expect(tokens.known(token)).toMatchObject(claims);
});

it('a token expires, known or not', async () => {
  const token = await tokens.issue('customer', 'session');
  await tokens.verify(token);
  nowMs += 904_000;
  expect(await tokens.verify(token)).toBeDefined();
  nowMs += 1_000;
  expect(tokens.known(token)).toBeUndefined();
  expect(await tokens.verify(token)).toBeUndefined();
});

describe('refuses', () => {
  it('tokens with another header, key or claim', async () => {
    expect(await tokens.verify(await forged())).toBeDefined();
    const secret = new TextEncoder().encode('x'.repeat(32));
    const publicKey = readFileSync(signingKeysPath(dataDir));
    const strange: [string, Promise<string>][] = [
      ['another type', forged({ typ: 'JWT' })],
      ['no type', forged({ typ: undefined })],
      ['an unknown key', forged({ kid: crypto.randomUUID() })],
      ['no key id', forged({ kid: undefined })],
      ['a secret instead of a key', forged({ alg: 'HS256' }, {}, secret)],
      ['the key file as a secret', forged({ alg: 'HS256' }, {}, publicKey)],
      ['another issuer', forged({}, { iss: 'other' })],
      ['another audience', forged({}, { aud: 'other' })],
      ['no customer', forged({}, { sub: undefined })],
      ['no session', forged({}, { sid: undefined })],
      ['no expiry', forged({}, { exp: undefined })],
      ['no time of issue', forged({}, { iat: undefined })],
      ['no exact time of issue', forged({}, { iat_ms: undefined })],
      ['not valid yet', forged({}, { nbf: Math.floor(nowMs / 1_000) + 60 })],
    ];
    for (const [what, made] of strange) {
      expect(await tokens.verify(await made).then((claims) => [what, claims])).toEqual([
        what,
        undefined,
      ]);
    }
  });

  it('an unsigned token, a changed one, one that brings its own key, and texts that are no token', async () => {
    const [header = '', body = '', signature = ''] = (await forged()).split('.');
    const { id } = await keys.current();
    const claims = JSON.parse(Buffer.from(body, 'base64url').toString());
    const other = part({ ...claims, sub: 'somebody else' });
    // Changed at its start: one in sixteen Ed25519 signatures end in the same byte.
    const changed = `${signature.startsWith('A') ? 'B' : 'A'}${signature.slice(1)}`;
    for (const token of [
      `${part({ alg: 'none', typ: 'at+jwt', kid: id })}.${body}.`,
      `${header}.${other}.${signature}`,
      `${header}.${body}.${changed}`,
      `${part({ alg: 'EdDSA', typ: 'at+jwt', kid: id, jwk: { kty: 'OKP' } })}.${body}.${signature}`,
      `${header}.${body}`,
      'a.b.c',
      '',
      `${header}.${'A'.repeat(3_000)}.${signature}`,
    ]) {
      expect(await tokens.verify(token)).toBeUndefined();
    }
  });
});

it('a new key signs, and the old one proves its tokens until the last has expired', async () => {
  const before = await tokens.issue('customer', 'session');
  const rotate = () => rotateSigningKey(dataDir, { clock, tokenLifetimeMs: signedTokenLifetimeMs });
  await rotate();
  const after = await tokens.issue('customer', 'session');
  const kid = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;
  expect(kid(after)).not.toBe(kid(before));
  expect(await tokens.verify(before)).toBeDefined();
  expect(await tokens.verify(after)).toBeDefined();
  nowMs += signedTokenLifetimeMs + 1_000;
  await rotate();
  const file = JSON.parse(readFileSync(signingKeysPath(dataDir), 'utf8'));
  const kept = file.keys.map(({ id }: { id: string }) => id);
  expect(kept).not.toContain(kid(before));
  expect(kept).toContain(kid(after));
});
