// Who may make an account, over HTTP in each mode of MILLRACE_SIGNUP, and that no answer tells of accounts and
// invitations.

import { Code } from '@connectrpc/connect';
import { afterEach, beforeAll, describe, expect, it } from 'vitest';
import { Role } from '../../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { useBroker } from '../../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
  tokenIn,
} from '../../../test/harness/services/accounts.ts';

const broker = useBroker();
const password = 'correct horse';
let nowMs = Date.UTC(2026, 0, 1);
const clock = { nowMs: () => nowMs };
let accounts: AccountsProcess;
/** Has an account. */
let host: Awaited<ReturnType<typeof newCustomer>>;

beforeAll(async () => {
  const open = await startAccounts({ brokerUrl: broker.url, clock });
  host = await newCustomer(open, 'host');
  await open.close();
});

afterEach(() => accounts.close());

async function start(mode: string | undefined, onlyThisMachine: boolean): Promise<void> {
  accounts = await startAccounts({
    brokerUrl: broker.url,
    clock,
    env: mode === undefined ? {} : { MILLRACE_SIGNUP: mode },
    control: { onlyThisMachine: () => onlyThisMachine },
  });
}

const newEmail = () => `new-${crypto.randomUUID()}@example.com`;

async function invite(email: string): Promise<void> {
  const session = await accounts.as().auth.signIn({ email: host.email, password });
  const { orgs } = accounts.as(bearer(session));
  await orgs.inviteMember({ orgId: host.orgId, email, role: Role.VIEWER });
}

const signUp = (email: string) =>
  accounts
    .as()
    .auth.signUp({ email, password })
    .then(
      () => 'in',
      (error) => error,
    );
const askLink = (email: string) => accounts.as().auth.signInWithMagicLink({ email });
const linkTo = async (email: string) =>
  (await accounts.mailsTo(email)).filter((mail) => mail.includes('/sign-in?token=')).length;
const refused = { code: Code.PermissionDenied };

describe.each([
  ['open', false],
  ['open', true],
  [undefined, true],
])('the mode %s, only this machine: %s', (mode, onlyThisMachine) => {
  it('anybody signs up and gets a link', async () => {
    await start(mode, onlyThisMachine);
    expect(await signUp(newEmail())).toBe('in');
    expect(await signUp(host.email)).toMatchObject({ code: Code.AlreadyExists });
    const email = newEmail();
    await askLink(email);
    const token = tokenIn(await accounts.mailsTo(email));
    const session = await accounts.as().auth.signInWithMagicLink({ token });
    expect(session.customer?.email).toBe(email);
  });
});

describe.each([
  ['invited', false],
  ['invited', true],
  [undefined, false],
])('the mode %s, only this machine: %s', (mode, onlyThisMachine) => {
  it('invited addresses sign up or get a link, while their invitation is open', async () => {
    await start(mode, onlyThisMachine);
    const [first, second, third] = [newEmail(), newEmail(), newEmail()];
    for (const email of [first, second, third]) await invite(email);
    expect(await signUp(first)).toBe('in');
    await askLink(second);
    expect(await linkTo(second)).toBe(1);
    const mails = await accounts.mailsTo(second);
    const token = tokenIn(mails.filter((mail) => mail.includes('/sign-in?token=')));
    const session = await accounts.as().auth.signInWithMagicLink({ token });
    expect(session.customer?.email).toBe(second);
    nowMs += 7 * 24 * 3_600_000;
    expect(await signUp(third)).toMatchObject(refused);
    await askLink(third);
    expect(await linkTo(third)).toBe(0);
  });

  it('others do not, and no answer tells whether the address has an account', async () => {
    await start(mode, onlyThisMachine);
    const stranger = newEmail();
    const answers = [await signUp(stranger), await signUp(host.email)];
    expect(answers[0]).toMatchObject(refused);
    expect(String(answers[1])).toBe(String(answers[0]));
    const [unknown, known] = [await askLink(stranger), await askLink(host.email)];
    // On this machine alone the page shows the link, which there is for an account only.
    expect(unknown).toEqual(onlyThisMachine ? { ...known, link: '' } : known);
    expect(await linkTo(stranger)).toBe(0);
    expect(await linkTo(host.email)).toBe(1);
  });

  it('a link makes no account once the invitation is gone', async () => {
    await start(mode, onlyThisMachine);
    const email = newEmail();
    await invite(email);
    await askLink(email);
    const mails = await accounts.mailsTo(email);
    const token = tokenIn(mails.filter((mail) => mail.includes('/sign-in?token=')));
    const { orgs } = accounts.as(
      bearer(await accounts.as().auth.signIn({ email: host.email, password })),
    );
    const { invitations } = await orgs.listInvitations({ orgId: host.orgId });
    const id = invitations.find((invitation) => invitation.email === email)?.id ?? '';
    await orgs.revokeInvite({ orgId: host.orgId, id });
    await expect(accounts.as().auth.signInWithMagicLink({ token })).rejects.toMatchObject(refused);
  });
});

it('closed: nobody makes an account, invited or not; customers sign in as ever', async () => {
  await start('closed', true);
  const email = newEmail();
  await invite(email);
  expect(await signUp(email)).toMatchObject(refused);
  await askLink(email);
  expect(await linkTo(email)).toBe(0);
  await askLink(host.email);
  const token = tokenIn(await accounts.mailsTo(host.email));
  await accounts.as().auth.signInWithMagicLink({ token });
});
