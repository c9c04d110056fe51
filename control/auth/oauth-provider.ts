// Talks to an OpenID Connect provider: discovers its endpoints, sends a browser there, exchanges the code that comes
// back. State and nonce are derived from the code challenge, so that nothing is stored between start and end: only the
// browser that holds the verifier can finish. Rules of requests and customers are sign-in/sign-in-with-oauth.ts's.

import { createHash } from 'node:crypto';
import * as openid from 'openid-client';
import type { OAuthProviderSettings } from '../../platform/account-settings.ts';
import { isLoopbackHost } from '../../platform/private-networks.ts';

export interface ProviderIdentity {
  issuer: string;
  subject: string;
  email?: string;
  emailVerified: boolean;
  displayName?: string;
}

interface Exchange {
  code: string;
  codeVerifier: string;
  redirectUri: string;
  state: string;
  iss?: string;
}

type ExchangeResult =
  | { kind: 'identified'; identity: ProviderIdentity }
  | { kind: 'refused' }
  | { kind: 'unavailable' };

export interface OAuthProvider {
  settings: OAuthProviderSettings;
  /** Undefined if the provider cannot be reached. */
  start(
    redirectUri: string,
    codeChallenge: string,
  ): Promise<{ url: string; state: string } | undefined>;
  finish(exchange: Exchange): Promise<ExchangeResult>;
}

/** How long what a provider says of itself is used before it is asked again. */
const discoveryLifetimeMs = 3_600_000;
/** From a discovery that failed to the next, where an earlier one succeeded. */
const rediscoveryWaitMs = 60_000;
const timeoutSeconds = 10;
const maxSubjectCharacters = 255;

export function createOAuthProvider(settings: OAuthProviderSettings): OAuthProvider {
  let found: { configuration: openid.Configuration; untilMs: number } | undefined;
  // Discovered again every hour: providers change their keys and, rarely, their endpoints.
  const configuration = async (): Promise<openid.Configuration> => {
    const nowMs = performance.now();
    if (found !== undefined && nowMs < found.untilMs) return found.configuration;
    try {
      found = { configuration: await discover(settings), untilMs: nowMs + discoveryLifetimeMs };
    } catch (error) {
      // What is known has worked, and most likely still does.
      if (found === undefined || isFinal(error)) throw error;
      found = { ...found, untilMs: nowMs + rediscoveryWaitMs };
    }
    return found.configuration;
  };
  return {
    settings,
    async start(redirectUri, codeChallenge) {
      try {
        const state = derived('state', codeChallenge);
        const url = openid.buildAuthorizationUrl(await configuration(), {
          redirect_uri: redirectUri,
          scope: 'openid email profile',
          code_challenge: codeChallenge,
          code_challenge_method: 'S256',
          state,
          nonce: derived('nonce', codeChallenge),
        });
        return { url: url.href, state };
      } catch (error) {
        if (isFinal(error)) throw error;
        return undefined;
      }
    },
    async finish(exchange) {
      try {
        return await redeemCode(await configuration(), exchange);
      } catch (error) {
        return { kind: isFinal(error) ? 'refused' : 'unavailable' };
      }
    },
  };
}

/** A code verifier, for a client that makes none. */
export function newCodeVerifier(): string {
  return openid.randomPKCECodeVerifier();
}

export function challengeOf(codeVerifier: string): string {
  return createHash('sha256').update(codeVerifier).digest('base64url');
}

function derived(use: 'state' | 'nonce', codeChallenge: string): string {
  return createHash('sha256').update(`${use} ${codeChallenge}`).digest('base64url');
}

async function discover(settings: OAuthProviderSettings): Promise<openid.Configuration> {
  const issuer = new URL(settings.issuer);
  const loopback = isLoopbackHost(issuer.hostname);
  return openid.discovery(issuer, settings.clientId, settings.clientSecret, undefined, {
    timeout: timeoutSeconds,
    // Unencrypted HTTP is for a provider on this machine only.
    execute: loopback ? [openid.allowInsecureRequests] : [],
  });
}

async function redeemCode(
  configuration: openid.Configuration,
  exchange: Exchange,
): Promise<ExchangeResult> {
  const challenge = challengeOf(exchange.codeVerifier);
  const expectedState = derived('state', challenge);
  const cameBack = new URL(exchange.redirectUri);
  cameBack.searchParams.set('code', exchange.code);
  cameBack.searchParams.set('state', exchange.state);
  cameBack.searchParams.set('iss', exchange.iss ?? configuration.serverMetadata().issuer);
  const tokens = await openid.authorizationCodeGrant(configuration, cameBack, {
    pkceCodeVerifier: exchange.codeVerifier,
    expectedState,
    expectedNonce: derived('nonce', challenge),
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (claims === undefined || !isSubject(claims.sub)) return { kind: 'refused' };
  // Many providers give the address at their user info endpoint only.
  const told =
    claims['email'] === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
      ? {
          ...claims,
          ...(await openid.fetchUserInfo(configuration, tokens.access_token, claims.sub)),
        }
      : claims;
  return {
    kind: 'identified',
    identity: {
      issuer: claims.iss,
      subject: claims.sub,
      emailVerified: told['email_verified'] === true,
      ...(typeof told['email'] === 'string' && { email: told['email'] }),
      ...(typeof told['name'] === 'string' && { displayName: told['name'] }),
    },
  };
}

/** OpenID Connect's rule for `sub`; an empty one would be everybody's. */
function isSubject(sub: unknown): boolean {
  return typeof sub === 'string' && sub !== '' && sub.length <= maxSubjectCharacters;
}

/** True if the provider said no or its answer is not valid: the same code would fail again. */
function isFinal(error: unknown): boolean {
  if (error instanceof openid.AuthorizationResponseError) return true;
  if (error instanceof openid.ResponseBodyError) return error.status < 500;
  if (error instanceof openid.ClientError) {
    // An answer that is no OAuth error, such as the page of a proxy.
    if (error.cause instanceof Response && error.cause.status >= 500) return false;
    return error.code !== 'OAUTH_TIMEOUT' && error.code !== 'OAUTH_ABORT';
  }
  return false;
}
