// The end of single sessions over HTTP: access tokens end with their session, in every process.

import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';

const broker = useBroker();
let accounts: AccountsProcess;
let other: AccountsProcess;
let nowMs = Date.UTC(2026, 0, 1);
const clock = { nowMs: () => nowMs };

beforeAll(async () => {
  accounts = await startAccounts({ brokerUrl: broker.url, clock });
  other = await startAccounts({ brokerUrl: broker.url, clock, dataDir: accounts.dataDir });
});

afterAll(async () => {
  await other.close();
  await accounts.close();
});

const see = (process: AccountsProcess, session: { accessToken: string }) =>
  process
    .as(bearer(session))
    .orgs.list({})
    .then(() => 'in', String);

const password = 'correct horse';

it('a sign-out ends the access tokens of its session in every process, and of no other session', async () => {
  const first = await newCustomer(accounts);
  const second = await accounts.as().auth.signIn({ email: first.email, password });
  for (const process of [accounts, other]) {
    await expect.poll(() => see(process, first)).toBe('in');
    await expect.poll(() => see(process, second)).toBe('in');
  }
  await accounts.as().auth.signOut({ refreshToken: first.refreshToken });
  expect(await see(accounts, first)).toContain('[unauthenticated]');
  await expect.poll(() => see(other, first)).toContain('[unauthenticated]');
  expect(await see(accounts, second)).toBe('in');
  expect(await see(other, second)).toBe('in');
});

it('the replay of a spent token ends the access tokens of its session too', async () => {
  const session = await newCustomer(accounts);
  const { auth } = accounts.as();
  const next = await auth.refreshToken({ refreshToken: session.refreshToken });
  expect(await see(accounts, next)).toBe('in');
  nowMs += 11_000;
  await expect(auth.refreshToken({ refreshToken: session.refreshToken })).rejects.toMatchObject({
    code: Code.Unauthenticated,
  });
  expect(await see(accounts, next)).toContain('[unauthenticated]');
  expect(await see(accounts, session)).toContain('[unauthenticated]');
});

it('a customer has thirty sessions: a further one ends the oldest', async () => {
  const { email, refreshToken: first } = await newCustomer(accounts);
  const auth = accounts.as().auth;
  const { refreshToken: second } = await auth.signIn({ email, password: 'correct horse' });
  for (let sessions = 2; sessions <= 30; sessions++) {
    await auth.signIn({ email, password: 'correct horse' });
  }
  await expect(auth.refreshToken({ refreshToken: first })).rejects.toMatchObject({
    code: Code.Unauthenticated,
  });
  await auth.refreshToken({ refreshToken: second });
});
