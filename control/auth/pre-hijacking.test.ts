// The attack of a stranger who signs up with another person's address and waits for its owner: over HTTP, on two
// processes and a real broker. Nothing that the stranger had or made may outlive the owner's first proof.

import { request as httpRequest } from 'node:http';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { OrganizationRecord } from '../../platform/access/organizations.ts';
import { systemClock } from '../../platform/clock.ts';
import { Role } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { ApiKeyKind } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { startMailServer } from '../../test/harness/servers/mail-server.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
  tokenIn,
} from '../../test/harness/services/accounts.ts';
import { createProveCustomer } from '../customers/proven-customer.ts';

const broker = useBroker();
let accounts: AccountsProcess;
let other: AccountsProcess;
/** A process that only this machine reaches: its sign-ups are proven. */
let local: AccountsProcess;

beforeAll(async () => {
  const options = {
    brokerUrl: broker.url,
    env: { MILLRACE_SIGNUP: 'open' },
    control: { onlyThisMachine: () => false },
  };
  accounts = await startAccounts(options);
  other = await startAccounts({ ...options, dataDir: accounts.dataDir });
  local = await startAccounts({ brokerUrl: broker.url, dataDir: accounts.dataDir });
});

afterAll(async () => {
  await local.close();
  await other.close();
  await accounts.close();
});

const refused = (code: Code, text = '') => ({ code, rawMessage: expect.stringContaining(text) });
const unproven = refused(Code.FailedPrecondition, 'your e-mail address is not proven yet');
const password = 'correct horse';

/** The owner follows a sign-in link. */
async function prove(email: string) {
  const { auth } = accounts.as();
  await auth.signInWithMagicLink({ email });
  return auth.signInWithMagicLink({ token: tokenIn(await accounts.mailsTo(email)) });
}

async function statusWith(key: string, process = accounts): Promise<number> {
  const { status } = await fetch(`${process.baseUrl}/shared.profiles.v1.ProfilesService/Get`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: '{}',
  });
  return status;
}

describe('an unproven account', () => {
  it('makes no private key, organization key or invitation, and says why; a public key it may make', async () => {
    const { orgId, projectId, ...session } = await newCustomer(accounts);
    const me = accounts.as(bearer(session, projectId));
    const email = 'accomplice@example.com';
    for (const call of [
      () => me.projects.createApiKey({ kind: ApiKeyKind.PRIVATE }),
      () => me.orgs.createOrgKey({ orgId, role: Role.VIEWER }),
      () => me.orgs.inviteMember({ orgId, email, role: Role.ADMIN }),
      () => me.orgs.resendInvite({ orgId, id: crypto.randomUUID() }),
    ]) {
      await expect(call()).rejects.toMatchObject(unproven);
    }
    expect(await accounts.mailsTo(email)).toEqual([]);
    const made = await me.projects.createApiKey({ kind: ApiKeyKind.PUBLIC });
    expect(made.key).toMatch(/^pub_/);
    const { org } = await me.orgs.create({ displayName: 'Another' });
    await expect(
      me.orgs.createOrgKey({ orgId: org?.id ?? '', role: Role.VIEWER }),
    ).rejects.toMatchObject(unproven);
  });

  it('is proven at once where only this machine reaches the service', async () => {
    const { projectId, ...session } = await newCustomer(local);
    const me = local.as(bearer(session, projectId));
    expect((await me.projects.createApiKey({ kind: ApiKeyKind.PRIVATE })).key).toMatch(/^prv_/);
  });
});

it('nothing of the stranger survives the first proof, and the owner has all rights', async () => {
  const { email, orgId, projectId, ...stranger } = await newCustomer(accounts);
  const publicKey = await accounts
    .as(bearer(stranger, projectId))
    .projects.createApiKey({ kind: ApiKeyKind.PUBLIC });
  const owner = await prove(email);
  const { auth } = accounts.as();
  const ended = refused(Code.Unauthenticated);
  await expect(auth.signIn({ email, password })).rejects.toMatchObject(ended);
  await expect(auth.refreshToken({ refreshToken: stranger.refreshToken })).rejects.toMatchObject(
    ended,
  );
  for (const process of [accounts, other]) {
    const see = () =>
      process
        .as(bearer(stranger))
        .orgs.list({})
        .then(() => 'in', String);
    await expect.poll(see).toContain('[unauthenticated]');
  }
  const me = accounts.as(bearer(owner, projectId));
  expect((await me.orgs.get({ orgId })).org?.role).toBe(Role.ADMIN);
  expect((await me.orgs.listMembers({ orgId })).members).toHaveLength(1);
  const made = await me.projects.createApiKey({ kind: ApiKeyKind.PRIVATE });
  await me.orgs.createOrgKey({ orgId, role: Role.VIEWER });
  await me.orgs.inviteMember({ orgId, email: 'friend@example.com', role: Role.MEMBER });
  // A second proof ends nothing.
  await prove(email);
  expect(await statusWith(made.key)).toBe(200);
  expect((await me.projects.listApiKeys({})).apiKeys).toContainEqual(publicKey.apiKey);
});

