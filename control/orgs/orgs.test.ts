import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newOrgKey, sha256 } from '../../platform/access/ids.ts';
import { Role } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { ApiKeyKind } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { type ReceivedMail, startMailServer } from '../../test/harness/servers/mail-server.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  type Clients,
  newCustomer,
  startAccounts,
  tokenIn,
} from '../../test/harness/services/accounts.ts';
import { defaultAttemptLimits } from '../auth/attempts.ts';

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

const refused = (code: Code, text = '') => ({ code, rawMessage: expect.stringContaining(text) });

interface Team {
  orgId: string;
  owner: Clients;
  ownerId: string;
  invite(email: string, role?: Role): Promise<string>;
}

async function team(): Promise<Team> {
  const customer = await newCustomer(accounts);
  const { orgId, projectId } = customer;
  const owner = accounts.as(bearer(customer, projectId));
  const invite = async (email: string, role = Role.MEMBER) => {
    await owner.orgs.inviteMember({ orgId, email, role });
    return tokenIn(await accounts.mailsTo(email));
  };
  return { orgId, owner, ownerId: customer.customer?.id ?? '', invite };
}

describe('organizations', () => {
  it('are made, read, listed and renamed by their admin', async () => {
    const { owner } = await team();
    nowMs += 1_000;
    const { org } = await owner.orgs.create({ displayName: ' Second ' });
    expect(org).toMatchObject({ displayName: 'Second', role: Role.ADMIN });
    const id = org?.id ?? '';
    nowMs += 1_000;
    const { org: renamed } = await owner.orgs.update({ orgId: id, displayName: 'Third' });
    expect(renamed).toMatchObject({ displayName: 'Third' });
    expect(renamed?.updateTime?.seconds).toBe((renamed?.createTime?.seconds ?? 0n) + 1n);
    expect((await owner.orgs.get({ id })).org).toEqual(renamed);
    expect((await owner.orgs.list({})).orgs.map(({ displayName }) => displayName)).toEqual([
      expect.any(String),
      'Third',
    ]);
    await expect(owner.orgs.update({ orgId: id, displayName: ' ' })).rejects.toMatchObject(
      refused(Code.InvalidArgument, 'displayName: is required'),
    );
    await expect(owner.orgs.get({})).rejects.toMatchObject(
      refused(Code.InvalidArgument, 'orgId: is required'),
    );
  });

  it('are not there for anybody else', async () => {
    const { orgId } = await team();
    const stranger = await team();
    await expect(stranger.owner.orgs.get({ orgId })).rejects.toMatchObject(refused(Code.NotFound));
    await expect(stranger.owner.orgs.get({ orgId: crypto.randomUUID() })).rejects.toMatchObject(
      refused(Code.NotFound),
    );
  });
});

