// Sign-in through a real OpenID Connect server on this machine, and through one that cannot be reached.

import { createHash, randomBytes } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  type OidcPerson,
  startOidc,
  type TestOidc,
} from '../../../test/harness/servers/oidc-server.ts';
import { useBroker } from '../../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
  tokenIn,
} from '../../../test/harness/services/accounts.ts';

const broker = useBroker();
let oidc: TestOidc;
let accounts: AccountsProcess;

beforeAll(async () => {
  oidc = await startOidc();
  const { issuer, clientId, clientSecret, redirectUri } = oidc;
  const redirectUris = [redirectUri];
  const providers = [
    { name: 'test', issuer, clientId, clientSecret, redirectUris },
    { name: 'gone', issuer: 'http://127.0.0.1:1', clientId, redirectUris },
  ];
  accounts = await startAccounts({
    brokerUrl: broker.url,
    env: { MILLRACE_OAUTH_PROVIDERS: JSON.stringify(providers), MILLRACE_SIGNUP: 'open' },
    control: { onlyThisMachine: () => false },
  });
});

afterAll(async () => {
  await accounts.close();
  await oidc.close();
});

const refused = (code: Code, text = '') => ({ code, rawMessage: expect.stringContaining(text) });
const provider = 'test';

/** Starts a sign-in, visits the provider as this person, and returns the request that ends the sign-in. */
async function visit(subject: string, person: OidcPerson) {
  oidc.people.set(subject, person);
  const { redirectUri } = oidc;
  const started = await accounts.as().auth.startOAuth({ provider, redirectUri });
  const back = await oidc.signIn(started.authorizationUrl, subject);
  const { codeVerifier } = started;
  const code = back.searchParams.get('code') ?? '';
  const state = back.searchParams.get('state') ?? '';
  return { started, back, request: { provider, code, codeVerifier, redirectUri, state } };
}

const signIn = (request: object) => accounts.as().auth.signInWithOAuth(request);

it('tells a sign-in page which providers there are', async () => {
  const { providers } = await accounts.as().auth.listOAuthProviders({});
  expect(providers).toContain(provider);
});

it('signs in with the provider’s verified address, and makes the account', async () => {
  const email = `new-${crypto.randomUUID()}@example.com`;
  const subject = crypto.randomUUID();
  const { started, back, request } = await visit(subject, {
    email,
    emailVerified: true,
    name: 'Ada',
  });
  const url = new URL(started.authorizationUrl);
  expect(url.searchParams.get('code_challenge_method')).toBe('S256');
  expect(back.searchParams.get('state')).toBe(started.state);
  const session = await signIn({
    ...request,
    iss: back.searchParams.get('iss') ?? '',
  });
  expect(session.customer).toMatchObject({ email, displayName: 'Ada' });
  expect((await accounts.as(bearer(session)).orgs.list({})).orgs).toHaveLength(1);
  const again = await visit(subject, { email: 'moved@example.com', emailVerified: true });
  expect((await signIn(again.request)).customer?.id).toBe(session.customer?.id);
});

it('a code is good once, and only with its verifier, state, issuer and address', async () => {
  const email = `once-${crypto.randomUUID()}@example.com`;
  const { request } = await visit(crypto.randomUUID(), { email, emailVerified: true });
  const broken = [
    { codeVerifier: randomBytes(32).toString('base64url') },
    { state: 'another' },
    { iss: 'https://evil.example.com' },
    { code: 'made up' },
  ];
  for (const change of broken.slice(1)) {
    await expect(signIn({ ...request, ...change })).rejects.toMatchObject(
      refused(Code.Unauthenticated),
    );
  }
  const { state: _none, ...stateless } = request;
  await expect(signIn(stateless)).rejects.toMatchObject(
    refused(Code.InvalidArgument, 'state: is required'),
  );
  await signIn(request);
  await expect(signIn(request)).rejects.toMatchObject(refused(Code.Unauthenticated));
  const second = await visit(crypto.randomUUID(), { email, emailVerified: true });
  await expect(signIn({ ...second.request, ...broken[0] })).rejects.toMatchObject(
    refused(Code.Unauthenticated),
  );
});

it('a client may keep its own verifier', async () => {
  const email = `own-${crypto.randomUUID()}@example.com`;
  const subject = crypto.randomUUID();
  oidc.people.set(subject, { email, emailVerified: true });
  const codeVerifier = randomBytes(32).toString('base64url');
  const codeChallenge = createHash('sha256').update(codeVerifier).digest('base64url');
  const { redirectUri } = oidc;
  const started = await accounts.as().auth.startOAuth({ provider, redirectUri, codeChallenge });
  expect(started.codeVerifier).toBe('');
  const back = await oidc.signIn(started.authorizationUrl, subject);
  const [code, state] = [back.searchParams.get('code'), back.searchParams.get('state')];
  const session = await signIn({ provider, code, codeVerifier, redirectUri, state });
  expect(session.customer?.email).toBe(email);
});

it('lets nobody in by an address that the provider has not verified', async () => {
  const victim = await newCustomer(accounts);
  for (const person of [{ email: victim.email, emailVerified: false }, {}]) {
    const { request } = await visit(crypto.randomUUID(), person);
    await expect(signIn(request)).rejects.toMatchObject(refused(Code.PermissionDenied));
  }
});

it.each(['', 'x'.repeat(256)])('refuses a person whom the provider calls "%s"', async (subject) => {
  const email = `nameless-${crypto.randomUUID()}@example.com`;
  const { request } = await visit(crypto.randomUUID(), { email, emailVerified: true, subject });
  await expect(signIn(request)).rejects.toMatchObject(refused(Code.Unauthenticated));
});

it('joins the account of the address, and ends its unproven password', async () => {
  const { email, customer } = await newCustomer(accounts);
  const { request } = await visit(crypto.randomUUID(), { email, emailVerified: true });
  expect((await signIn(request)).customer?.id).toBe(customer?.id);
  await expect(
    accounts.as().auth.signIn({ email, password: 'correct horse' }),
  ).rejects.toMatchObject(refused(Code.Unauthenticated));
});

it('keeps the password of an account with a proven address', async () => {
  const { email } = await newCustomer(accounts);
  const { auth } = accounts.as();
  await auth.signInWithMagicLink({ email });
  const session = await auth.signInWithMagicLink({ token: tokenIn(await accounts.mailsTo(email)) });
  await accounts.as(bearer(session)).customers.update({ password: 'my own horse' });
  const { request } = await visit(crypto.randomUUID(), { email, emailVerified: true });
  await signIn(request);
  await auth.signIn({ email, password: 'my own horse' });
});

it.each([
  [{ provider: 'unknown' }, Code.InvalidArgument, 'provider: must be one of test, gone'],
  [{ redirectUri: 'https://evil.test/' }, Code.InvalidArgument, 'redirectUri'],
  [{ redirectUri: 'https://dashboard.test/callback/' }, Code.InvalidArgument, 'redirectUri'],
  [{ codeChallenge: 'short' }, Code.InvalidArgument, 'codeChallenge'],
  [{ provider: 'gone' }, Code.Unavailable, 'cannot be reached'],
])('does not start with %j', async (change, code, text) => {
  const { redirectUri } = oidc;
  await expect(
    accounts.as().auth.startOAuth({ provider, redirectUri, ...change }),
  ).rejects.toMatchObject(refused(code, text));
});
