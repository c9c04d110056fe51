// Members and invitations that are limited to some projects: the rules of the list, and what follows from a change.

import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { Role } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  type Clients,
  newCustomer,
  startAccounts,
  tokenIn,
} from '../../test/harness/services/accounts.ts';

const broker = useBroker();
let accounts: AccountsProcess;
let owner: Clients;
let orgId: string;
let first: string;
let second: string;

beforeAll(async () => {
  accounts = await startAccounts({ brokerUrl: broker.url });
  const customer = await newCustomer(accounts);
  ({ orgId, projectId: first } = customer);
  owner = accounts.as(bearer(customer, first));
  const { project } = await owner.projects.create({ orgId, displayName: 'Second' });
  second = project?.id ?? '';
});

afterAll(() => accounts.close());

const invalid = (rawMessage: string) => ({ code: Code.InvalidArgument, rawMessage });

async function join(role: Role, projectIds?: string[]) {
  const member = await newCustomer(accounts);
  const { email } = member;
  await owner.orgs.inviteMember({
    ...{ orgId, email, role },
    ...(projectIds !== undefined && { projects: { projectIds } }),
  });
  const token = tokenIn(await accounts.mailsTo(email));
  const joined = await accounts.as(bearer(member)).orgs.acceptInvite({ token });
  return { ...member, customerId: member.customer?.id ?? '', member: joined.member };
}

it('an invitation gives the projects that it names', async () => {
  const { invitation } = await owner.orgs.inviteMember({
    ...{ orgId, email: 'guest@example.com', role: Role.VIEWER },
    projects: { projectIds: [second, second] },
  });
  expect(invitation?.projects?.projectIds).toEqual([second]);
  const joined = await join(Role.MEMBER, [second]);
  expect(joined.member).toMatchObject({ role: Role.MEMBER, projects: { projectIds: [second] } });
  const { projects } = await accounts.as(bearer(joined)).projects.list({ orgId });
  expect(projects.map(({ id }) => id)).toEqual([second]);
});

it('a list has rules', async () => {
  const { customerId } = await join(Role.VIEWER);
  const update = (projectIds: string[]) =>
    owner.orgs.updateMemberProjects({ orgId, customerId, projects: { projectIds } });
  await expect(update([])).rejects.toMatchObject(
    invalid('projects.projectIds: must name a project, or projects be absent'),
  );
  const other = await newCustomer(accounts);
  await expect(update([first, other.projectId])).rejects.toMatchObject(
    invalid('projects.projectIds[1]: must be the id of a project of the organization'),
  );
  await expect(update(Array(101).fill(first))).rejects.toMatchObject(
    invalid('projects.projectIds: takes at most 100'),
  );
  const ofAdmin = invalid('projects: must be absent for an admin, who has all projects');
  await expect(
    owner.orgs.inviteMember({
      ...{ orgId, email: 'boss@example.com', role: Role.ADMIN },
      projects: { projectIds: [first] },
    }),
  ).rejects.toMatchObject(ofAdmin);
  await owner.orgs.updateMemberRole({ orgId, customerId, role: Role.ADMIN });
  await expect(update([first])).rejects.toMatchObject(ofAdmin);
  await expect(
    owner.orgs.updateMemberProjects({ orgId, customerId: 'nobody' }),
  ).rejects.toMatchObject({
    code: Code.NotFound,
    rawMessage: 'the organization has no such member',
  });
});

it('a member keeps their projects with another role, and has all as an admin', async () => {
  const joined = await join(Role.VIEWER, [second]);
  const { customerId } = joined;
  const asMember = accounts.as(bearer(joined, first));
  const there = { code: Code.NotFound, rawMessage: 'there is no such project' };
  const change = (role: Role) => owner.orgs.updateMemberRole({ orgId, customerId, role });
  expect((await change(Role.MEMBER)).member?.projects?.projectIds).toEqual([second]);
  await expect(asMember.projects.get({})).rejects.toMatchObject(there);
  expect((await change(Role.ADMIN)).member?.projects).toBeUndefined();
  await expect.poll(() => asMember.projects.get({})).toMatchObject({ project: { id: first } });
  await change(Role.VIEWER);
  const { member } = await owner.orgs.updateMemberProjects({
    ...{ orgId, customerId },
    projects: { projectIds: [second] },
  });
  expect(member?.projects?.projectIds).toEqual([second]);
  await expect(asMember.projects.get({})).rejects.toMatchObject(there);
  const all = await owner.orgs.updateMemberProjects({ orgId, customerId });
  expect(all.member?.projects).toBeUndefined();
  expect((await asMember.projects.list({ orgId })).projects).toHaveLength(2);
});

it('mail of a project goes to members who have it', async () => {
  const { organizationMail } = accounts.control;
  const { customerId, email } = await join(Role.MEMBER, [second]);
  const told = (projectId: string) =>
    organizationMail.members({ organizationId: orgId, projectId }, [customerId]);
  expect(told(second)).toEqual([{ customerId, email }]);
  expect(told(first)).toEqual([]);
});
