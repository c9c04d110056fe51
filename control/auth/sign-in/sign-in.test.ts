// Password sign-in while somebody else tries passwords for the same address: over HTTP, with small limits.

import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { useBroker } from '../../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
} from '../../../test/harness/services/accounts.ts';
import { defaultAttemptLimits } from '../attempts.ts';
import { PasswordsBusy } from '../passwords.ts';

const broker = useBroker();
let accounts: AccountsProcess;
let nowMs = Date.UTC(2026, 0, 1);
const clock = { nowMs: () => nowMs };

beforeAll(async () => {
  accounts = await startAccounts({
    brokerUrl: broker.url,
    clock,
    control: {
      // Small, because a check is dear.
      attemptLimits: { ...defaultAttemptLimits, perAddressAndEmail: 3, perEmail: 6 },
      addressOf: ({ headers }) => String(headers['x-test-address']),
    },
  });
});

afterAll(() => accounts.close());

const password = 'correct horse';
const from = (address: string, headers = {}) =>
  accounts.as({ 'x-test-address': address, ...headers }).auth;
const codeOf = (call: Promise<unknown>) =>
  call.then(
    () => 'in',
    ({ code }) => Code[code],
  );

it('wrong passwords from elsewhere lock the owner out of nothing', async () => {
  const { email, refreshToken, ...session } = await newCustomer(accounts);
  const wrong = (address: string) => codeOf(from(address).signIn({ email, password: 'wrong' }));
  // More than the e-mail address has at full speed.
  const tries = Array.from({ length: 10 }, (_, n) => wrong(`198.51.100.${n % 5}`));
  expect(new Set(await Promise.all(tries))).toEqual(new Set(['Unauthenticated']));
  expect(await codeOf(from('192.0.2.1').signIn({ email, password }))).toBe('in');
  expect(await codeOf(from('192.0.2.1').refreshToken({ refreshToken }))).toBe('in');
  // Behind the attacker's own address a session of the owner passes, and so does a link.
  expect(await wrong('198.51.100.0')).toBe('Unauthenticated');
  expect(await wrong('198.51.100.0')).toBe('ResourceExhausted');
  expect(await codeOf(from('198.51.100.0').signIn({ email, password }))).toBe('ResourceExhausted');
  const known = from('198.51.100.0', bearer(session));
  expect(await codeOf(known.signIn({ email, password }))).toBe('in');
  expect(await codeOf(from('198.51.100.0').signInWithMagicLink({ email }))).toBe('in');
});

it('only a session of the same customer counts, and only while it lasts', async () => {
  const { email } = await newCustomer(accounts);
  const wrong = (headers: object) =>
    codeOf(from('203.0.113.1', headers).signIn({ email, password: 'wrong' }));
  for (let count = 0; count < 3; count++) await wrong({});
  expect(await wrong({})).toBe('ResourceExhausted');
  const other = await newCustomer(accounts);
  expect(await wrong(bearer(other))).toBe('ResourceExhausted');
  expect(await wrong({ authorization: 'Bearer a.b.c' })).toBe('ResourceExhausted');
  const session = await from('192.0.2.2').signIn({ email, password });
  expect(await wrong(bearer(session))).toBe('Unauthenticated');
  await accounts.as().auth.signOut({ refreshToken: session.refreshToken });
  expect(await wrong(bearer(session))).toBe('ResourceExhausted');
  nowMs += 1_000_000;
  expect(await wrong({})).toBe('Unauthenticated');
});

it('a password that nobody checked counts as no wrong one, where it is changed too', async () => {
  const { email, ...session } = await newCustomer(accounts);
  const headers = { 'x-test-address': '203.0.113.9', ...bearer(session) };
  const change = () => {
    const { customers } = accounts.as(headers);
    return codeOf(customers.update({ password: 'another horse', currentPassword: password }));
  };
  const check = vi.spyOn(accounts.control.passwords, 'check');
  check.mockRejectedValue(new PasswordsBusy());
  for (let count = 0; count < 4; count++) expect(await change()).toBe('ResourceExhausted');
  check.mockRestore();
  expect(await change()).toBe('in');
});

it('each check of a password counts as one from its network', async () => {
  const { email, ...session } = await newCustomer(accounts);
  const check = vi.spyOn(accounts.control.passwords, 'check');
  await from('203.0.113.7', bearer(session)).signIn({ email, password });
  await from('2001:db8:0:1::7').signIn({ email, password });
  expect(check.mock.calls.map(([, , caller]) => caller)).toEqual([
    { kind: 'session', from: '203.0.113.7' },
    { kind: 'stranger', from: '2001:db8:0:1' },
  ]);
  check.mockRestore();
});
