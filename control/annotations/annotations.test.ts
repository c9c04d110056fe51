// Annotations over HTTP on a real broker: what is stored and refused, whose they are, and many writers at once.

import { timestampDate, timestampFromDate } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { buckets } from '../../platform/broker/buckets.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { itemsKey, readProjectItems } from '../../platform/project-items/project-items.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  type Clients,
  newCustomer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';
import { maxItemBytes } from '../project-items/item-bounds.ts';
import { maxAnnotations } from './annotation-rpc.ts';

const broker = useBroker();
const changeLimits = { perCustomer: 10_000, perOrganization: 10_000 };
let nowMs = Date.UTC(2026, 6, 1);
let accounts: AccountsProcess;
let owner: Awaited<ReturnType<typeof newCustomer>>;
/** A new project of the owner's for each test. */
let projectId: string;
let annotations: Clients['annotations'];

const start = (dataDir?: string) =>
  startAccounts({
    ...(dataDir !== undefined && { dataDir }),
    brokerUrl: broker.url,
    clock: { nowMs: () => nowMs },
    control: { changeLimits },
  });
const newProject = async (): Promise<string> => {
  const { orgId } = owner;
  const { project } = await accounts.as(bearer(owner)).projects.create({ orgId, displayName: 'P' });
  return project?.id ?? '';
};
const day = (date: number) => timestampFromDate(new Date(Date.UTC(2026, 5, date)));
const invalid = (rule: string) => ({
  code: Code.InvalidArgument,
  rawMessage: expect.stringContaining(rule),
});

beforeAll(async () => {
  accounts = await start();
  owner = await newCustomer(accounts);
});

beforeEach(async () => {
  projectId = await newProject();
  annotations = accounts.as(bearer(owner, projectId)).annotations;
});

afterAll(() => accounts.close());

it('are stored, listed by their time, changed and deleted', async () => {
  const { annotation } = await annotations.create({ time: day(3), text: ' Release 2.0 ' });
  const id = annotation?.id ?? '';
  expect(annotation).toMatchObject({ time: day(3), text: 'Release 2.0' });
  await annotations.create({ time: day(9), text: 'Campaign' });
  await annotations.create({ text: 'Now' });
  const texts = async (request = {}) =>
    (await annotations.list(request)).annotations.map(({ text }) => text);
  expect(await texts()).toEqual(['Now', 'Campaign', 'Release 2.0']);
  expect(await texts({ timeRange: { from: day(3), to: day(9) } })).toEqual(['Release 2.0']);
  expect(await texts({ timeRange: { from: day(4) } })).toEqual(['Now', 'Campaign']);
  nowMs += 60_000;
  const changed = await annotations.update({ id, text: 'Release 2.1' });
  expect(changed.annotation).toMatchObject({ text: 'Release 2.1', time: day(3) });
  expect(timestampDate(changed.annotation?.updateTime ?? day(1)).getTime()).toBe(nowMs);
  expect((await annotations.get({ id })).annotation).toEqual(changed.annotation);
  await annotations.delete({ id });
  const notFound = { code: Code.NotFound, rawMessage: 'there is no such annotation' };
  await expect(annotations.get({ id })).rejects.toMatchObject(notFound);
  await expect(annotations.update({ id, text: 'x' })).rejects.toMatchObject(notFound);
  await expect(annotations.delete({ id })).rejects.toMatchObject(notFound);
  expect(await texts()).toEqual(['Now', 'Campaign']);
});

it('are refused where a field breaks its rule, which is named', async () => {
  const far = { seconds: 8_000_000_000n, nanos: 0 };
  await expect(annotations.create({ text: ' ' })).rejects.toMatchObject(invalid('text: is req'));
  await expect(annotations.create({ text: 'x'.repeat(301) })).rejects.toMatchObject(
    invalid('text: must have at most 300 characters'),
  );
  await expect(annotations.create({ text: 'a\nb' })).rejects.toMatchObject(invalid('text: must'));
  await expect(annotations.create({ text: 'x', time: far })).rejects.toMatchObject(
    invalid('time: must lie between 1970 and 2200'),
  );
  await expect(annotations.list({ timeRange: { to: far } })).rejects.toMatchObject(
    invalid('timeRange.to: must lie'),
  );
  await expect(annotations.get({})).rejects.toMatchObject(invalid('id: is required'));
});

it('of another project are not there', async () => {
  const { annotation } = await annotations.create({ text: 'Mine' });
  const id = annotation?.id ?? '';
  const other = accounts.as(bearer(owner, await newProject())).annotations;
  expect((await other.list({})).annotations).toEqual([]);
  const notFound = { code: Code.NotFound };
  await expect(other.get({ id })).rejects.toMatchObject(notFound);
  await expect(other.update({ id, text: 'Theirs' })).rejects.toMatchObject(notFound);
  await expect(other.delete({ id })).rejects.toMatchObject(notFound);
  expect((await annotations.get({ id })).annotation?.text).toBe('Mine');
});

it('that several processes write at once are all kept, and found by each at once', async () => {
  const second = await start(accounts.dataDir);
  try {
    const texts = Array.from({ length: 20 }, (_, index) => `note ${index}`);
    const made = await Promise.all(
      texts.map((text, index) => {
        const process = index % 2 === 0 ? accounts : second;
        return process.as(bearer(owner, projectId)).annotations.create({ text });
      }),
    );
    for (const { annotation } of made) {
      for (const process of [accounts, second]) {
        const { get } = process.as(bearer(owner, projectId)).annotations;
        expect((await get({ id: annotation?.id ?? '' })).annotation).toEqual(annotation);
      }
    }
  } finally {
    await second.close();
  }
});

it('have a bound in a project, and their bytes one in an organization', async () => {
  const bucket = await openBucket(accounts.connection, buckets.projectItems, readProjectItems);
  const items = Array.from({ length: maxAnnotations }, (_, index) => ({
    ...{ id: `a${index}`, place: index },
    item: { id: `a${index}`, time: '2026-06-01T00:00:00Z', text: 'x' },
  }));
  await bucket.create(itemsKey('annotations', projectId), { schemaVersion: 1, items });
  const full = (rule: string) => ({
    code: Code.FailedPrecondition,
    rawMessage: expect.stringContaining(rule),
  });
  await expect(annotations.create({ text: 'one more' })).rejects.toMatchObject(
    full('a project has at most 500 annotations'),
  );
  expect((await annotations.list({})).annotations).toHaveLength(maxAnnotations);
  const text = 'x'.repeat(maxItemBytes / 4);
  for (let count = 0; count < 4; count += 1) {
    const key = itemsKey('annotations', await newProject());
    const one = { id: 'a', place: 0, item: { id: 'a', text } };
    await bucket.create(key, { schemaVersion: 1, items: [one] });
  }
  const other = accounts.as(bearer(owner, await newProject())).annotations;
  await expect
    .poll(() => other.create({ text: 'x' }).catch((error: unknown) => error))
    .toMatchObject(full('of an organization take at most'));
  // What takes away is never refused.
  await annotations.delete({ id: 'a0' });
});
