import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { newId, sha256 } from '../../platform/access/ids.ts';
import type { ApiKeyRecord } from '../../platform/access/projects.ts';
import { bucketOptions, recordQuotaBytes } from '../../platform/broker/buckets.ts';
import { systemClock } from '../../platform/clock.ts';
import { Role } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { ApiKeyKind } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
  tokenIn,
} from '../../test/harness/services/accounts.ts';
import { makeProject } from './project-record.ts';

const broker = useBroker();
let accounts: AccountsProcess;

beforeAll(async () => {
  accounts = await startAccounts({ brokerUrl: broker.url });
});

afterAll(() => accounts.close());

function key(displayName: string): ApiKeyRecord {
  const createTime = '2026-01-01T00:00:00.000Z';
  return { id: newId(), kind: 'private', hash: sha256(newId()), displayName, createTime };
}

async function addProject(
  organizationId: string,
  keys: readonly ApiKeyRecord[],
  by = accounts,
): Promise<string> {
  const project = { id: newId(), organizationId, displayName: 'Full', keys };
  await by.projects.create(project.id, makeProject(project, systemClock));
  return project.id;
}

it('an organization has its quota of bytes, and others have theirs', async () => {
  const customer = await newCustomer(accounts);
  const { orgId, projectId } = customer;
  const keys = Array.from({ length: 60 }, () => key('n'.repeat(2_000)));
  for (let made = 0; made < 8; made++) await addProject(orgId, keys);
  const { projects } = accounts.as(bearer(customer, projectId));
  const full = {
    code: Code.FailedPrecondition,
    rawMessage: expect.stringContaining('take at most 1048576 bytes'),
  };
  await expect(projects.create({ orgId, displayName: 'More' })).rejects.toMatchObject(full);
  await expect(projects.createApiKey({ kind: ApiKeyKind.PUBLIC })).rejects.toMatchObject(full);
  const other = await newCustomer(accounts);
  await accounts.as(bearer(other)).projects.create({ orgId: other.orgId, displayName: 'Theirs' });
});

it('a project has its quota of bytes, and its keys can be revoked at it', async () => {
  const customer = await newCustomer(accounts);
  const keys = Array.from({ length: 90 }, () => key('n'.repeat(1_600)));
  const projectId = await addProject(customer.orgId, keys);
  const { projects } = accounts.as(bearer(customer, projectId));
  await expect(
    (async () => {
      for (;;)
        await projects.createApiKey({ kind: ApiKeyKind.PUBLIC, displayName: 'n'.repeat(150) });
    })(),
  ).rejects.toMatchObject({
    code: Code.FailedPrecondition,
    rawMessage: `a record takes at most ${recordQuotaBytes.projects} bytes: remove something first`,
  });
  await projects.revokeApiKey({ id: keys[0]?.id ?? '' });
});

it('no customer alone can take a fifth of a bucket', () => {
  const maxOrganizations = 50;
  const fifth = (name: 'orgs' | 'projects'): number => bucketOptions[name].max_bytes / 5;
  expect(maxOrganizations * recordQuotaBytes.orgs).toBeLessThan(fifth('orgs'));
  expect(maxOrganizations * 1_048_576).toBeLessThan(fifth('projects'));
});

it('a customer makes and joins organizations up to a bound', async () => {
  const customer = await newCustomer(accounts);
  const { orgs } = accounts.as(bearer(customer));
  for (let made = 1; made < 50; made++) await orgs.create({ displayName: `Org ${made}` });
  const tooMany = {
    code: Code.FailedPrecondition,
    rawMessage: 'a customer is in at most 50 organizations',
  };
  await expect(orgs.create({ displayName: 'One more' })).rejects.toMatchObject(tooMany);
  // Else two accounts that leave theirs to each other would have any number.
  const host = await newCustomer(accounts, 'host');
  const invitation = { orgId: host.orgId, email: customer.email, role: Role.ADMIN };
  await accounts.as(bearer(host)).orgs.inviteMember(invitation);
  const token = tokenIn(await accounts.mailsTo(customer.email));
  await expect(orgs.acceptInvite({ token })).rejects.toMatchObject(tooMany);
});

it('a customer who lists very many projects waits before the next list, and nobody else does', async () => {
  // A clock that stands still, because the limit would be there again after a slow list.
  const startMs = Date.now();
  const standing = await startAccounts({ brokerUrl: broker.url, clock: { nowMs: () => startMs } });
  const customer = await newCustomer(standing);
  await Promise.all(Array.from({ length: 5_000 }, () => addProject(customer.orgId, [], standing)));
  const { projects } = standing.as(bearer(customer));
  expect((await projects.list({})).projects).toHaveLength(5_001);
  const refused = await projects.list({}).catch((error: unknown) => ConnectError.from(error));
  expect(refused).toMatchObject({ code: Code.ResourceExhausted });
  const after = refused instanceof ConnectError ? refused.metadata.get('retry-after') : null;
  expect(Number(after)).toBeGreaterThan(0);
  const other = await newCustomer(standing, 'other');
  expect((await standing.as(bearer(other)).projects.list({})).projects).toHaveLength(1);
  await standing.close();
});
