// Access tokens with real signatures: good ones, forged ones, and a change of signing key.

import { mkdtempSync, readFileSync, renameSync, rmSync } from 'node:fs';
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
  keys = openSigningKeys(dataDir, { clock, tokenLifetimeMs: signedTokenLifetimeMs });
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
  const { id, privateKey } = keys.current();
  const issuedAt = Math.floor(nowMs / 1_000);
  const right = {
    iss: 'millrace',
    aud: 'millrace',
    sub: 'c',
    sid: 's',
    iat: issuedAt,
    auth_ms: nowMs,
    jti: 'j',
    exp: issuedAt + 900,
  };
  return new SignJWT({ ...right, ...claims })
    .setProtectedHeader({ alg: 'EdDSA', typ: 'at+jwt', kid: id, ...header })
    .sign(signer ?? privateKey);
}

const session = { sessionId: 'session', createTimeMs: nowMs };
const rotate = (dropOld = false) =>
  rotateSigningKey(dataDir, { clock, tokenLifetimeMs: signedTokenLifetimeMs, dropOld });

it('names its customer and session, and costs a look-up from the second use on', async () => {
  const token = await tokens.issue('customer', session);
  expect(tokens.known(token)).toBeUndefined();
  const claims = { customerId: 'customer', sessionId: 'session', sessionStartMs: nowMs };
  expect(await tokens.verify(token)).toMatchObject(claims);
  expect(tokens.known(token)).toMatchObject(claims);
});

it('a token expires, known or not', async () => {
  const token = await tokens.issue('customer', session);
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
      ['no time of the session', forged({}, { auth_ms: undefined })],
      ['no id', forged({}, { jti: undefined })],
      ['a time of issue to come', forged({}, { iat: Math.floor(nowMs / 1_000) + 10 })],
      ['ten years to live', forged({}, { exp: Math.floor(nowMs / 1_000) + 315_360_000 })],
      ['a second too many to live', forged({}, { exp: Math.floor(nowMs / 1_000) + 901 })],
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
    const { id } = keys.current();
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
  const before = await tokens.issue('customer', session);
  rotate();
  const after = await tokens.issue('customer', session);
  const kid = (token: string) =>
    JSON.parse(Buffer.from(token.split('.')[0] ?? '', 'base64url').toString()).kid;
  expect(kid(after)).not.toBe(kid(before));
  expect(await tokens.verify(before)).toBeDefined();
  expect(await tokens.verify(after)).toBeDefined();
  nowMs += signedTokenLifetimeMs + 1_000;
  rotate();
  const file = JSON.parse(readFileSync(signingKeysPath(dataDir), 'utf8'));
  const kept = file.keys.map(({ id }: { id: string }) => id);
  expect(kept).not.toContain(kid(before));
  expect(kept).toContain(kid(after));
});

it('a key that was taken signs nothing any more once it was replaced for the life of a token', async () => {
  const { id, privateKey } = keys.current();
  rotate();
  nowMs += 2_000;
  expect(await tokens.verify(await forged({ kid: id }, {}, privateKey))).toBeDefined();
  nowMs += 3_600_000;
  const late = await forged({ kid: id }, {}, privateKey);
  expect(await tokens.verify(late)).toBeUndefined();
  // The file still has the key, and another process that opens it now refuses the token too.
  expect(readFileSync(signingKeysPath(dataDir), 'utf8')).toContain(id);
  const elsewhere = openSigningKeys(dataDir, { clock, tokenLifetimeMs: signedTokenLifetimeMs });
  expect(await createAccessTokens(elsewhere, clock).verify(late)).toBeUndefined();
});

it('of a replaced key the file keeps the public half only', async () => {
  rotate();
  const { keys: stored } = JSON.parse(readFileSync(signingKeysPath(dataDir), 'utf8'));
  const privateHalves = stored.map(({ jwk }: { jwk: { d?: string } }) => jwk.d !== undefined);
  expect(privateHalves.filter(Boolean)).toEqual([true]);
  expect(privateHalves.at(-1)).toBe(true);
});

it('dropped keys end in every process within a second, also for tokens that it has seen before', async () => {
  const elsewhere = createAccessTokens(
    openSigningKeys(dataDir, { clock, tokenLifetimeMs: signedTokenLifetimeMs }),
    clock,
  );
  const { id, privateKey } = keys.current();
  const [seen, unseen] = [await tokens.issue('customer', session), await forged({ kid: id })];
  expect(await elsewhere.verify(seen)).toBeDefined();
  rotate(true);
  nowMs += 1_000;
  expect(elsewhere.known(seen)).toBeUndefined();
  for (const token of [seen, unseen, await forged({ kid: id }, {}, privateKey)]) {
    expect(await elsewhere.verify(token)).toBeUndefined();
  }
  const next = await tokens.issue('customer', session);
  expect(await elsewhere.verify(next)).toBeDefined();
});

it('no key counts while the file is gone, and all do once it is back', async () => {
  const token = await tokens.issue('customer', session);
  expect(await tokens.verify(token)).toBeDefined();
  const path = signingKeysPath(dataDir);
  renameSync(path, `${path}.away`);
  nowMs += 1_000;
  expect(await tokens.verify(token)).toBeUndefined();
  expect(() => keys.current()).toThrow('ENOENT');
  renameSync(`${path}.away`, path);
  nowMs += 1_000;
  expect(await tokens.verify(token)).toBeDefined();
});
