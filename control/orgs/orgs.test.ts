// Organizations, members, invitations, keys and projects over HTTP: two processes on one real broker.

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { newOrgKey, sha256 } from '../../platform/access/ids.ts';
import { Role } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { ApiKeyKind, ApiKeyScope } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
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
  it('an admin makes, reads, lists and renames an organization', async () => {
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

  it('an organization is not found by strangers', async () => {
    const { orgId } = await team();
    const stranger = await team();
    await expect(stranger.owner.orgs.get({ orgId })).rejects.toMatchObject(refused(Code.NotFound));
    await expect(stranger.owner.orgs.get({ orgId: crypto.randomUUID() })).rejects.toMatchObject(
      refused(Code.NotFound),
    );
  });
});

describe('members', () => {
  it('a customer joins by an invitation to their address, once', async () => {
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

  it('members are promoted, demoted and removed, but never the last admin', async () => {
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

  it('a removed member is out in every process, even with a valid token', async () => {
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

  it('of many admins who leave at once, one stays', async () => {
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
  it('invitations are listed, sent again with a new token, and revoked', async () => {
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

  it('an invitation expires after seven days', async () => {
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

  it('one that has expired takes no place of another', async () => {
    const { orgId, owner } = await team();
    const email = () => `guest-${crypto.randomUUID()}@example.com`;
    const invite = () => owner.orgs.inviteMember({ orgId, email: email(), role: Role.VIEWER });
    const first = await invite();
    const found = await accounts.control.organizations.ask(orgId);
    const [model] = found.kind === 'found' ? (found.record.invitations ?? []) : [];
    if (found.kind !== 'found' || model === undefined) throw new Error('no invitation');
    const others = Array.from({ length: 199 }, () => {
      return { ...model, id: crypto.randomUUID(), email: email(), expireTimeMs: nowMs + 9e9 };
    });
    const full = { ...found.record, invitations: [model, ...others] };
    await accounts.control.organizations.update(orgId, full, found.revision);
    await expect(invite()).rejects.toMatchObject(refused(Code.FailedPrecondition, 'at most 200'));
    const expired = await accounts.control.organizations.ask(orgId);
    if (expired.kind !== 'found') throw new Error(expired.kind);
    const invitations = [{ ...model, expireTimeMs: nowMs }, ...others];
    const later = { ...expired.record, invitations };
    await accounts.control.organizations.update(orgId, later, expired.revision);
    const { invitation } = await invite();
    const listed = (await owner.orgs.listInvitations({ orgId })).invitations.map(({ id }) => id);
    expect(listed).toHaveLength(200);
    expect(listed).toContain(invitation?.id);
    expect(listed).not.toContain(first.invitation?.id);
  });

  it('at most ten a day go to one address, revoked ones counted', async () => {
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

  it('the limits on attempts hold for first and repeated mails', async () => {
    const few = { invitesPerEmail: 1, invitesPerCustomerAndEmail: 1 };
    const attemptLimits = { ...defaultAttemptLimits, ...few };
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

  it('a mail names its senders, and brings nobody to their site', async () => {
    const { orgId, owner } = await team();
    await owner.customers.update({ displayName: 'Win (https://evil.example/?a) +1 800 555 0199' });
    await owner.orgs.update({
      orgId,
      displayName: '<a href="//evil.example">Prize</a> www.evil.example',
    });
    const email = `guest-${crypto.randomUUID()}@example.com`;
    await owner.orgs.inviteMember({ orgId, email, role: Role.VIEWER });
    const [mail = ''] = await accounts.mailsTo(email);
    expect(mail).toMatch(
      /^Subject: Invitation to a href evil example Prize a www evil example\r?$/m,
    );
    expect(mail).toContain('Win (https evil example a)');
    expect(mail).not.toMatch(/evil\.example|800 555|555 0199|<a href="?\/\//);
  });

  it('at most two hundred a day go out of one organization', async () => {
    const { orgId, owner } = await team();
    const found = await accounts.control.organizations.ask(orgId);
    if (found.kind !== 'found') throw new Error('the team has no record');
    const others = Array.from({ length: 199 }, (_, n) => [sha256(`${n}@example.com`), [nowMs]]);
    const busy = { ...found.record, inviteSends: Object.fromEntries(others) };
    await accounts.control.organizations.update(orgId, busy, found.revision);
    const invite = () => {
      const email = `one-${crypto.randomUUID()}@example.com`;
      return owner.orgs.inviteMember({ orgId, email, role: Role.VIEWER });
    };
    await invite();
    await expect(invite()).rejects.toMatchObject(refused(Code.ResourceExhausted, 'at most 200'));
  });
});

describe('keys', () => {
  it('an organization key is shown once, kept as a hash, and stops everywhere when revoked', async () => {
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

  it('a public key is listed with its text, a private one without; a revoked key stops everywhere', async () => {
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

  it('a private key may have a scope and an end, a public one neither', async () => {
    const { owner } = await team();
    const at = (ms: number) => timestampFromMs(nowMs + ms);
    const [kind, scope, expireTime] = [ApiKeyKind.PRIVATE, ApiKeyScope.READ, at(3_600_000)];
    const made = await owner.projects.createApiKey({ kind, scope, expireTime });
    expect(made.apiKey).toMatchObject({ scope, expireTime });
    const whole = await owner.projects.createApiKey({ kind });
    expect(whole.apiKey).toMatchObject({ scope: ApiKeyScope.ALL });
    expect(whole.apiKey?.expireTime).toBeUndefined();
    const { apiKeys } = await owner.projects.listApiKeys({});
    expect(apiKeys.map((key) => key.scope)).toEqual([
      ...[ApiKeyScope.WRITE, ApiKeyScope.READ, ApiKeyScope.ALL],
    ]);
    const wrong = (request: object, rule: string) =>
      expect(owner.projects.createApiKey({ kind, ...request })).rejects.toMatchObject(
        refused(Code.InvalidArgument, rule),
      );
    await wrong({ expireTime: at(-1_000) }, 'expireTime: must be later than now');
    await wrong({ kind: ApiKeyKind.PUBLIC, scope }, 'scope: must be absent');
    await wrong({ kind: ApiKeyKind.PUBLIC, expireTime }, 'expireTime: must be absent');
  });
});

describe('projects', () => {
  it('a project is made with a public key, changed, and listed by organization', async () => {
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
