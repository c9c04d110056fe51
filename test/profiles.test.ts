// Profiles end to end through the real product: identities, merges, reads and deletions as a user with curl sees them.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { batchCreate, call, eventually, newEvent } from './harness/clients/client.ts';
import {
  alias,
  getProfile,
  identify,
  listProfiles,
  profileOf,
  unmerge,
} from './harness/clients/profile-client.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

let stack: Stack;
beforeAll(async () => {
  stack = await startStack({ env: { MILLRACE_READS_PER_SECOND: '0' } });
});
afterAll(async () => {
  await stack.stop();
});

const seconds = 10_000;

it('names a user and merges traits key by key, null and objects included', async () => {
  await identify(stack, { externalId: 'traits', traits: { a: 1, b: 'x', c: { d: 1, e: 2 } } });
  await identify(stack, {
    external_id: 'traits',
    traits: { b: null, c: { f: [true] }, 'g.h': 1.5, __proto__: 'safe' },
    device_id: '6f1c2c55-0f4e-4a63-9d6a-0c1f5f4f2b11',
  });
  const profile = await eventually(
    () => profileOf(stack, 'traits'),
    (read) => read?.properties?.['g.h'] !== undefined,
    seconds,
  );
  expect(profile).toMatchObject({
    externalId: 'traits',
    projectId: stack.projectId,
    properties: { a: 1, b: null, c: { f: [true] }, 'g.h': 1.5 },
    activity: { totalEvents: '0', pageviews: '0', sessions: '0' },
  });
  expect(profile?.id).toMatch(/^[0-9a-f]{32}$/);
  expect(profile?.createTime).toMatch(/Z$/);
  expect(JSON.stringify(profile)).not.toContain('6f1c2c55');
});

it('gives events before, during and after a merge to the owner, a shared session once', async () => {
  const sessionId = crypto.randomUUID();
  const anonymous = 'anon-merge';
  await batchCreate(stack, [newEvent({ distinctId: anonymous, sessionId })]);
  const alone = await eventually(
    () => listProfiles(stack),
    (found) =>
      found.some((one) => one.externalId === undefined && one.activity.totalEvents === '1'),
    seconds,
  );
  const anonymousId = alone.find((one) => one.externalId === undefined)?.id ?? '';
  await identify(stack, { externalId: 'merged', anonymousId: anonymous, traits: { n: 1 } });
  await batchCreate(stack, [
    newEvent({ distinctId: anonymous, sessionId }),
    newEvent({ distinctId: 'merged', sessionId, kind: 'click' }),
    newEvent({ distinctId: 'merged' }),
  ]);
  const owner = await eventually(
    () => profileOf(stack, 'merged'),
    (read) => read?.activity.totalEvents === '4',
    seconds,
  );
  expect(owner).toMatchObject({ activity: { totalEvents: '4', pageviews: '3', sessions: '2' } });
  expect(await getProfile(stack, anonymousId)).toEqual(owner);
  const listed = await listProfiles(stack);
  expect(listed.map(({ id }) => id)).not.toContain(anonymousId);
  const { merged: _onlyOfGet, ...asListed } = owner ?? {};
  expect(listed.find(({ id }) => id === owner?.id)).toEqual(asListed);
  for (const request of [
    { distinctId: anonymous },
    { distinctId: 'merged' },
    { profileId: owner?.id },
    { profileId: anonymousId },
  ]) {
    const { body } = await call(
      stack.baseUrl,
      '/shared.activity.v1.ActivityService/List',
      stack.privateKey,
      request,
    );
    const events = body['events'];
    expect(Array.isArray(events) && events.map((event) => event.profileId)).toEqual(
      Array(4).fill(owner?.id),
    );
  }
});

it('lets the first claim hold, and no claim take a named user', async () => {
  await identify(stack, { externalId: 'first', anonymousId: 'anon-wanted' });
  await identify(stack, { externalId: 'second', anonymousId: 'anon-wanted' });
  await identify(stack, { externalId: 'anon-named' });
  await identify(stack, { externalId: 'second', anonymousId: 'anon-named' });
  await batchCreate(stack, [
    newEvent({ distinctId: 'anon-wanted' }),
    newEvent({ distinctId: 'anon-named' }),
  ]);
  await eventually(
    () => profileOf(stack, 'first'),
    (read) => read?.activity.totalEvents === '1',
    seconds,
  );
  await eventually(
    () => profileOf(stack, 'anon-named'),
    (read) => read?.activity.totalEvents === '1',
    seconds,
  );
  expect(await profileOf(stack, 'second')).toMatchObject({ activity: { totalEvents: '0' } });
});

it('follows aliases to the root, ignores circles, and lets the owner keep its traits', async () => {
  await identify(stack, {
    externalId: 'a',
    traits: { from: 'a', only: 'a' },
    anonymousId: 'anon-a',
  });
  await identify(stack, { externalId: 'b', traits: { from: 'b' } });
  await alias(stack, { previousId: 'a', externalId: 'b' });
  await alias(stack, { previousId: 'b', externalId: 'c' });
  await alias(stack, { previousId: 'c', externalId: 'a' });
  await batchCreate(
    stack,
    ['anon-a', 'a', 'b', 'c'].map((distinctId) => newEvent({ distinctId })),
  );
  const root = await eventually(
    () => profileOf(stack, 'c'),
    (read) => read?.activity.totalEvents === '4',
    seconds,
  );
  expect(root).toMatchObject({ externalId: 'c', properties: { from: 'b', only: 'a' } });
  expect(await profileOf(stack, 'a')).toEqual(root);
});

