// Access tokens: short-lived JWTs that name a customer and a session. They hold no role: each call looks the role up,
// so that a role taken away is gone at once.

import { decodeProtectedHeader, errors, jwtVerify, SignJWT } from 'jose';
import type { Clock } from '../../platform/clock.ts';
import { setBounded } from '../../platform/memory/bounded-map.ts';
import type { StartedSession } from './session.ts';
import { type SigningKeys, signingAlgorithm } from './signing-keys.ts';

interface AccessClaims {
  customerId: string;
  sessionId: string;
  /** When the credentials were checked that began the session. */
  sessionStartMs: number;
  /** Exclusive. */
  expiresAtMs: number;
  /** The key that signed the token. */
  keyId: string;
}

export interface AccessTokens {
  issue(
    customerId: string,
    session: Pick<StartedSession, 'sessionId' | 'createTimeMs'>,
  ): Promise<string>;
  /** The claims of a token that was verified before and is still good; costs two map look-ups. */
  known(token: string): AccessClaims | undefined;
  /** The claims; undefined if the token is not this service's or has expired. */
  verify(token: string): Promise<AccessClaims | undefined>;
}

export const accessTokenSeconds = 900;
const leewaySeconds = 5;
/** A token is good for this long at most: so long a replaced signing key counts, and an ended session is remembered. */
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
    const isAlive = clock.nowMs() < claims.expiresAtMs + leewaySeconds * 1_000;
    if (isAlive && keys.find(claims.keyId) !== undefined) return claims;
    verified.delete(token);
    return undefined;
  };
  const remember = (token: string, claims: AccessClaims): void => {
    setBounded(verified, token, claims, maxKnown);
  };
  return {
    known,
    async issue(customerId, { sessionId, createTimeMs }) {
      const key = keys.current();
      const issuedAt = Math.floor(clock.nowMs() / 1_000);
      // A new password ends the sessions that began before it, however late they were last refreshed.
      return new SignJWT({ sid: sessionId, auth_ms: createTimeMs })
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
  const key = keyId === undefined ? undefined : keys.find(keyId);
  if (key === undefined) return undefined;
  try {
    const { payload } = await jwtVerify(token, key.publicKey, {
      algorithms: [signingAlgorithm],
      typ: type,
      issuer,
      audience,
      clockTolerance: leewaySeconds,
      requiredClaims: ['sub', 'sid', 'auth_ms', 'iat', 'exp', 'jti'],
      currentDate: new Date(clock.nowMs()),
    });
    const { sub, iat, exp, sid, auth_ms: sessionStartMs } = payload;
    if (sub === undefined || iat === undefined || exp === undefined) return undefined;
    if (typeof sid !== 'string' || typeof sessionStartMs !== 'number') return undefined;
    // Whoever takes a key cannot make tokens that outlive it: the key itself counts no longer than a token does.
    if (exp - iat > accessTokenSeconds) return undefined;
    if (iat * 1_000 > clock.nowMs() + leewaySeconds * 1_000) return undefined;
    return {
      customerId: sub,
      sessionId: sid,
      sessionStartMs,
      expiresAtMs: exp * 1_000,
      keyId: key.id,
    };
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