describe('calls of the stranger that are under way when the owner proves the address', () => {
  it('a password that waits to be checked signs nobody in, and a new one is not set', async () => {
    const { email, ...stranger } = await newCustomer(accounts);
    const me = accounts.as(bearer(stranger));
    const { auth } = accounts.as();
    await auth.signInWithMagicLink({ email });
    const token = tokenIn(await accounts.mailsTo(email));
    const calls = [
      ...Array.from({ length: 12 }, () => auth.signIn({ email, password })),
      me.customers.update({ currentPassword: password, password: 'a new horse' }),
    ];
    const outcomes = Promise.allSettled(calls);
    const owner = await auth.signInWithMagicLink({ token });
    for (const outcome of await outcomes) {
      if (outcome.status === 'rejected' || !('refreshToken' in outcome.value)) continue;
      const { accessToken, refreshToken } = outcome.value;
      await expect(accounts.as(bearer({ accessToken })).orgs.list({})).rejects.toThrow();
      await expect(auth.refreshToken({ refreshToken })).rejects.toThrow();
    }
    for (const tried of [password, 'a new horse']) {
      await expect(auth.signIn({ email, password: tried })).rejects.toMatchObject(
        refused(Code.Unauthenticated),
      );
    }
    await accounts.as(bearer(owner)).orgs.list({});
  });

  it('a call whose body is held back is checked again when the body is there', async () => {
    const { email, projectId, ...stranger } = await newCustomer(accounts);
    const body = JSON.stringify({ kind: 'API_KEY_KIND_PRIVATE' });
    const call = httpRequest(
      `${accounts.baseUrl}/dashboard.projects.v1.ProjectsService/CreateApiKey`,
      {
        method: 'POST',
        headers: {
          ...bearer(stranger, projectId),
          'content-type': 'application/json',
          'content-length': body.length,
        },
      },
    );
    const answer = new Promise<number>((resolve, reject) => {
      call.on('response', (response) => {
        response.resume();
        resolve(response.statusCode ?? 0);
      });
      call.on('error', reject);
    });
    call.write(body.slice(0, 5));
    await prove(email);
    call.end(body.slice(5));
    expect(await answer).toBe(401);
  });
});

it('the stranger’s password and sessions end before what they gave out is taken back', async () => {
  const { email, customer } = await newCustomer(accounts);
  const id = customer?.id ?? '';
  const { customers } = accounts.control;
  const before = customers.get(id);
  const seen: unknown[] = [];
  const prove = createProveCustomer({
    customers,
    endUnprovenGrants: async () => void seen.push(customers.get(id)),
    clock: systemClock,
  });
  const proven = await prove(id);
  const sessionsFromMs = expect.toSatisfy((ms) => ms > (before?.sessionsFromMs ?? 0));
  expect(seen).toEqual([expect.objectContaining({ emailVerified: false, sessionsFromMs })]);
  expect(seen[0]).not.toHaveProperty('passwordHash');
  expect(proven).toMatchObject({ email, emailVerified: true });
  expect(proven).not.toHaveProperty('passwordHash');
});