describe('members', () => {
  it('join by an invitation that went to their address, once', async () => {
    const { orgId, owner, invite } = await team();
    const guest = await newCustomer(accounts);
    const stranger = accounts.as(bearer(await newCustomer(accounts)));
    const me = accounts.as(bearer(guest));
    const token = await invite(guest.email.toUpperCase(), Role.VIEWER).then(async () =>
      tokenIn(await accounts.mailsTo(guest.email)),
    );
    await expect(stranger.orgs.acceptInvite({ token })).rejects.toMatchObject(
      refused(Code.PermissionDenied),
    );
    await expect(me.orgs.acceptInvite({ token: `${token.slice(0, -1)}!` })).rejects.toMatchObject(
      refused(Code.NotFound),
    );
    const accepted = await me.orgs.acceptInvite({ token });
    expect(accepted).toMatchObject({ org: { id: orgId, role: Role.VIEWER } });
    await expect(me.orgs.acceptInvite({ token })).rejects.toMatchObject(refused(Code.NotFound));
    const { members } = await me.orgs.listMembers({ orgId });
    expect(members.map(({ email, role }) => [email, role])).toContainEqual([
      guest.email,
      Role.VIEWER,
    ]);
    expect((await owner.orgs.listInvitations({ orgId })).invitations).toEqual([]);
    await expect(
      owner.orgs.inviteMember({ orgId, email: guest.email, role: Role.ADMIN }),
    ).rejects.toMatchObject(refused(Code.AlreadyExists));
    const { customers } = await me.customers.list({ orgId });
    expect(customers).toHaveLength(2);
    expect((await me.customers.get({})).customer?.email).toBe(guest.email);
    await expect(stranger.customers.get({ id: guest.customer?.id ?? '' })).rejects.toMatchObject(
      refused(Code.NotFound),
    );
  });

  it('are promoted, demoted and removed, but never the last admin', async () => {
    const { orgId, owner, ownerId, invite } = await team();
    const guest = await newCustomer(accounts);
    const customerId = guest.customer?.id ?? '';
    const me = accounts.as(bearer(guest));
    await me.orgs.acceptInvite({ token: await invite(guest.email) });
    for (const call of [
      () => owner.orgs.removeMember({ orgId, customerId: ownerId }),
      () => owner.orgs.updateMemberRole({ orgId, customerId: ownerId, role: Role.MEMBER }),
      () => owner.orgs.leave({ orgId }),
    ]) {
      await expect(call()).rejects.toMatchObject(refused(Code.FailedPrecondition, 'last admin'));
    }
    await owner.orgs.updateMemberRole({ orgId, customerId, role: Role.ADMIN });
    await owner.orgs.leave({ orgId });
    await expect(owner.orgs.get({ orgId })).rejects.toMatchObject(refused(Code.NotFound));
    expect((await me.orgs.listMembers({ orgId })).members).toHaveLength(1);
    await expect(
      me.orgs.removeMember({ orgId, customerId: crypto.randomUUID() }),
    ).rejects.toMatchObject(refused(Code.NotFound));
    await expect(
      me.orgs.updateMemberRole({ orgId, customerId, role: Role.UNSPECIFIED }),
    ).rejects.toMatchObject(refused(Code.InvalidArgument, 'role: must be'));
  });

  it('that are removed are out everywhere, whatever their token says', async () => {
    const { orgId, owner, invite } = await team();
    const guest = await newCustomer(accounts);
    await accounts
      .as(bearer(guest))
      .orgs.acceptInvite({ token: await invite(guest.email, Role.ADMIN) });
    const elsewhere = other.as(bearer(guest));
    const see = () => elsewhere.orgs.get({ orgId }).then(() => 'in', String);
    await expect.poll(see).toBe('in');
    await owner.orgs.removeMember({ orgId, customerId: guest.customer?.id ?? '' });
    await expect.poll(see).toContain('[not_found]');
  });

  it('of many admins who all leave at once, one stays', async () => {
    const { orgId, owner, invite } = await team();
    const admins: Clients[] = [owner];
    for (let index = 0; index < 4; index++) {
      const guest = await newCustomer(accounts);
      const me = (index % 2 === 0 ? accounts : other).as(bearer(guest));
      await me.orgs.acceptInvite({ token: await invite(guest.email, Role.ADMIN) });
      admins.push(me);
    }
    const results = await Promise.allSettled(admins.map(({ orgs }) => orgs.leave({ orgId })));
    expect(results.filter(({ status }) => status === 'rejected')).toHaveLength(1);
  });
});

