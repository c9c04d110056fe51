// An organization that asks its members for a second factor: to a member without one, no method of any service and
// none of the webhook interface opens anything of it, and each does once they have one.

import type { DescMethod, DescService } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { accessTable } from '../platform/access/access-table.ts';
import { Role } from '../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { operations } from '../webhooks/management/operations.ts';
import { definedServices } from './harness/defined-services.ts';
import { useBroker } from './harness/servers/use-servers.ts';
import { bearer, newCustomer, tokenIn } from './harness/services/accounts.ts';
import { answerOf } from './harness/services/any-method.ts';
import { setUpSecondFactor } from './harness/services/second-factor.ts';
import { type Management, startManagement } from './harness/webhooks/management.ts';

const broker = useBroker();
const message = 'the organization asks for a second factor: set one up in your account first';
let management: Management;
let owner: Awaited<ReturnType<typeof newCustomer>>;
let without: { accessToken: string };
let secured: { accessToken: string };

beforeAll(async () => {
  management = await startManagement(broker.url);
  const { accounts } = management;
  owner = await newCustomer(accounts);
  const { orgId } = owner;
  const { orgs } = accounts.as(bearer(owner));
  const join = async () => {
    const member = await newCustomer(accounts);
    await orgs.inviteMember({ orgId, email: member.email, role: Role.VIEWER });
    const token = tokenIn(await accounts.mailsTo(member.email));
    await accounts.as(bearer(member)).orgs.acceptInvite({ token });
    return member;
  };
  without = await join();
  secured = await join();
  await expect(orgs.update({ orgId, requiresSecondFactor: true })).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: 'requiresSecondFactor: set up a second factor of your own first',
  });
  await setUpSecondFactor(accounts, owner, Date.now());
  await setUpSecondFactor(accounts, secured, Date.now());
  const { org } = await orgs.update({ orgId, requiresSecondFactor: true });
  expect(org).toMatchObject({ requiresSecondFactor: true, lacksSecondFactor: false });
});

afterAll(() => management.accounts.close());

const methods = (await definedServices()).flatMap((service) =>
  service.methods
    // It ends the membership.
    .filter(({ name }) => name !== 'Leave')
    .map((method): [string, DescService, DescMethod] => [
      `${service.typeName}/${method.name}`,
      service,
      method,
    ]),
);
const scopeOf = (name: string) => accessTable.get(name)?.scope;
const guarded = methods.filter(([name]) =>
  ['organization', 'project'].includes(scopeOf(name) ?? ''),
);

it('most methods concern an organization or a project', () => {
  expect(guarded.length).toBeGreaterThan(60);
});

describe.each(guarded)('%s', (name, service, method) => {
  it('is closed without a second factor, and to others as before', async () => {
    const { orgId, projectId } = owner;
    const ask = (caller: { accessToken: string }) =>
      answerOf(management.accounts, { caller, service, method, orgId, projectId });
    expect(await ask(without)).toBe(`${Code.PermissionDenied} ${message}`);
    expect(await ask(secured)).not.toContain(message);
    if (scopeOf(name) === 'project') {
      const ofNone = { caller: without, service, method, orgId, projectId: crypto.randomUUID() };
      expect(await answerOf(management.accounts, ofNone)).toContain('there is no such project');
    }
  });
});

it.each(operations.filter(({ role }) => role !== undefined).map((one) => [one.name, one] as const))(
  'webhooks: %s is closed',
  async (_, { method, path }) => {
    const at = path.replace('{organization_id}', owner.orgId).replaceAll(/\{\w+\}/g, 'x');
    const body = method === 'POST' || method === 'PATCH' ? { body: {} } : {};
    const { accessToken: authorization } = without;
    expect(await management.call(method, at, { authorization, ...body })).toMatchObject({
      status: 403,
      json: { message },
    });
  },
);

it('shows nothing of it in lists, says so, and opens with a second factor', async () => {
  const { orgId, projectId } = owner;
  const { orgs, projects, customers } = management.accounts.as(bearer(without, projectId));
  const closed = { code: Code.PermissionDenied, rawMessage: message };
  await expect(projects.list({ orgId })).rejects.toMatchObject(closed);
  await expect(customers.list({ orgId })).rejects.toMatchObject(closed);
  const ownerId = owner.customer?.id ?? '';
  await expect(customers.get({ id: ownerId })).rejects.toMatchObject({ code: Code.NotFound });
  expect((await customers.list({})).customers).toHaveLength(1);
  expect((await projects.list({})).projects).toHaveLength(1);
  const listed = (await orgs.list({})).orgs.find(({ id }) => id === orgId);
  expect(listed).toMatchObject({ requiresSecondFactor: true, lacksSecondFactor: true });
  const seen = await management.accounts.as(bearer(owner)).orgs.listMembers({ orgId });
  expect(seen.members.map(({ hasSecondFactor }) => hasSecondFactor).sort()).toEqual([
    false,
    true,
    true,
  ]);
  // Members do not see each other's.
  const asMember = await management.accounts.as(bearer(secured)).orgs.listMembers({ orgId });
  expect(asMember.members.every(({ hasSecondFactor }) => hasSecondFactor === undefined)).toBe(true);

  await setUpSecondFactor(management.accounts, without, Date.now());
  await expect.poll(() => projects.get({})).toMatchObject({ project: { id: projectId } });
  expect((await projects.list({ orgId })).projects).toHaveLength(1);
  const { org } = await management.accounts
    .as(bearer(owner))
    .orgs.update({ orgId, requiresSecondFactor: false });
  expect(org?.requiresSecondFactor).toBe(false);
});
