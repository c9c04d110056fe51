// Signing in through another service: the code verifier stays in this tab until the provider sends the browser back.

import { auth } from './auth-client.ts';
import { pathAfter } from './second-step.ts';

const kept = 'millrace-oauth';

function base64url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');
}

const redirectUri = (): string => `${window.location.origin}/oauth`;

/** Leaves for the provider's page; `to` is the path to open afterwards. */
export async function leaveFor(provider: string, to: string): Promise<void> {
  const codeVerifier = base64url(crypto.getRandomValues(new Uint8Array(32)));
  // Digests need a secure context: elsewhere the service makes the verifier.
  const digest = crypto.subtle
    ? await crypto.subtle.digest('SHA-256', new TextEncoder().encode(codeVerifier))
    : undefined;
  const started = await auth.startOAuth({
    provider,
    redirectUri: redirectUri(),
    codeChallenge: digest ? base64url(new Uint8Array(digest)) : '',
  });
  const verifier = started.codeVerifier || codeVerifier;
  sessionStorage.setItem(
    kept,
    JSON.stringify({ provider, to, codeVerifier: verifier, state: started.state }),
  );
  window.location.assign(started.authorizationUrl);
}

type Kept = { provider: string; to: string; codeVerifier: string; state: string };

/** Ends the sign-in with what the provider gave the browser; answers the path to open. */
export async function comeBack(query: URLSearchParams): Promise<string> {
  const text = sessionStorage.getItem(kept);
  sessionStorage.removeItem(kept);
  if (text === null) throw new Error('This sign-in was begun in another tab. Begin again.');
  // Written by leaveFor in this tab.
  const { provider, to, codeVerifier, state } = JSON.parse(text) as Kept;
  if (query.get('state') !== state)
    throw new Error('The answer is of another sign-in. Begin again.');
  const code = query.get('code');
  if (!code) throw new Error(query.get('error_description') ?? 'The provider refused the sign-in.');
  const iss = query.get('iss') ?? '';
  const answer = await auth.signInWithOAuth({
    provider,
    code,
    codeVerifier,
    redirectUri: redirectUri(),
    state,
    iss,
  });
  return pathAfter(answer, to);
}
