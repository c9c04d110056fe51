// Organizations and accounts are deleted by whoever may: members lose the first at once, and the second leaves no
// session, no reserved address and no organization without an admin.

import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buckets } from '../../platform/broker/buckets.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { erasureKey, readErasure } from '../../platform/erasure/erasure-record.ts';
import { Role } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';

const broker = useBroker();
let accounts: AccountsProcess;
beforeAll(async () => {
  accounts = await startAccounts({ brokerUrl: broker.url });
});
afterAll(() => accounts?.close());

const currentPassword = 'correct horse';

type Person = Awaited<ReturnType<typeof newCustomer>>;

const refusal = async (work: Promise<unknown>): Promise<[Code, string]> => {
  const error = ConnectError.from(await work.catch((cause: unknown) => cause));
  return [error.code, error.rawMessage];
};

/** Bob in ada's organization. */
async function join(ada: Person, bob: Person): Promise<string> {
  const found = await accounts.control.organizations.ask(ada.orgId);
  if (found.kind !== 'found') throw new Error('the organization is there');
  const { record, revision } = found;
  const customerId = bob.customer?.id ?? '';
  const members = [...record.members, { customerId, role: 'member' as const }];
  await accounts.control.organizations.update(ada.orgId, { ...record, members }, revision);
  return customerId;
}

const requestOf = async (id: string) => {
  const bucket = await openBucket(accounts.connection, buckets.erasures, readErasure);
  const found = await bucket.get(erasureKey(id));
  return found.kind === 'found' ? found.record.whole?.kind : undefined;
};

it('takes an organization’s projects, members and keys away at once', async () => {
  const [ada, bob] = [await newCustomer(accounts, 'ada'), await newCustomer(accounts, 'bob')];
  const { orgId, projectId } = ada;
  await join(ada, bob);
  const own = accounts.as(bearer(ada));
  const { org } = await own.orgs.get({ orgId });
  const displayName = org?.displayName ?? '';
  const asBob = accounts.as(bearer(bob));
  expect((await refusal(asBob.orgs.delete({ orgId, displayName })))[0]).toBe(Code.PermissionDenied);
  expect(await refusal(own.orgs.delete({ orgId, displayName: 'Other' }))).toEqual([
    Code.InvalidArgument,
    'displayName: is not the name of the organization',
  ]);
  expect(await own.orgs.delete({ orgId, displayName })).toMatchObject({ projects: 1 });
  for (const one of [own, asBob]) {
    expect((await refusal(one.orgs.get({ orgId })))[0]).toBe(Code.NotFound);
    expect((await one.projects.list({})).projects.map(({ id }) => id)).not.toContain(projectId);
  }
  expect((await own.orgs.list({})).orgs).toEqual([]);
  expect(accounts.control.directory.get(orgId)).toBeUndefined();
  expect([await requestOf(orgId), await requestOf(projectId)]).toEqual(['organization', 'project']);
  expect((await refusal(own.orgs.delete({ orgId, displayName })))[0]).toBe(Code.NotFound);
});

it('keeps an account that is the only admin of others, and names their organization', async () => {
  const [ada, bob] = [await newCustomer(accounts, 'ada'), await newCustomer(accounts, 'bob')];
  const customerId = await join(ada, bob);
  const { orgId, email } = ada;
  const own = accounts.as(bearer(ada));
  const { org } = await own.orgs.get({ orgId });
  expect(await refusal(own.customers.delete({ email, currentPassword }))).toEqual([
    Code.FailedPrecondition,
    `you are the only admin of ${org?.displayName}, which has other members: make one of them an admin, or delete it`,
  ]);
  expect((await own.orgs.get({ orgId })).org).toEqual(org);
  await own.orgs.updateMemberRole({ orgId, customerId, role: Role.ADMIN });
  expect(await own.customers.delete({ email, currentPassword })).toMatchObject({
    organizations: 0,
  });
  const { members } = await accounts.as(bearer(bob)).orgs.listMembers({ orgId });
  expect(members).toMatchObject([{ customerId }]);
});

it('ends an account’s sessions, frees its address, and deletes what is its alone', async () => {
  const ada = await newCustomer(accounts, 'ada');
  const { email, refreshToken, orgId, projectId } = ada;
  const customerId = ada.customer?.id ?? '';
  const own = accounts.as(bearer(ada));
  const wrong = await refusal(own.customers.delete({ email: 'eve@example.com', currentPassword }));
  expect(wrong).toEqual([Code.InvalidArgument, 'email: is not the address of the account']);
  const guessed = await refusal(own.customers.delete({ email, currentPassword: 'wrong horse' }));
  expect(guessed[0]).toBe(Code.InvalidArgument);
  expect(await own.customers.delete({ email, currentPassword })).toMatchObject({
    organizations: 1,
  });
  expect((await refusal(own.customers.get({})))[0]).toBe(Code.Unauthenticated);
  const { auth } = accounts.as();
  expect((await refusal(auth.refreshToken({ refreshToken })))[0]).toBe(Code.Unauthenticated);
  const signIn = { email, password: currentPassword };
  expect((await refusal(auth.signIn(signIn)))[0]).toBe(Code.Unauthenticated);
  for (const name of [buckets.customers, buckets.owners, buckets.sessions, buckets.organizations]) {
    const kv = await accounts.connection.jetstream().views.kv(name, { bindOnly: true });
    const keys: string[] = [];
    for await (const key of await kv.keys()) keys.push(key);
    for (const key of keys) {
      expect(`${key} ${(await kv.get(key))?.string()}`, name).not.toContain(customerId);
    }
  }
  const kinds = await Promise.all([customerId, orgId, projectId].map(requestOf));
  expect(kinds).toEqual(['account', 'organization', 'project']);
  // Whoever has the address may begin anew.
  const again = await auth.signUp({ email, password: 'another horse' });
  expect(again.customer?.id).not.toBe(customerId);
});
