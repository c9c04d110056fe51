// AuthService.StartOAuth and SignInWithOAuth: OpenID Connect, authorization code with PKCE. Only an address that the
// provider has verified leads to an account. Talking to the provider is ../oauth-provider.ts's.

import { Code, ConnectError, type HandlerContext } from '@connectrpc/connect';
import type {
  SignInWithOAuthRequest,
  StartOAuthRequest,
} from '../../../proto/gen/public/auth/v1/auth_pb.js';
import type { CustomerRecord } from '../../customers/customer-record.ts';
import type { CustomerStore } from '../../customers/customer-store.ts';
import {
  emailField,
  invalidArgument,
  maxDisplayNameCharacters,
  requiredField,
} from '../../request-fields.ts';
import type { Attempts } from '../attempts.ts';
import {
  challengeOf,
  newCodeVerifier,
  type OAuthProvider,
  type ProviderIdentity,
} from '../oauth-provider.ts';
import type { ProvenAddress } from '../proven-address.ts';
import type { ChallengeAnswer, SignInAnswer, SignInCustomer } from './sign-in-customer.ts';

export interface OAuthDeps {
  providers: ReadonlyMap<string, OAuthProvider>;
  customers: Pick<CustomerStore, 'findByIdentity'>;
  attempts: Pick<Attempts, 'redeem'>;
  provenAddress: ProvenAddress;
  signInCustomer: SignInCustomer;
  addressOf: (context: HandlerContext) => string | undefined;
}

const challengePattern = /^[A-Za-z0-9_-]{43}$/;
const verifierPattern = /^[A-Za-z0-9._~-]{43,128}$/;

export async function startOAuth(
  deps: Pick<OAuthDeps, 'providers' | 'attempts' | 'addressOf'>,
  request: StartOAuthRequest,
  context: HandlerContext,
): Promise<{ authorizationUrl: string; state: string; codeVerifier: string }> {
  const provider = providerField(deps.providers, request.provider);
  const redirectUri = redirectField(provider, request.redirectUri);
  const own = request.codeChallenge !== '';
  if (own && !challengePattern.test(request.codeChallenge)) {
    throw invalidArgument('codeChallenge', 'must be an S256 challenge: 43 base64url characters');
  }
  deps.attempts.redeem(deps.addressOf(context));
  const codeVerifier = own ? '' : newCodeVerifier();
  const started = await provider.start(
    redirectUri,
    own ? request.codeChallenge : challengeOf(codeVerifier),
  );
  if (started === undefined) throw unreachable();
  return { authorizationUrl: started.url, state: started.state, codeVerifier };
}

export async function signInWithOAuth(
  deps: OAuthDeps,
  request: SignInWithOAuthRequest,
  context: HandlerContext,
): Promise<SignInAnswer | ChallengeAnswer> {
  const provider = providerField(deps.providers, request.provider);
  const redirectUri = redirectField(provider, request.redirectUri);
  const code = requiredField('code', request.code);
  const state = requiredField('state', request.state);
  if (!verifierPattern.test(request.codeVerifier)) {
    throw invalidArgument('codeVerifier', 'must be a code verifier of 43 to 128 characters');
  }
  deps.attempts.redeem(deps.addressOf(context));
  const result = await provider.finish({
    code,
    codeVerifier: request.codeVerifier,
    redirectUri,
    state,
    ...(request.iss !== '' && { iss: request.iss }),
  });
  switch (result.kind) {
    case 'identified':
      return deps.signInCustomer(await customerOf(deps, result.identity, context));
    case 'refused':
      throw new ConnectError('the provider does not confirm this sign-in', Code.Unauthenticated);
    case 'unavailable':
      throw unreachable();
    default:
      return result satisfies never;
  }
}

async function customerOf(
  deps: OAuthDeps,
  identity: ProviderIdentity,
  context: HandlerContext,
): Promise<CustomerRecord> {
  const { issuer, subject } = identity;
  const known = await deps.customers.findByIdentity(issuer, subject);
  if (known !== undefined) return known;
  if (identity.email === undefined || !identity.emailVerified) {
    throw new ConnectError('the provider has not verified your address', Code.PermissionDenied);
  }
  return deps.provenAddress(emailField('email', identity.email), context, {
    identity: { issuer, subject },
    ...(identity.displayName !== undefined && { displayName: shown(identity.displayName) }),
  });
}

// A provider's name may break the rules of display names: cut and cleaned, it keeps them.
function shown(name: string): string {
  return [...name.replace(/[\p{Cc}\u2028\u2029]/gu, ' ')]
    .slice(0, maxDisplayNameCharacters)
    .join('');
}

function providerField(providers: ReadonlyMap<string, OAuthProvider>, name: string): OAuthProvider {
  const provider = providers.get(name);
  if (provider !== undefined) return provider;
  const names = [...providers.keys()].join(', ');
  throw invalidArgument(
    'provider',
    names === '' ? 'none is configured' : `must be one of ${names}`,
  );
}

function redirectField({ settings }: OAuthProvider, uri: string): string {
  if (settings.redirectUris.includes(uri)) return uri;
  throw invalidArgument('redirectUri', 'must be one of the addresses configured for the provider');
}

function unreachable(): ConnectError {
  return new ConnectError('the provider cannot be reached, try again', Code.Unavailable);
}