describe('invitations', () => {
  it('are listed, sent again with a new token, taken back', async () => {
    const { orgId, owner, invite } = await team();
    const guest = await newCustomer(accounts);
    const me = accounts.as(bearer(guest));
    const first = await invite(guest.email);
    await expect(
      owner.orgs.inviteMember({ orgId, email: guest.email, role: Role.ADMIN }),
    ).rejects.toMatchObject(refused(Code.AlreadyExists));
    const { invitations } = await owner.orgs.listInvitations({ orgId });
    expect(invitations).toMatchObject([{ email: guest.email, role: Role.MEMBER, orgId }]);
    const id = invitations[0]?.id ?? '';
    nowMs += 1_000;
    await owner.orgs.resendInvite({ orgId, id });
    const second = tokenIn(await accounts.mailsTo(guest.email));
    expect(second).not.toBe(first);
    await expect(me.orgs.acceptInvite({ token: first })).rejects.toMatchObject(
      refused(Code.NotFound),
    );
    await owner.orgs.revokeInvite({ orgId, id });
    await expect(me.orgs.acceptInvite({ token: second })).rejects.toMatchObject(
      refused(Code.NotFound),
    );
    await expect(owner.orgs.revokeInvite({ orgId, id })).rejects.toMatchObject(
      refused(Code.NotFound),
    );
  });

  it('expire after seven days', async () => {
    const { invite } = await team();
    const guest = await newCustomer(accounts);
    const token = await invite(guest.email);
    nowMs += 7 * 24 * 3_600_000;
    const again = await accounts
      .as()
      .auth.signIn({ email: guest.email, password: 'correct horse' });
    await expect(accounts.as(bearer(again)).orgs.acceptInvite({ token })).rejects.toMatchObject(
      refused(Code.NotFound),
    );
  });

  it('go to one address at most ten times a day, revoked ones counted', async () => {
    const { orgId, owner } = await team();
    const email = `often-${crypto.randomUUID()}@example.com`;
    for (let sends = 0; sends < 10; sends++) {
      const { invitation } = await owner.orgs.inviteMember({ orgId, email, role: Role.VIEWER });
      await owner.orgs.revokeInvite({ orgId, id: invitation?.id ?? '' });
    }
    const invite = () => owner.orgs.inviteMember({ orgId, email, role: Role.VIEWER });
    await expect(invite()).rejects.toMatchObject(refused(Code.ResourceExhausted, '24 hours'));
    nowMs += 800_000;
    await expect(invite()).rejects.toMatchObject(refused(Code.ResourceExhausted));
  });

  it('ask the limits of attempts, sent first or again', async () => {
    const attemptLimits = { ...defaultAttemptLimits, invitesPerEmail: 2 };
    const limited = await startAccounts({
      brokerUrl: broker.url,
      clock,
      control: { attemptLimits },
    });
    const customer = await newCustomer(limited);
    const { orgId } = customer;
    const { orgs } = limited.as(bearer(customer));
    const email = `limited-${crypto.randomUUID()}@example.com`;
    const { invitation } = await orgs.inviteMember({ orgId, email, role: Role.VIEWER });
    const resend = () => orgs.resendInvite({ orgId, id: invitation?.id ?? '' });
    await resend();
    await expect(resend()).rejects.toMatchObject(refused(Code.ResourceExhausted, 'attempts'));
    await limited.close();
  });

  it('go out at most five hundred times a day, whoever they go to', async () => {
    const { orgId, owner } = await team();
    const found = await accounts.control.organizations.ask(orgId);
    if (found.kind !== 'found') throw new Error('the team has no record');
    const others = Array.from({ length: 499 }, (_, n) => [sha256(`${n}@example.com`), [nowMs]]);
    const busy = { ...found.record, inviteSends: Object.fromEntries(others) };
    await accounts.control.organizations.update(orgId, busy, found.revision);
    const invite = () => {
      const email = `one-${crypto.randomUUID()}@example.com`;
      return owner.orgs.inviteMember({ orgId, email, role: Role.VIEWER });
    };
    await invite();
    await expect(invite()).rejects.toMatchObject(refused(Code.ResourceExhausted, 'at most 500'));
  });
});

