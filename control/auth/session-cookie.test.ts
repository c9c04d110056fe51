// A browser's session over HTTP: its refresh token is in a cookie alone, which counts for calls of own pages only.

import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  newCustomer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';

const broker = useBroker();
let accounts: AccountsProcess;
let exposed: AccountsProcess;
let email: string;
beforeAll(async () => {
  accounts = await startAccounts({ brokerUrl: broker.url });
  exposed = await startAccounts({
    brokerUrl: broker.url,
    dataDir: accounts.dataDir,
    env: { MILLRACE_PUBLIC_URL: 'https://dashboard.test' },
    control: { publicUrl: () => 'https://dashboard.test' },
  });
  ({ email } = await newCustomer(accounts));
});
afterAll(async () => {
  await exposed.close();
  await accounts.close();
});

interface Answer {
  status: number;
  body: Record<string, unknown>;
  setCookie: string | undefined;
}

async function call(
  method: string,
  request: object,
  headers: Record<string, string> = {},
  process = accounts,
): Promise<Answer> {
  const answer = await fetch(`${process.baseUrl}/public.auth.v1.AuthService/${method}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(request),
  });
  const [setCookie] = answer.headers.getSetCookie();
  const body: Record<string, unknown> = JSON.parse(await answer.text());
  return { status: answer.status, body, setCookie };
}

const asBrowser = { 'x-session': 'cookie' };
const login = () => ({ email, password: 'correct horse' });
const pairOf = ({ setCookie = '' }: Answer): string => setCookie.split(';')[0] ?? '';

it('the cookie has the refresh token, the body does not', async () => {
  const answer = await call('SignIn', login(), asBrowser);
  expect(answer.body).toMatchObject({ accessToken: expect.any(String), expiresIn: 900 });
  expect(answer.body).not.toHaveProperty('refreshToken');
  const [pair, ...attributes] = (answer.setCookie ?? '').split('; ');
  expect(pair).toMatch(/^millrace_refresh=ref_[\w.-]+$/);
  // Plain http to this machine: a browser keeps no Secure cookie there.
  expect(attributes).toEqual([
    'Path=/public.auth.v1.AuthService',
    'HttpOnly',
    'SameSite=Strict',
    'Max-Age=7776000',
  ]);
  expect((await call('SignIn', login())).setCookie).toBeUndefined();
});

it.each([
  ['x-forwarded-proto', 'https'],
  ['via', '1.1 proxy'],
])('the cookie is Secure behind a proxy that sends %s', async (name, value) => {
  const answer = await call('SignIn', login(), { ...asBrowser, [name]: value });
  expect(answer.setCookie).toMatch(/; Secure$/);
});

describe('a page of the service', () => {
  let cookie: string;
  let own: Record<string, string>;
  beforeEach(async () => {
    cookie = `a=b; ${pairOf(await call('SignIn', login(), asBrowser))}; c=d`;
    own = { ...asBrowser, cookie, origin: accounts.baseUrl };
  });

  it('renews its session, and gets the next cookie', async () => {
    const renewed = await call('RefreshToken', {}, own);
    expect(renewed).toMatchObject({ status: 200, body: { accessToken: expect.any(String) } });
    expect(renewed.body).not.toHaveProperty('refreshToken');
    expect(cookie).not.toContain(pairOf(renewed));
    const again = await call('RefreshToken', {}, { ...own, cookie: pairOf(renewed) });
    expect(again.status).toBe(200);
  });

  it('may leave Origin out where the browser says that it is its own', async () => {
    const { origin: _none, ...rest } = own;
    const headers = { ...rest, 'sec-fetch-site': 'same-origin' };
    expect((await call('RefreshToken', {}, headers)).status).toBe(200);
  });

  it('may be at the public address, which is another than the called one', async () => {
    const behind = { ...own, origin: 'https://dashboard.test' };
    expect((await call('RefreshToken', {}, behind)).status).toBe(401);
    expect((await call('RefreshToken', {}, behind, exposed)).status).toBe(200);
  });

  it('signs out, and its cookie goes', async () => {
    const out = await call('SignOut', {}, own);
    expect(out.setCookie).toMatch(/^millrace_refresh=; .*Max-Age=0/);
    expect((await call('RefreshToken', {}, own)).status).toBe(401);
  });

  it.each([
    ['no x-session', { 'x-session': '' }],
    ['another x-session', { 'x-session': 'token' }],
    ['another origin', { origin: 'https://elsewhere.example' }],
    ['another port of this machine', { origin: 'http://127.0.0.1:1' }],
    ['an opaque origin', { origin: 'null' }],
    ['neither origin nor site', { origin: undefined }],
    ['another site', { origin: undefined, 'sec-fetch-site': 'cross-site' }],
    ['a sibling site', { origin: undefined, 'sec-fetch-site': 'same-site' }],
    ['no page: an address that was typed', { origin: undefined, 'sec-fetch-site': 'none' }],
  ])('%s: the cookie neither renews nor ends the session', async (_name, change) => {
    const headers = Object.fromEntries(
      Object.entries({ ...own, ...change }).filter((entry) => entry[1] !== undefined),
    ) as Record<string, string>;
    const refused = await call('RefreshToken', {}, headers);
    expect([400, 401]).toContain(refused.status);
    expect(refused.setCookie).toBeUndefined();
    await call('SignOut', {}, headers);
    expect((await call('RefreshToken', {}, own)).status).toBe(200);
  });
});

it('a page without a cookie is told that its session is over', async () => {
  const answer = await call('RefreshToken', {}, { ...asBrowser, origin: accounts.baseUrl });
  expect(answer).toMatchObject({ status: 401, body: { code: 'unauthenticated' } });
});

it('every method that answers a refresh token puts it into the cookie', async () => {
  const up = await call(
    'SignUp',
    { email: `up-${crypto.randomUUID()}@example.com`, password: 'correct horse' },
    asBrowser,
  );
  await call('SignInWithMagicLink', { email }, asBrowser);
  const mails = await accounts.mailsTo(email);
  const [, token] = /token=([\w.-]+)/.exec(mails.at(-1) ?? '') ?? [];
  const link = await call('SignInWithMagicLink', { token }, asBrowser);
  for (const answer of [up, link]) {
    expect(answer.body).toHaveProperty('accessToken');
    expect(answer.body).not.toHaveProperty('refreshToken');
    expect(pairOf(answer)).toMatch(/^millrace_refresh=ref_/);
  }
});

it('a client without cookies goes on as before', async () => {
  const { auth } = accounts.as();
  const session = await auth.signUp({
    email: `plain-${crypto.randomUUID()}@example.com`,
    password: 'correct horse',
  });
  const next = await auth.refreshToken({ refreshToken: session.refreshToken });
  await auth.signOut({ refreshToken: next.refreshToken });
  const refused = await auth
    .refreshToken({ refreshToken: next.refreshToken })
    .catch(ConnectError.from);
  expect(refused).toMatchObject({ code: Code.Unauthenticated });
});
