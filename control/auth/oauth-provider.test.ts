// A provider that answers errors of its own: they end no sign-in for good. Sign-ins themselves are
// sign-in/sign-in-with-oauth.test.ts's.

import { createServer } from 'node:http';
import { afterAll, beforeAll, beforeEach, expect, it, onTestFinished, vi } from 'vitest';
import { challengeOf, createOAuthProvider, newCodeVerifier } from './oauth-provider.ts';

const hourMs = 3_600_000;
const redirectUri = 'https://dashboard.test/callback';
let issuer = '';
let isDown = false;
let discoveries = 0;

const server = createServer((request, response) => {
  const isDiscovery = request.url?.startsWith('/.well-known/') === true;
  if (isDiscovery) discoveries++;
  if (isDown || !isDiscovery) {
    response.writeHead(503, { 'content-type': 'text/html' }).end('<h1>down</h1>');
    return;
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end(
    JSON.stringify({
      issuer,
      authorization_endpoint: `${issuer}/authorize`,
      token_endpoint: `${issuer}/token`,
      jwks_uri: `${issuer}/keys`,
    }),
  );
});

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address === 'object') issuer = `http://127.0.0.1:${address?.port}`;
});
afterAll(() => void server.close());
beforeEach(() => {
  isDown = false;
  discoveries = 0;
});

const codeVerifier = newCodeVerifier();
const challenge = challengeOf(codeVerifier);
const newProvider = () =>
  createOAuthProvider({ name: 'test', issuer, clientId: 'millrace', redirectUris: [redirectUri] });

it('an error of the server is no refusal, whatever page it answers with', async () => {
  const provider = newProvider();
  isDown = true;
  expect(await provider.start(redirectUri, challenge)).toBeUndefined();
  isDown = false;
  const started = await provider.start(redirectUri, challenge);
  const exchange = { code: 'code', codeVerifier, redirectUri, state: started?.state ?? '' };
  expect(await provider.finish(exchange)).toEqual({ kind: 'unavailable' });
});

it('what was discovered goes on while it cannot be discovered again', async () => {
  let passedMs = 0;
  const now = performance.now.bind(performance);
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + passedMs);
  onTestFinished(() => clock.mockRestore());
  const provider = newProvider();
  const url = async () => (await provider.start(redirectUri, challenge))?.url;
  expect(await url()).toContain('/authorize');
  passedMs += hourMs;
  isDown = true;
  expect(await url()).toContain('/authorize');
  expect(await url()).toContain('/authorize');
  expect(discoveries).toBe(2);
  passedMs += hourMs;
  isDown = false;
  expect(await url()).toContain('/authorize');
  expect(discoveries).toBe(3);
});
