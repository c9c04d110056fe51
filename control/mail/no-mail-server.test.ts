// An instance without a mail server, over HTTP on a real broker: who sees the links that no mail takes anywhere, and
// what a link that was handed over proves.

import { toJsonString } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ListInvitationsResponseSchema, Role } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { startMailServer } from '../../test/harness/servers/mail-server.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  type Clients,
  newCustomer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';

const broker = useBroker();
const logged: string[] = [];
/** Only this machine reaches it. */
let local: AccountsProcess;
/** Others reach it too; the same accounts. */
let exposed: AccountsProcess;

beforeAll(async () => {
  const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) });
  local = await startAccounts({ brokerUrl: broker.url, control: { log } });
  exposed = await startAccounts({
    brokerUrl: broker.url,
    dataDir: local.dataDir,
    env: { MILLRACE_PUBLIC_URL: 'https://app.example.com' },
    control: { log },
  });
});

afterAll(async () => {
  await exposed.close();
  await local.close();
});

const refused = (code: Code, text = '') => ({ code, rawMessage: expect.stringContaining(text) });
const newEmail = (): string => `guest-${crypto.randomUUID()}@example.com`;
const tokenOf = (link: string): string => new URL(link).searchParams.get('token') ?? '';

/** An organization's admin, whose address is proven, at each process. */
async function admin() {
  const customer = await newCustomer(local, 'admin');
  const { orgId } = customer;
  const { orgs, providers } = exposed.as(bearer(customer));
  await expect.poll(() => orgs.get({ orgId }).then(() => 'known', String)).toBe('known');
  return { orgId, orgs, providers };
}

/** Somebody new who signed up with the invited address, whom an admin gave the link. */
async function joined(orgs: Clients['orgs'], orgId: string, role: Role): Promise<Clients['orgs']> {
  const email = newEmail();
  const { link } = await orgs.inviteMember({ orgId, email, role });
  const session = await exposed.as().auth.signUp({ email, password: 'correct horse' });
  const theirs = exposed.as(bearer(session)).orgs;
  await theirs.acceptInvite({ token: tokenOf(link) });
  return theirs;
}

describe('the link of an invitation', () => {
  it('is shown to the admin who invites or sends again, each time another one, and to nobody else', async () => {
    const { orgId, orgs } = await admin();
    const email = newEmail();
    const first = await orgs.inviteMember({ orgId, email, role: Role.ADMIN });
    expect(first.link).toMatch(/^http:\/\/dashboard\.test\/invitation\?token=inv_/);
    const again = await orgs.resendInvite({ orgId, id: first.invitation?.id ?? '' });
    expect(again.link).toMatch(/\?token=inv_/);
    expect(again.link).not.toBe(first.link);
    const secret = tokenOf(again.link).split('.').at(-1) ?? '';
    const listed = await orgs.listInvitations({ orgId });
    expect(toJsonString(ListInvitationsResponseSchema, listed)).not.toContain(secret);
    // A member may not ask for it.
    const member = await joined(orgs, orgId, Role.MEMBER);
    const id = again.invitation?.id ?? '';
    const tooLow = refused(Code.PermissionDenied);
    await expect(member.resendInvite({ orgId, id })).rejects.toMatchObject(tooLow);
    await exposed.control.outbox.idle();
    expect(logged.join('')).not.toContain(secret);
  });

  it('lets the address that it is for in, by an account that stays unproven, and no other', async () => {
    const { orgId, orgs } = await admin();
    const stranger = local.as(bearer(await newCustomer(local, 'stranger')));
    const { link } = await orgs.inviteMember({ orgId, email: newEmail(), role: Role.ADMIN });
    await expect(stranger.orgs.acceptInvite({ token: tokenOf(link) })).rejects.toMatchObject(
      refused(Code.PermissionDenied, 'another address'),
    );
    const theirs = await joined(orgs, orgId, Role.ADMIN);
    expect((await orgs.listMembers({ orgId })).members).toHaveLength(2);
    // The session goes on, and what needs a proof is still refused.
    const unproven = refused(Code.FailedPrecondition, 'not proven yet');
    const key = { orgId, displayName: 'k', role: Role.VIEWER };
    await expect(theirs.createOrgKey(key)).rejects.toMatchObject(unproven);
    await expect(
      theirs.inviteMember({ orgId, email: newEmail(), role: Role.VIEWER }),
    ).rejects.toMatchObject(unproven);
  });

  it('is in the mail alone where the organization, or the instance, has a mail server', async () => {
    const server = await startMailServer({ hideSTARTTLS: true });
    const { orgId, orgs, providers } = await admin();
    await providers.upsert({
      orgId,
      provider: { case: 'smtp', value: { host: 'mail.example.com', port: 25 } },
      fromAddress: 'a@example.com',
    });
    const byOwn = await orgs.inviteMember({ orgId, email: newEmail(), role: Role.MEMBER });
    expect(byOwn.link).toBe('');
    const id = byOwn.invitation?.id ?? '';
    expect((await orgs.resendInvite({ orgId, id })).link).toBe('');
    const mailing = await startAccounts({
      brokerUrl: broker.url,
      env: { SMTP_URL: `smtp://127.0.0.1:${server.port}` },
    });
    const customer = await newCustomer(mailing);
    const { orgs: mailed, auth } = mailing.as(bearer(customer));
    const sent = await mailed.inviteMember({
      orgId: customer.orgId,
      email: newEmail(),
      role: Role.MEMBER,
    });
    expect(sent.link).toBe('');
    const asked = await auth.signInWithMagicLink({ email: customer.email });
    expect(asked).toMatchObject({ noMailServer: false, link: '' });
    await mailing.close();
    await server.close();
  });
});

describe('a sign-in link', () => {
  it('is in the answer where only this machine reaches the service, and signs in once', async () => {
    const { email } = await newCustomer(local);
    const { auth } = local.as();
    const { noMailServer, link } = await auth.signInWithMagicLink({ email });
    expect(noMailServer).toBe(true);
    const token = tokenOf(link);
    expect((await auth.signInWithMagicLink({ token })).customer?.email).toBe(email);
    await expect(auth.signInWithMagicLink({ token })).rejects.toMatchObject(
      refused(Code.Unauthenticated),
    );
    await local.control.outbox.idle();
    expect(logged.join('')).not.toContain(token);
  });

  const traces = [
    ['x-forwarded-for', '203.0.113.7'],
    ['forwarded', 'for=203.0.113.7'],
    ['via', '1.1 proxy'],
    ['host', 'app.example.com'],
  ];
  it.each(traces)('is not in the answer to a request with %s', async (name, value) => {
    const known = await newCustomer(local);
    const { auth } = local.as({ [name]: value });
    for (const email of [known.email, newEmail()]) {
      expect(await auth.signInWithMagicLink({ email })).toMatchObject({
        noMailServer: true,
        link: '',
      });
    }
  });

  it('is in no answer where others reach the service: an unknown address gets the same one', async () => {
    const known = await newCustomer(local);
    const { auth } = exposed.as();
    const email = await auth.signInWithMagicLink({ email: known.email });
    expect(email).toMatchObject({ noMailServer: true, link: '' });
    expect(await auth.signInWithMagicLink({ email: newEmail() })).toEqual(email);
  });
});