describe('keys', () => {
  it('of an organization are shown once, kept as a hash, and end everywhere when revoked', async () => {
    const { orgId, owner } = await team();
    const made = await owner.orgs.createOrgKey({ orgId, displayName: 'CI', role: Role.MEMBER });
    expect(made.key).toMatch(/^org_[0-9A-Za-z]{42}$/);
    expect((await owner.orgs.listOrgKeys({ orgId })).orgKeys).toEqual([made.orgKey]);
    const record = accounts.control.organizations.get(orgId)?.record;
    expect(record?.keys).toMatchObject([{ hash: sha256(made.key) }]);
    const { isOrgKey } = other.control.customerAccess;
    await expect.poll(() => isOrgKey(made.key)).toBe(true);
    expect(isOrgKey(newOrgKey())).toBe(false);
    await owner.orgs.revokeOrgKey({ orgId, id: made.orgKey?.id ?? '' });
    expect(accounts.control.customerAccess.isOrgKey(made.key)).toBe(false);
    await expect.poll(() => isOrgKey(made.key)).toBe(false);
  });

  it('of a project: a public one is listed again, a private one never, both end in a second', async () => {
    const { owner } = await team();
    const { apiKeys } = await owner.projects.listApiKeys({});
    expect(apiKeys).toMatchObject([{ kind: ApiKeyKind.PUBLIC }]);
    const made = await owner.projects.createApiKey({
      displayName: 'server',
      kind: ApiKeyKind.PRIVATE,
    });
    expect(made.key).toMatch(/^prv_/);
    expect(made.apiKey).toMatchObject({ displayName: 'server', key: '' });
    expect((await owner.projects.listApiKeys({})).apiKeys).toHaveLength(2);
    const read = async (process: AccountsProcess) =>
      fetch(`${process.baseUrl}/shared.profiles.v1.ProfilesService/Get`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'x-api-key': made.key },
        body: '{}',
      }).then(({ status }) => status);
    await expect.poll(() => read(other)).toBe(200);
    await owner.projects.revokeApiKey({ id: made.apiKey?.id ?? '' });
    expect(await read(accounts)).toBe(401);
    await expect.poll(() => read(other)).toBe(401);
    await expect(owner.projects.createApiKey({})).rejects.toMatchObject(
      refused(Code.InvalidArgument, 'kind: must be'),
    );
  });
});

describe('projects', () => {
  it('are made with a public key, changed, and listed by organization', async () => {
    const { orgId, owner } = await team();
    const made = await owner.projects.create({
      orgId,
      displayName: 'Shop',
      timezone: 'Asia/Kolkata',
    });
    expect(made).toMatchObject({
      project: { orgId, displayName: 'Shop', timezone: 'Asia/Kolkata' },
      apiKey: { kind: ApiKeyKind.PUBLIC, key: made.key },
      key: expect.stringMatching(/^pub_/),
    });
    expect((await owner.projects.list({ orgId })).projects).toHaveLength(2);
    const { project } = await owner.projects.update({ timezone: 'Europe/Berlin' });
    expect(project).toMatchObject({ timezone: 'Europe/Berlin', displayName: 'My first project' });
    expect((await owner.projects.get({})).project).toEqual(project);
    await expect(owner.projects.get({ id: made.project?.id ?? '' })).rejects.toMatchObject(
      refused(Code.InvalidArgument, 'id: must equal x-project-id'),
    );
    for (const timezone of ['Mars/Olympus', '+01:00', 'UTC; DROP', '']) {
      await expect(owner.projects.update({ timezone })).rejects.toMatchObject(
        refused(Code.InvalidArgument, 'timezone: must be'),
      );
    }
  });
});

