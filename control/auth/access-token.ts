// Access tokens: short-lived JWTs that name a customer and a session. They hold no role: each call looks the role up,
// so that a role taken away is gone at once.

import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from 'jose';
import type { Clock } from '../../platform/clock.ts';
import { setBounded } from '../../platform/memory/bounded-map.ts';
import { type SigningKeys, signingAlgorithm } from './signing-keys.ts';

interface AccessClaims {
  customerId: string;
  sessionId: string;
  issuedAtMs: number;
  /** Exclusive. */
  expiresAtMs: number;
}

export interface AccessTokens {
  issue(customerId: string, sessionId: string): Promise<string>;
  /** The claims of a token that was verified before and has not expired; costs a map look-up. */
  known(token: string): AccessClaims | undefined;
  /** The claims; undefined if the token is not this service's or has expired. */
  verify(token: string): Promise<AccessClaims | undefined>;
}

export const accessTokenSeconds = 900;
const leewaySeconds = 5;
/** A replaced signing key may have live tokens for this long. */
export const signedTokenLifetimeMs = (accessTokenSeconds + 2 * leewaySeconds) * 1_000;

const type = 'at+jwt';
const issuer = 'millrace';
const audience = 'millrace';
const maxTokenCharacters = 2_048;
// About 4 MB. A token beyond the bound has its signature checked again.
const maxKnown = 10_000;

export function createAccessTokens(keys: SigningKeys, clock: Clock): AccessTokens {
  // In order of first use. An expired entry goes when its token comes again or newer tokens push it out.
  const verified = new Map<string, AccessClaims>();
  const known = (token: string): AccessClaims | undefined => {
    const claims = verified.get(token);
    if (claims === undefined) return undefined;
    if (clock.nowMs() < claims.expiresAtMs + leewaySeconds * 1_000) return claims;
    verified.delete(token);
    return undefined;
  };
  const remember = (token: string, claims: AccessClaims): void => {
    setBounded(verified, token, claims, maxKnown);
  };
  return {
    known,
    async issue(customerId, sessionId) {
      const key = await keys.current();
      const issuedAtMs = clock.nowMs();
      const issuedAt = Math.floor(issuedAtMs / 1_000);
      // In milliseconds: the whole seconds of `iat` cannot tell a token from before a new password from one after it.
      return new SignJWT({ sid: sessionId, iat_ms: issuedAtMs })
        .setProtectedHeader({ alg: signingAlgorithm, typ: type, kid: key.id })
        .setIssuer(issuer)
        .setAudience(audience)
        .setSubject(customerId)
        .setJti(crypto.randomUUID())
        .setIssuedAt(issuedAt)
        .setExpirationTime(issuedAt + accessTokenSeconds)
        .sign(key.privateKey);
    },
    async verify(token) {
      const claims = known(token) ?? (await verifySignature(token, keys, clock));
      if (claims !== undefined && !verified.has(token)) remember(token, claims);
      return claims;
    },
  };
}

async function verifySignature(
  token: string,
  keys: SigningKeys,
  clock: Clock,
): Promise<AccessClaims | undefined> {
  if (token.length > maxTokenCharacters) return undefined;
  const keyId = keyIdOf(token);
  const key = keyId === undefined ? undefined : await keys.find(keyId);
  if (key === undefined) return undefined;
  try {
    const { payload } = await jwtVerify(token, key.publicKey, {
      algorithms: [signingAlgorithm],
      typ: type,
      issuer,
      audience,
      clockTolerance: leewaySeconds,
      requiredClaims: ['sub', 'sid', 'iat', 'iat_ms', 'exp'],
      currentDate: new Date(clock.nowMs()),
    });
    const { sub, exp, sid, iat_ms: issuedAtMs } = payload;
    if (sub === undefined || exp === undefined) return undefined;
    if (typeof sid !== 'string' || typeof issuedAtMs !== 'number') return undefined;
    return { customerId: sub, sessionId: sid, issuedAtMs, expiresAtMs: exp * 1_000 };
  } catch (error) {
    if (error instanceof errors.JOSEError) return undefined;
    throw error;
  }
}

function keyIdOf(token: string): string | undefined {
  try {
    return decodeProtectedHeader(token).kid;
  } catch {
    return undefined;
  }
}
