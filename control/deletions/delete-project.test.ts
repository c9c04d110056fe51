// A project is deleted by an admin who names it: at once its keys open nothing, nobody sees it, and its boards' links
// are dead. Asked again, the method answers the same deletion.

import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { buckets } from '../../platform/broker/buckets.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { erasureKey, readErasure } from '../../platform/erasure/erasure-record.ts';
import { Role } from '../../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import { ApiKeyKind } from '../../proto/gen/dashboard/projects/v1/projects_pb.js';
import { EventsService } from '../../proto/gen/sdk/events/v1/events_pb.js';
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

const refusal = async (work: Promise<unknown>): Promise<[Code, string]> => {
  const error = ConnectError.from(await work.catch((cause: unknown) => cause));
  return [error.code, error.rawMessage];
};

it('ends a project’s keys, and shows it to nobody', async () => {
  const ada = await newCustomer(accounts, 'ada');
  const { orgId } = ada;
  const { projects, orgs } = accounts.as(bearer(ada));
  const made = await projects.create({ orgId, displayName: 'Shop' });
  const id = made.project?.id ?? '';
  const withProject = accounts.as(bearer(ada, id));
  const kind = ApiKeyKind.PRIVATE;
  const { key } = await withProject.projects.createApiKey({ kind, displayName: 'server' });
  const share = { dashboardId: 'overview', displayName: 'link' };
  const { token } = await withProject.dashboards.createShare(share);
  await withProject.annotations.create({ text: 'launch', time: { seconds: 1n } });
  expect(accounts.control.shares.find(token)).toBeDefined();
  const send = (raw: string) =>
    accounts.client(EventsService, { 'x-api-key': raw }).batchCreate({ events: [] });
  await send(made.key);
  await send(key);

  const wrong = await refusal(projects.delete({ orgId, id, displayName: 'shop' }));
  expect(wrong).toEqual([Code.InvalidArgument, 'displayName: is not the name of the project']);
  expect((await refusal(projects.delete({ orgId, id })))[0]).toBe(Code.InvalidArgument);
  expect((await projects.list({ orgId })).projects).toHaveLength(2);

  const { deletion } = await projects.delete({ orgId, id, displayName: 'Shop' });
  expect(deletion).toMatchObject({ projectId: id, displayName: 'Shop', events: 0n });
  expect(deletion?.completeTime).toBeUndefined();
  for (const raw of [made.key, key]) {
    expect((await refusal(send(raw)))[0]).toBe(Code.Unauthenticated);
  }
  expect((await projects.list({ orgId })).projects).toMatchObject([{ id: ada.projectId }]);
  expect((await refusal(withProject.projects.get({})))[0]).toBe(Code.NotFound);
  expect((await refusal(withProject.annotations.list({})))[0]).toBe(Code.NotFound);
  expect(accounts.control.shares.find(token)).toBeUndefined();
  expect((await orgs.get({ orgId })).org?.id).toBe(orgId);

  const again = await projects.delete({ orgId, id, displayName: 'Shop' });
  expect(again.deletion).toEqual(deletion);
  expect((await projects.listDeletions({ orgId })).deletions).toEqual([deletion]);
  const bucket = await openBucket(accounts.connection, buckets.erasures, readErasure);
  const found = await bucket.get(erasureKey(id));
  expect(found).toMatchObject({
    record: { status: 'pending', projectId: id, whole: { kind: 'project', organizationId: orgId } },
  });
  expect(deletion?.firstCompleteTime).toBeUndefined();
  if (found.kind !== 'found') return;
  // It was completed, and is open again for rows that came late.
  const opened = { ...found.record, firstCompletedAtMs: 2_000 };
  await bucket.update(erasureKey(id), opened, found.revision);
  await expect
    .poll(async () => (await projects.listDeletions({ orgId })).deletions)
    .toEqual([{ ...deletion, firstCompleteTime: timestampFromMs(2_000) }]);
});

it('refuses strangers, members, and what there is not', async () => {
  const [ada, bob, eve] = await Promise.all(
    ['ada', 'bob', 'eve'].map((name) => newCustomer(accounts, name)),
  );
  if (!ada || !bob || !eve) throw new Error('three customers');
  const { orgId, projectId: id } = ada;
  const own = accounts.as(bearer(ada));
  await accounts.control.organizations.ask(orgId);
  const found = await accounts.control.organizations.ask(orgId);
  if (found.kind !== 'found') throw new Error('the organization is there');
  const member = { customerId: bob.customer?.id ?? '', role: 'member' as const };
  await accounts.control.organizations.update(
    orgId,
    { ...found.record, members: [...found.record.members, member] },
    found.revision,
  );
  const { displayName = '' } = (await own.projects.list({ orgId })).projects[0] ?? {};
  const asBob = accounts.as(bearer(bob)).projects;
  expect((await asBob.list({ orgId })).projects).toHaveLength(1);
  const request = { orgId, id, displayName };
  expect((await refusal(asBob.delete(request)))[0]).toBe(Code.PermissionDenied);
  expect((await refusal(asBob.listDeletions({ orgId })))[0]).toBe(Code.PermissionDenied);
  const asEve = accounts.as(bearer(eve)).projects;
  expect((await refusal(asEve.delete(request)))[0]).toBe(Code.NotFound);
  // Of her own organization, which has no such project.
  const elsewhere = await refusal(asEve.delete({ ...request, orgId: eve.orgId }));
  expect(elsewhere).toEqual([Code.NotFound, 'there is no such project']);
  for (const unknown of [crypto.randomUUID(), 'a b', '>']) {
    expect((await refusal(own.projects.delete({ ...request, id: unknown })))[0]).toBe(
      Code.NotFound,
    );
  }
  expect((await own.projects.list({ orgId })).projects).toHaveLength(1);
  await own.orgs.updateMemberRole({ orgId, customerId: member.customerId, role: Role.ADMIN });
  await asBob.delete(request);
  expect((await own.projects.list({ orgId })).projects).toEqual([]);
});
