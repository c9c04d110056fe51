// Changes of large profiles beside those of other projects: whose turn it is, at a real broker and engine, and what an
// Alias that changes nothing makes the engine read.

import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { maxMemberTraitsLength, maxProfileMembers } from '../../platform/limits.ts';
import {
  alias,
  identify,
  type ProfileShard,
  startProfileShard,
  unmerge,
} from '../../test/harness/services/profile-shard.ts';
import { maxBatchMembers } from '../consume/turns/member-turns.ts';
import { blockOf, insertBlock } from './insert-block.ts';
import { newRecord } from './record.ts';
import { ProfileTraits } from './traits.ts';

let shard: ProfileShard;
beforeAll(async () => {
  shard = await startProfileShard();
});
afterAll(() => shard.stop());

/** Stores a profile with so many anonymous ids. */
async function storeProfile(projectId: string, id: string, members: number): Promise<void> {
  const records = Array.from({ length: members }, (_, index) => ({
    ...newRecord(projectId, `${id} anon ${index}`),
    ...({ owner: id, root: id, mergeSource: 'identify', wasClaimed: true } as const),
  }));
  const root = { ...newRecord(projectId, id), named: true, members };
  await insertBlock(shard.clickhouse, blockOf([root, ...records], 0, '1'));
}

/** The statements that read the members of profiles, from now on. */
function watchMemberReads(): () => number {
  const query = vi.spyOn(shard.clickhouse, 'query');
  return () => query.mock.calls.filter(([{ query: sql }]) => sql.includes('WHERE edge AND')).length;
}

/** The batches in which a project's rows were stored, by their versions in order. */
async function versionsOf(projectId: string): Promise<bigint[]> {
  const result = await shard.clickhouse.query({
    query: `SELECT DISTINCT version FROM profiles WHERE project_id = {projectId:String} AND version > 1
      ORDER BY version`,
    query_params: { projectId },
    format: 'JSONCompactEachRow',
  });
  return (await result.json<[string]>()).map(([version]) => BigInt(version));
}

it('reads no member of a profile for an Alias that its own record refuses', async () => {
  const project = 'refused';
  await storeProfile(project, 'large', maxProfileMembers);
  await shard.apply(project, true, identify('u', [], 'u anon'), alias('v', 'u'));
  const reads = watchMemberReads();
  const circles = Array.from({ length: 20 }, () => alias('large', 'large anon 7'));
  const claimed = Array.from({ length: 20 }, () => alias('large anon 8', 'u'));
  const full = Array.from({ length: 20 }, () => alias('large', 'u'));
  const writer = shard.startWriter();
  const refused = await shard.publish(project, ...circles, ...claimed, ...full);
  const other = await shard.publish('beside', identify('b', [['k', '1']]));
  await Promise.all([writer.done(refused), writer.done(other)]);
  await writer.stop();
  expect(reads()).toBe(0);
  expect(await shard.traitsOf('beside', 'b')).toEqual({ k: '1' });
  expect((await shard.merged(project)).filter((text) => text.endsWith(' into u'))).toEqual([
    'u anon into u',
    'v into u',
  ]);
  expect(await shard.metrics.registry.metrics()).toContain(
    'millrace_pipeline_full_profiles_total{shard="0"} 1',
  );
});

it('merges a profile for which an unmerge of the same batch has made room', async () => {
  const project = 'freed';
  await storeProfile(project, 'large', 6_000);
  await storeProfile(project, 'u', maxProfileMembers - 6_000);
  await shard.apply(project, true, unmerge('u anon 1'), alias('large', 'u'));
  const merged = await shard.merged(project);
  expect(merged).toHaveLength(maxProfileMembers);
  expect(merged.every((text) => text.endsWith(' into u'))).toBe(true);
});

it('merges no more traits into a profile than one block holds', async () => {
  const project = 'heavy';
  const members = 70;
  // Two such profiles have room in one, and three have not.
  const json = JSON.stringify('x'.repeat(maxMemberTraitsLength / 2.5 / members));
  for (const id of ['a', 'b', 'c']) {
    const named = Array.from({ length: members }, (_, index) => ({
      ...newRecord(project, `${id} ${index}`),
      ...({ owner: id, root: id, mergeSource: 'alias', wasClaimed: true, named: true } as const),
      traits: new ProfileTraits([['k', json]]),
    }));
    const root = { ...newRecord(project, id), named: true, members };
    await insertBlock(shard.clickhouse, blockOf([root, ...named], 0, '1'));
  }
  await shard.apply(project, true, alias('a', 'all'), alias('b', 'all'), alias('c', 'all'));
  const into = (end: string, merged: string[]) => merged.filter((one) => one.endsWith(end)).length;
  const first = await shard.merged(project);
  expect([into(' into all', first), into(' into c', first)]).toEqual([2 * members + 2, members]);
  // What it has is found in the table, too, and an unmerge makes room.
  await shard.apply(project, true, alias('c', 'all'));
  expect(into(' into c', await shard.merged(project))).toBe(members);
  await shard.apply(project, true, unmerge('a'), alias('c', 'all'));
  expect(into(' into all', await shard.merged(project))).toBe(2 * members + 2);
});

it('puts off what else a project wants with large profiles, and nothing of others', async () => {
  const project = 'costly';
  await shard.clickhouse.command({ query: 'SYSTEM STOP MERGES profiles' });
  const ids = ['one', 'two', 'three'];
  for (const id of ids) await storeProfile(project, id, maxBatchMembers + 1);
  const first = await shard.publish(project, identify('end', []));
  for (const id of ids) await shard.publish(project, alias(id, `${id} next`));
  const last = await shard.publish(
    project,
    identify('end', [['k', '1']]),
    alias('three next', 'end'),
  );
  const other = await shard.publish('cheap', identify('b', []), alias('a', 'b'));
  const writer = shard.startWriter();
  await Promise.all([first, last, other].map((seq) => writer.done(seq)));
  await writer.stop();
  const [cheap, ...none] = await versionsOf('cheap');
  const costly = await versionsOf(project);
  await shard.clickhouse.command({ query: 'SYSTEM START MERGES profiles' });
  expect(none).toEqual([]);
  // Each large profile has a batch of its own, in order; what others sent after them goes with one of the first.
  expect(costly.filter((version) => version < (cheap ?? 0n)).length).toBeLessThan(2);
  expect(costly).toHaveLength(5);
  const merged = await shard.merged(project);
  expect(merged.filter((text) => text.endsWith(' into one next'))).toHaveLength(
    maxBatchMembers + 2,
  );
  expect(merged.filter((text) => text.endsWith(' into end'))).toHaveLength(maxBatchMembers + 3);
  expect(await shard.traitsOf(project, 'end')).toEqual({ k: '1' });
});