it('hides a deleted profile at once, and brings it back by Identify alone', async () => {
  await batchCreate(stack, [newEvent({ distinctId: 'gone' })]);
  await identify(stack, { externalId: 'gone', traits: { t: 1 } });
  const before = await eventually(
    () => profileOf(stack, 'gone'),
    (read) => read?.activity.totalEvents === '1',
    seconds,
  );
  const remove = (id: string) =>
    call(stack.baseUrl, '/profiles.v1.ProfilesService/Delete', stack.privateKey, { id });
  expect(await remove(before?.id ?? '')).toMatchObject({ status: 200, body: {} });
  expect(await getProfile(stack, before?.id ?? '')).toBeUndefined();
  expect(await profileOf(stack, 'gone')).toBeUndefined();
  expect((await listProfiles(stack)).map(({ id }) => id)).not.toContain(before?.id);
  expect(await remove(before?.id ?? '')).toMatchObject({
    status: 404,
    body: { code: 'not_found' },
  });
  await batchCreate(stack, [newEvent({ distinctId: 'gone' })]);
  await identify(stack, { externalId: 'gone' });
  const after = await eventually(
    () => profileOf(stack, 'gone'),
    (read) => read?.activity.totalEvents === '2',
    seconds,
  );
  expect(after?.id).toBe(before?.id);
  expect(after?.properties ?? {}).toEqual({});
  expect(Date.parse(after?.createTime ?? '')).toBeGreaterThan(Date.parse(before?.createTime ?? ''));
});

it('hides a deleted anonymous profile for good', async () => {
  await batchCreate(stack, [newEvent({ distinctId: 'walk-in', kind: 'walk' })]);
  const found = await eventually(
    () => listProfiles(stack),
    (all) => all.some((one) => one.externalId === undefined && one.activity.pageviews === '0'),
    seconds,
  );
  const id =
    found.find((one) => one.externalId === undefined && one.activity.pageviews === '0')?.id ?? '';
  expect(
    (
      await call(stack.baseUrl, '/shared.profiles.v1.ProfilesService/Delete', stack.privateKey, {
        id,
      })
    ).status,
  ).toBe(200);
  await batchCreate(stack, [newEvent({ distinctId: 'walk-in' })]);
  expect(await getProfile(stack, id)).toBeUndefined();
});

it('answers each wrong credential with the right error', async () => {
  const get = '/shared.profiles.v1.ProfilesService/GetByExternalId';
  const asked = { externalId: 'traits' };
  expect(await call(stack.baseUrl, get, stack.publicKey, asked)).toMatchObject({
    status: 403,
    body: { code: 'permission_denied' },
  });
  expect(await call(stack.baseUrl, get, 'prv_nobody', asked)).toMatchObject({ status: 401 });
  expect(
    await call(stack.baseUrl, get, stack.privateKey, asked, { 'x-project-id': 'other' }),
  ).toMatchObject({ status: 404 });
  expect(
    await call(stack.baseUrl, '/sdk.profiles.v1.ProfilesSDKService/Identify', 'pub_x', asked),
  ).toMatchObject({ status: 401 });
  expect(await call(stack.baseUrl, get, stack.privateKey, { externalId: 'nobody' })).toMatchObject({
    status: 404,
    body: { code: 'not_found' },
  });
  expect(await call(stack.baseUrl, get, stack.privateKey, {})).toMatchObject({
    status: 400,
    body: { message: 'externalId: is required' },
  });
});

it('shows what was merged, and takes a merge back with its events and traits', async () => {
  await identify(stack, { externalId: 'before', traits: { team: 'red' } });
  await batchCreate(stack, [
    newEvent({ distinctId: 'anon-undo' }),
    newEvent({ distinctId: 'before' }),
  ]);
  await identify(stack, { externalId: 'undo', anonymousId: 'anon-undo', traits: { plan: 'pro' } });
  await alias(stack, { previousId: 'before', externalId: 'undo' });
  const whole = await eventually(
    () => profileOf(stack, 'undo'),
    (read) => read?.activity.totalEvents === '2' && read.merged?.length === 2,
    seconds,
  );
  expect(whole?.merged?.map(({ distinctId }) => distinctId)).toEqual(['before', 'anon-undo']);
  expect(whole?.merged?.every(({ mergeTime }) => mergeTime.endsWith('Z'))).toBe(true);
  expect(whole?.properties).toEqual({ plan: 'pro', team: 'red' });

  expect(await unmerge(stack, 'before')).toBe(200);
  const owner = await profileOf(stack, 'undo');
  expect(owner?.properties).toEqual({ plan: 'pro' });
  expect(owner?.activity.totalEvents).toBe('1');
  expect(owner?.merged?.map(({ distinctId }) => distinctId)).toEqual(['anon-undo']);
  expect(await profileOf(stack, 'before')).toMatchObject({
    externalId: 'before',
    properties: { team: 'red' },
    activity: { totalEvents: '1' },
  });

  expect(await unmerge(stack, 'anon-undo')).toBe(200);
  expect((await profileOf(stack, 'undo'))?.merged ?? []).toEqual([]);
  // Taken back already, its owner's own id, an id of nobody, no id.
  for (const id of ['before', 'undo', 'nobody']) expect(await unmerge(stack, id)).toBe(404);
  expect(await unmerge(stack, '')).toBe(400);
});