it('an account from before the rule loses keys, members, invitations and its mail server at the first proof', async () => {
  const { email, orgId, projectId, customer, ...stranger } = await newCustomer(local);
  const strangerIn = local.as(bearer(stranger, projectId));
  const accomplice = await newCustomer(local, 'accomplice');
  const elsewhere = await newCustomer(local, 'elsewhere');
  const privateKey = await strangerIn.projects.createApiKey({ kind: ApiKeyKind.PRIVATE });
  const orgKey = await strangerIn.orgs.createOrgKey({ orgId, role: Role.ADMIN });
  await strangerIn.orgs.inviteMember({ orgId, email: accomplice.email, role: Role.ADMIN });
  await strangerIn.orgs.inviteMember({ orgId, email: 'next@example.com', role: Role.ADMIN });
  const token = tokenIn(await local.mailsTo(accomplice.email));
  await local.as(bearer(accomplice)).orgs.acceptInvite({ token });
  // The accomplice takes the stranger's own role away, as far as the rules let them.
  const accompliceIn = local.as(bearer(accomplice, projectId));
  const id = customer?.id ?? '';
  await accompliceIn.orgs.updateMemberRole({ orgId, customerId: id, role: Role.VIEWER });
  // The account also is in an organization that somebody else made: whoever let it in gave out what is there.
  const foreign = local.as(bearer(elsewhere, elsewhere.projectId));
  const foreignKey = await foreign.projects.createApiKey({ kind: ApiKeyKind.PRIVATE });
  await changeOrganization(elsewhere.orgId, (record) => ({
    ...record,
    members: [...record.members, { customerId: id, role: 'member' }],
  }));
  await changeOrganization(orgId, (record) => ({
    ...record,
    emailProvider: {
      kind: 'resend',
      sealedApiKey: 'x',
      fromAddress: 'a@example.com',
      createTime: record.createTime,
      updateTime: record.updateTime,
    },
  }));
  await local.control.customers.change(id, (record) => ({ ...record, emailVerified: false }));
  await expect.poll(() => accounts.control.customers.get(id)?.emailVerified).toBe(false);
  expect(await statusWith(privateKey.key, other)).toBe(200);

  const owner = await prove(email);
  const record = accounts.control.organizations.get(orgId)?.record;
  expect(record?.members).toEqual([{ customerId: id, role: 'admin' }]);
  expect([record?.keys, record?.invitations, record?.emailProvider]).toEqual(
    Array(3).fill(undefined),
  );
  await expect.poll(() => statusWith(privateKey.key, other)).toBe(401);
  await expect.poll(() => other.control.customerAccess.isOrgKey(orgKey.key)).toBe(false);
  const see = () => accompliceIn.orgs.get({ orgId }).then(() => 'in', String);
  await expect.poll(see).toContain('[not_found]');
  const me = accounts.as(bearer(owner, projectId));
  const { apiKeys } = await me.projects.listApiKeys({});
  expect(apiKeys).toMatchObject([{ kind: ApiKeyKind.PUBLIC }]);
  expect(await statusWith(foreignKey.key)).toBe(200);
  expect((await me.orgs.list({})).orgs).toHaveLength(2);
});

describe('an invitation', () => {
  async function invited(invite: AccountsProcess, guest: AccountsProcess) {
    const host = await newCustomer(invite, 'host');
    const { orgId } = host;
    const account = await newCustomer(guest, 'guest');
    const { orgs } = invite.as(bearer(host));
    await orgs.inviteMember({ orgId, email: account.email, role: Role.MEMBER });
    return { host, orgId, orgs, account };
  }

  it('proves the address to which it went: the account joins, and its password and sessions end', async () => {
    const server = await startMailServer();
    const mailing = await startAccounts({
      brokerUrl: broker.url,
      dataDir: accounts.dataDir,
      env: { SMTP_URL: `smtp://127.0.0.1:${server.port}` },
    });
    const { orgId, orgs, account } = await invited(mailing, accounts);
    const { email, customer } = account;
    await expect.poll(() => server.received).toHaveLength(1);
    const token = tokenIn([
      server.received[0]?.text.replaceAll(/=\r?\n/g, '').replaceAll('=3D', '=') ?? '',
    ]);
    await expect
      .poll(() =>
        accounts
          .as(bearer(account))
          .orgs.acceptInvite({ token })
          .then(() => 'in', String),
      )
      .toBe('in');
    // The process that is asked hears of it from the other one.
    const members = async () =>
      (await orgs.listMembers({ orgId })).members.map(({ customerId }) => customerId);
    await expect.poll(members).toContain(customer?.id);
    const ended = refused(Code.Unauthenticated);
    await expect(accounts.as(bearer(account)).orgs.list({})).rejects.toMatchObject(ended);
    await expect(accounts.as().auth.signIn({ email, password })).rejects.toMatchObject(ended);
    await mailing.close();
    await server.close();
  });

  it('proves nothing where it left by a mail server of the organization, which sees the token', async () => {
    const server = await startMailServer({});
    const host = await newCustomer(local, 'host');
    const { orgId } = host;
    const { orgs, providers } = local.as(bearer(host));
    const value = { host: '127.0.0.1', port: server.port };
    await providers.upsert({
      orgId,
      provider: { case: 'smtp', value },
      fromAddress: 'a@b.example',
    });
    const account = await newCustomer(accounts, 'victim');
    await orgs.inviteMember({ orgId, email: account.email, role: Role.MEMBER });
    await expect.poll(() => server.received).toHaveLength(1);
    const token = /token=([\w.-]+)/.exec(JSON.stringify(server.received[0]))?.[1] ?? '';
    expect(token).toMatch(/^inv_/);
    const accept = () => accounts.as(bearer(account)).orgs.acceptInvite({ token });
    await expect.poll(() => accept().then(() => 'in', String)).toContain('not proven yet');
    await accounts.as(bearer(await prove(account.email))).orgs.acceptInvite({ token });
    await server.close();
  });
});

async function changeOrganization(
  id: string,
  change: (record: OrganizationRecord) => OrganizationRecord,
): Promise<void> {
  const { organizations } = local.control;
  const found = await organizations.ask(id);
  if (found.kind !== 'found') throw new Error('no such organization');
  await organizations.update(id, change(found.record), found.revision);
}
