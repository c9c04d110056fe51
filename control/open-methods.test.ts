// Every method that needs no credential, over HTTP with small limits: one address finds an end of its calls, and nobody
// else does. What single methods limit beyond that: links, sign-ups, and tries of tokens.

import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { useBroker } from '../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  newCustomer,
  startAccounts,
  tokenIn,
} from '../test/harness/services/accounts.ts';
import { defaultAttemptLimits } from './auth/attempts.ts';
import { openMethods } from './open-call-limit.ts';

const broker = useBroker();
let accounts: AccountsProcess;
let nowMs = Date.UTC(2026, 0, 1);
const clock = { nowMs: () => nowMs };

beforeAll(async () => {
  accounts = await startAccounts({
    brokerUrl: broker.url,
    clock,
    control: {
      attemptLimits: {
        ...defaultAttemptLimits,
        callsPerAddress: 12,
        perAddress: 8,
        takenPerAddress: 3,
        linksPerEmail: 4,
      },
      addressOf: ({ headers }) => String(headers['x-test-address']),
    },
  });
});

afterAll(() => accounts.close());

let networks = 0;
/** An address that no test has used. */
const newAddress = (): string => `2001:db8:${(++networks).toString(16)}::1`;
const from = (address: string) => accounts.as({ 'x-test-address': address }).auth;
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'in',
    ({ code }) => Code[code],
  );
const newEmail = (): string => `open-${crypto.randomUUID()}@example.com`;

async function call(method: string, address: string, body = '{}'): Promise<Response> {
  const headers = { 'content-type': 'application/json', 'x-test-address': address };
  const response = await fetch(`${accounts.baseUrl}/${method}`, { method: 'POST', headers, body });
  await response.text();
  return response;
}

it('these are all open methods', () => {
  expect([...openMethods].map((name) => name.split('.v1.')[1])).toEqual([
    'AuthService/SignUp',
    'AuthService/SignIn',
    'AuthService/SignInWithMagicLink',
    'AuthService/ListOAuthProviders',
    'AuthService/StartOAuth',
    'AuthService/SignInWithOAuth',
    'AuthService/SignInWithSecondFactor',
    'AuthService/OpenDemo',
    'AuthService/RefreshToken',
    'AuthService/SignOut',
    'SharedDashboardsService/Render',
    'MailedReportsService/Get',
    'MailedReportsService/Confirm',
    'MailedReportsService/Unsubscribe',
  ]);
});

it.each([...openMethods])('%s has a limit for each address, whatever is sent', async (method) => {
  const address = newAddress();
  const statuses: number[] = [];
  // At most as many as the limit of calls, for a request that no other limit looks at.
  while (statuses.at(-1) !== 429 && statuses.length < 20) {
    statuses.push((await call(method, address)).status);
  }
  expect(statuses.at(-1)).toBe(429);
  const again = await call(method, address.replace('::1', ':0:1::9'));
  expect(again.status, 'another address of its network').toBe(429);
  expect(Number(again.headers.get('retry-after'))).toBeGreaterThan(0);
  expect((await call(method, newAddress())).status, 'another network').not.toBe(429);
  nowMs += 1_000;
  expect((await call(method, address)).status, 'a second later').not.toBe(429);
});

describe('a link', () => {
  it('that strangers ask for keeps the owner from none', async () => {
    const { email } = await newCustomer(accounts);
    for (let asked = 0; asked < 3; asked++) {
      expect(await codeOf(from('192.0.2.1').signInWithMagicLink({ email }))).toBe('in');
    }
    expect(await codeOf(from('192.0.2.1').signInWithMagicLink({ email }))).toBe(
      'ResourceExhausted',
    );
    expect(await codeOf(from('192.0.2.2').signInWithMagicLink({ email }))).toBe('in');
    expect(await accounts.mailsTo(email)).toHaveLength(4);
  });

  it('is in the owner’s mailbox however many networks have asked, and the mailbox is not flooded', async () => {
    const { email } = await newCustomer(accounts);
    for (let asked = 0; asked < 20; asked++) {
      expect(await codeOf(from(newAddress()).signInWithMagicLink({ email }))).toBe('in');
    }
    const mails = await accounts.mailsTo(email);
    expect(mails).toHaveLength(4);
    // The owner asks, too, and finds the link of before; having used it, they get another.
    const owner = from(newAddress());
    expect(await codeOf(owner.signInWithMagicLink({ email }))).toBe('in');
    expect(await accounts.mailsTo(email)).toHaveLength(4);
    expect(await codeOf(owner.signInWithMagicLink({ token: tokenIn(mails) }))).toBe('in');
    expect(await codeOf(owner.signInWithMagicLink({ email }))).toBe('in');
    expect(await accounts.mailsTo(email)).toHaveLength(5);
  });

  it('answers the same for an address without an account', async () => {
    const email = newEmail();
    for (let asked = 0; asked < 6; asked++) {
      expect(await from(newAddress()).signInWithMagicLink({ email })).toMatchObject({
        accessToken: '',
      });
    }
  });
});

it('signing up tells one network of few accounts, and others go on', async () => {
  const { email } = await newCustomer(accounts);
  const address = newAddress();
  const signUp = (to: string, by = address) =>
    codeOf(from(by).signUp({ email: to, password: 'correct horse' }));
  expect(await signUp(newEmail())).toBe('in');
  for (let told = 0; told < 3; told++) expect(await signUp(email)).toBe('AlreadyExists');
  expect(await signUp(email)).toBe('ResourceExhausted');
  expect(await signUp(newEmail())).toBe('ResourceExhausted');
  expect(await signUp(newEmail(), newAddress())).toBe('in');
});

it.each(['refreshToken', 'signOut'] as const)('%s: tries of tokens are few', async (method) => {
  const { refreshToken = '' } = await newCustomer(accounts);
  const address = newAddress();
  const part = (length: number) => 'a'.repeat(length);
  const madeUp = { refreshToken: `ref_${part(22)}.${part(22)}.${part(43)}` };
  const codes: unknown[] = [];
  for (let tried = 0; tried < 9; tried++) codes.push(await codeOf(from(address)[method](madeUp)));
  expect(codes.indexOf('ResourceExhausted')).toBe(8);
  expect(await codeOf(from(newAddress())[method]({ refreshToken }))).toBe('in');
});