describe('e-mail providers', () => {
  it('send through the organization’s own server, and keep their password to themselves', async () => {
    const received: ReceivedMail[] = [];
    const login = { username: 'mailer', password: 'hunter2-hunter2' };
    const server = await startMailServer({ login, allowInsecureAuth: true, hideSTARTTLS: true });
    const { orgId, owner } = await team();
    const smtp = { host: '127.0.0.1', port: server.port, ...login, useTls: false };
    const provider = { case: 'smtp', value: smtp } as const;
    const fromAddress = 'Shop <shop@example.com>';
    await expect(owner.providers.get({ orgId })).rejects.toMatchObject(refused(Code.NotFound));
    const { emailProvider } = await owner.providers.upsert({ orgId, provider, fromAddress });
    expect(emailProvider).toMatchObject({
      provider: { value: { username: 'mailer', password: '********' } },
      fromAddress,
    });
    expect((await owner.providers.get({ orgId })).emailProvider).toEqual(emailProvider);
    const record = JSON.stringify(accounts.control.organizations.get(orgId)?.record);
    expect(record).toContain('sealed.');
    expect(record).not.toContain('hunter2');
    await owner.providers.sendTest({ orgId });
    received.push(...server.received);
    expect(received).toMatchObject([{ from: 'shop@example.com', user: 'mailer' }]);
    const guest = `guest-${crypto.randomUUID()}@example.com`;
    await owner.orgs.inviteMember({ orgId, email: guest, role: Role.VIEWER });
    await accounts.control.outbox.idle();
    expect(server.received.at(-1)).toMatchObject({ to: [guest] });
    await server.close();
    await expect(owner.providers.sendTest({ orgId })).rejects.toMatchObject(
      refused(Code.Unavailable),
    );
    await owner.providers.delete({ orgId });
    await expect(owner.providers.sendTest({ orgId })).rejects.toMatchObject(refused(Code.NotFound));
  });

  it('send a stored password nowhere but where it was set for', async () => {
    const { orgId, owner } = await team();
    const value = { host: 'mail.example.com', port: 587, username: 'u', password: 'secret-1' };
    const set = (changes: object) =>
      owner.providers.upsert({
        orgId,
        provider: { case: 'smtp', value: { ...value, ...changes } },
        fromAddress: 'a@example.com',
      });
    await set({});
    const sealed = () => accounts.control.organizations.get(orgId)?.record.emailProvider;
    const before = sealed();
    await set({ password: '********', useTls: true });
    expect(sealed()).toMatchObject({
      useTls: true,
      sealedPassword: before?.kind === 'smtp' ? before.sealedPassword : '',
    });
    for (const moved of [{ host: 'evil.example.com' }, { port: 25 }, { username: 'v' }]) {
      await expect(set({ password: '', ...moved })).rejects.toMatchObject(
        refused(Code.InvalidArgument, 'smtp.password'),
      );
    }
    const resend = (apiKey: string) =>
      owner.providers.upsert({
        orgId,
        provider: { case: 'resend', value: { apiKey } },
        fromAddress: 'a@example.com',
      });
    await expect(resend('')).rejects.toMatchObject(refused(Code.InvalidArgument, 'resend.apiKey'));
    expect((await resend('re_1')).emailProvider?.provider.value).toMatchObject({
      apiKey: '********',
    });
    await resend('');
  });

  it.each([
    [{}, 'smtp: is required'],
    [{ provider: { case: 'smtp', value: { host: '', port: 25 } } }, 'smtp.host'],
    [{ provider: { case: 'smtp', value: { host: 'a b', port: 25 } } }, 'smtp.host'],
    [{ provider: { case: 'smtp', value: { host: 'a.b', port: 0 } } }, 'smtp.port'],
    [{ provider: { case: 'smtp', value: { host: 'a.b', port: 65_536 } } }, 'smtp.port'],
    [{ fromAddress: 'no address' }, 'fromAddress'],
    [{ fromAddress: 'A <a@b.c>\r\nBcc: x@y.z' }, 'fromAddress'],
  ] as const)('refuses %j', async (request, text) => {
    const { orgId, owner } = await team();
    await expect(
      owner.providers.upsert({ orgId, fromAddress: 'a@b.c', ...request }),
    ).rejects.toMatchObject(refused(Code.InvalidArgument, text));
  });
});
