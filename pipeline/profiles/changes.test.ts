// The changes of profiles as the tables show them after a real writer has stored them: merges, unmerges, deletions and
// the traits that go with them.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { maxProfileMembers } from '../../platform/limits.ts';
import type { ProfileChange, Trait } from '../../proto/wire/profile-change.ts';
import {
  alias,
  identify,
  type ProfileShard,
  startProfileShard,
  unmerge,
} from '../../test/harness/services/profile-shard.ts';
import { applyChanges } from './changes.ts';
import { LoadedRecords } from './loaded-records.ts';
import { loadRecords } from './read-records.ts';
import { newRecord } from './record.ts';

let shard: ProfileShard;
beforeAll(async () => {
  shard = await startProfileShard();
});
afterAll(() => shard.stop());

it.each([
  ['one batch', true, false],
  ['a batch each', false, false],
  ['a batch and a writer each', false, true],
])('lists merged ids by the root they have, in %s', async (_, asOne, forgets) => {
  const project = `roots-${asOne}-${forgets}`;
  const steps: [ProfileChange, string[]][] = [
    [identify('a', [], 'x'), ['x into a']],
    [alias('a', 'b'), ['a into b', 'x into b']],
    [unmerge('a'), ['x into a']],
    // Merged into the same root again: rows that were not live at this root are live again.
    [alias('a', 'b'), ['a into b', 'x into b']],
    [alias('b', 'c'), ['a into c', 'b into c', 'x into c']],
    [unmerge('x'), ['a into c', 'b into c']],
    [{ kind: 'delete', distinctId: 'c' }, ['a into c', 'b into c']],
    [identify('d', [], 'x'), ['a into c', 'b into c', 'x into d']],
    [unmerge('b'), ['a into b', 'x into d']],
    [unmerge('a'), ['x into d']],
  ];
  if (asOne) await shard.apply(project, true, ...steps.map(([change]) => change));
  else {
    let writer = shard.startWriter();
    for (const [change, expected] of steps) {
      await writer.done(await shard.publish(project, change));
      expect(await shard.merged(project), JSON.stringify(change)).toEqual(expected);
      if (!forgets) continue;
      await writer.stop();
      writer = shard.startWriter();
    }
    await writer.stop();
  }
  expect(await shard.merged(project)).toEqual(['x into d']);
});

it('lists merged ids by the root they have, after any changes in any batches', async () => {
  await shard.clickhouse.command({ query: 'SYSTEM STOP MERGES profiles_by_root' });
  const users = ['a', 'b', 'c', 'd'];
  const ids = [...users, 'x', 'y', 'z'];
  let state = 20_261_122;
  const below = (count: number): number => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * count);
  };
  const pick = (from: readonly string[]): string => from[below(from.length)] ?? '';
  const change = (): ProfileChange => {
    const kind = below(10);
    if (kind < 3) return identify(pick(users), [], pick(['', 'x', 'y', 'z']));
    if (kind < 6) return alias(pick(ids), pick(users));
    return kind < 9 ? unmerge(pick(ids)) : { kind: 'delete', distinctId: pick(ids) };
  };
  let merges = 0;
  let writer = shard.startWriter();
  for (let batch = 0; batch < 30; batch++) {
    await writer.done(await shard.publish('any', ...Array.from({ length: 1 + below(5) }, change)));
    merges += (await shard.merged('any')).length;
    if (below(4) > 0) continue;
    await writer.stop();
    writer = shard.startWriter();
  }
  await writer.stop();
  await shard.clickhouse.command({ query: 'SYSTEM START MERGES profiles_by_root' });
  expect(merges).toBeGreaterThan(30);
});

it.each([
  ['one batch', true],
  ['a batch each', false],
])('lists a profile that was deleted and named again once, in %s', async (_, asOne) => {
  const project = `again-${asOne}`;
  const gone: ProfileChange = { kind: 'delete', distinctId: 'u' };
  await shard.apply(project, true, identify('u', []), identify('v', []));
  // Each creation is at a later time.
  const writer = shard.startWriter();
  const lists = [[gone, identify('u', [])], [gone], [identify('u', []), gone, identify('u', [])]];
  for (const changes of asOne ? lists : lists.flat().map((change) => [change])) {
    await writer.done(await shard.publish(project, ...changes));
    const [found] = await loadRecords(shard.clickhouse, [{ projectId: project, distinctId: 'u' }]);
    expect(await shard.listed(project)).toEqual(found?.deleted ? ['v'] : ['u', 'v']);
  }
  await writer.stop();
});

it.each([
  ['one batch', true],
  ['a batch each', false],
])(
  'sets a trait once: where the profile has none, also from an id merged into it, in %s',
  async (_, asOne) => {
    const project = `once-${asOne}`;
    const once = (externalId: string, traits: Trait[], traitsOnce: Trait[]): ProfileChange => ({
      ...{ kind: 'identify', externalId, anonymousId: '', deviceId: '' },
      ...{ traits, traitsOnce },
    });
    await shard.apply(
      project,
      asOne,
      once('user', [], [['source', '"news"']]),
      once(
        'user',
        [['plan', '"pro"']],
        [
          ['source', '"ads"'],
          ['plan', '"free"'],
        ],
      ),
      identify('old', [['since', '1999']]),
      alias('old', 'user'),
      once('user', [], [['since', '2026']]),
      // A trait that is set stays whatever it was first.
      identify('user', [['source', '"mail"']]),
      once('user', [], [['source', '"news"']]),
    );
    expect(await shard.traitsOf(project, 'user')).toEqual({
      ...{ source: '"mail"', plan: '"pro"', since: '1999' },
    });
  },
);

it.each([
  ['one batch', true],
  ['a batch each', false],
])('takes the traits back with the merge that gave them, in %s', async (_, asOne) => {
  const project = `back-${asOne}`;
  await shard.apply(
    project,
    asOne,
    identify('home', [
      ['plan', '"free"'],
      ['seats', '1'],
    ]),
    identify('work', [
      ['plan', '"pro"'],
      ['team', '"red"'],
    ]),
    identify('old', [
      ['team', '"blue"'],
      ['since', '1999'],
    ]),
    alias('old', 'work'),
    alias('work', 'home'),
    // Identify calls for a merged id set the traits of its owner.
    identify('work', [['since', '2000']]),
  );
  expect(await shard.traitsOf(project, 'home')).toEqual({
    plan: '"free"',
    seats: '1',
    team: '"red"',
    since: '2000',
  });
  await shard.apply(project, asOne, unmerge('work'));
  expect(await shard.traitsOf(project, 'home')).toEqual({
    plan: '"free"',
    seats: '1',
    since: '2000',
  });
  expect(await shard.traitsOf(project, 'work')).toEqual({
    plan: '"pro"',
    team: '"red"',
    since: '1999',
  });
  await shard.apply(project, asOne, unmerge('old'));
  expect(await shard.traitsOf(project, 'work')).toEqual({ plan: '"pro"', team: '"red"' });
  expect(await shard.traitsOf(project, 'old')).toEqual({ team: '"blue"', since: '1999' });
});

it('gives a trait that goes with a merge again from another id that has it', async () => {
  await shard.apply(
    'anew',
    false,
    identify('a', [['k', '"a"']]),
    identify('b', [['k', '"b"']]),
    identify('c', [['only', '1']]),
    alias('a', 'root'),
    alias('b', 'root'),
    alias('c', 'b'),
  );
  expect(await shard.traitsOf('anew', 'root')).toEqual({ k: '"a"', only: '1' });
  await shard.apply('anew', false, unmerge('a'));
  expect(await shard.traitsOf('anew', 'root')).toEqual({ k: '"b"', only: '1' });
  // c joined b after b was merged, so b never had the traits of c itself.
  await shard.apply('anew', false, unmerge('b'));
  expect(await shard.traitsOf('anew', 'root')).toEqual({});
  expect(await shard.traitsOf('anew', 'b')).toEqual({ k: '"b"', only: '1' });
});

it('gives no deleted trait back', async () => {
  await shard.apply(
    'deleted',
    false,
    identify('a', [['k', '1']]),
    alias('a', 'root'),
    { kind: 'delete', distinctId: 'root' },
    identify('root', [['new', '1']]),
    unmerge('a'),
  );
  expect(await shard.traitsOf('deleted', 'root')).toEqual({ new: '1' });
  expect(await shard.traitsOf('deleted', 'a')).toEqual({});
});

it.each([
  ['one batch', true],
  ['a batch each', false],
])('leaves a deleted profile deleted whoever else names it, in %s', async (_, asOne) => {
  const project = `gone-${asOne}`;
  const gone = (distinctId: string): ProfileChange => ({ kind: 'delete', distinctId });
  const ids = ['ada', 'anon-1', 'anon-2', 'bob', 'old'];
  const deleted = async (): Promise<string[]> => {
    const records = await loadRecords(
      shard.clickhouse,
      ids.map((distinctId) => ({ projectId: project, distinctId })),
    );
    const names = records.filter((record) => record.deleted).map(({ distinctId }) => distinctId);
    return names.sort();
  };
  await shard.apply(project, asOne, ...['ada', 'bob', 'old'].map((id) => identify(id, [])));
  await shard.apply(project, asOne, identify('ada', [], 'anon-1'), gone('ada'), gone('anon-2'));
  await shard.apply(
    project,
    asOne,
    alias('ada', 'bob'),
    alias('anon-1', 'bob'),
    alias('old', 'ada'),
    identify('bob', [], 'anon-2'),
    unmerge('anon-1'),
  );
  expect(await deleted()).toEqual(['ada', 'anon-1', 'anon-2']);
  expect(await shard.merged(project)).toEqual([]);
  await shard.apply(project, asOne, identify('ada', []));
  expect(await deleted()).toEqual(['anon-1', 'anon-2']);
});

it('deletes a profile without a row for each of its members that has nothing to delete', async () => {
  const anonymous = Array.from({ length: 50 }, (_, index) => `anon ${index}`);
  await shard.apply(
    'many',
    true,
    identify('old', [['k', '1']]),
    alias('old', 'u'),
    ...anonymous.map((id) => identify('u', [], id)),
  );
  const rows = async (): Promise<unknown> => {
    const query =
      "SELECT version, count() FROM profiles WHERE project_id = 'many' GROUP BY version";
    const found = await shard.clickhouse.query({ query, format: 'JSONCompactEachRow' });
    const counts = await found.json<[string, string]>();
    return counts.sort(([a], [b]) => (BigInt(a) < BigInt(b) ? -1 : 1)).map(([, count]) => count);
  };
  await shard.clickhouse.command({ query: 'SYSTEM STOP MERGES profiles' });
  await shard.apply('many', true, { kind: 'delete', distinctId: 'u' });
  // The rows of u, of old, and of the edge between them.
  expect(await rows()).toEqual(['53', '3']);
  await shard.clickhouse.command({ query: 'SYSTEM START MERGES profiles' });
  await shard.apply('many', true, unmerge('old'));
  expect(await shard.traitsOf('many', 'old')).toEqual({});
  expect(await shard.merged('many')).toHaveLength(50);
});

it.each([
  ['one batch', true],
  ['a batch each', false],
])('knows the members of a profile that an id joined just before, in %s', async (_, asOne) => {
  const project = `joined-${asOne}`;
  const stored = [identify('old', [['k', '1']]), alias('old', 'root')];
  await shard.apply(project, true, ...stored);
  await shard.apply(project, asOne, identify('new', []), alias('new', 'root'), unmerge('new'));
  expect(await shard.traitsOf(project, 'root')).toEqual({ k: '1' });
  const gone: ProfileChange = { kind: 'delete', distinctId: 'anon' };
  await shard.apply(project, asOne, identify('root', [], 'anon'), gone);
  await shard.apply(project, true, unmerge('old'));
  expect(await shard.traitsOf(project, 'old')).toEqual({});
});

it('merges so many ids into a profile and no more, whichever writer counts them', async () => {
  const project = 'crowded';
  const ids = Array.from({ length: maxProfileMembers + 1 }, (_, index) => `anon-${index}`);
  const [spare = ''] = ids.slice(-1);
  const first = shard.startWriter();
  let last = 0;
  for (let from = 0; from < ids.length; from += 2_000) {
    const some = ids.slice(from, from + 2_000).map((id) => identify('crowd', [], id));
    last = await shard.publish(project, ...some);
  }
  await first.done(last);
  expect(await shard.merged(project)).toHaveLength(maxProfileMembers);
  await first.stop();
  const second = shard.startWriter();
  await second.done(
    await shard.publish(project, identify('other', [], spare), alias('other', 'crowd')),
  );
  const merged = await shard.merged(project);
  expect(merged).toHaveLength(maxProfileMembers + 1);
  expect(merged).toContain(`${spare} into other`);
  // Who leaves makes room.
  const [left = ''] = ids;
  await second.done(await shard.publish(project, unmerge(left), identify('crowd', [], 'late')));
  expect(await shard.merged(project)).toContain('late into crowd');
  await second.done(await shard.publish(project, identify('crowd', [], left)));
  expect(await shard.merged(project)).not.toContain(`${left} into crowd`);
  expect(await shard.metrics.registry.metrics()).toContain(
    'millrace_pipeline_full_profiles_total{shard="0"} 3',
  );
  await second.stop();
});

it('moves a profile along a chain of aliases, and stores its traits at both ends alone', async () => {
  const ids = Array.from({ length: 3_000 }, (_, index) => `link-${index}`);
  const long = JSON.stringify('x'.repeat(200_000));
  const chain = ids.slice(1).map((id, index) => alias(ids[index] ?? '', id));
  const [first = '', second = ''] = ids;
  await shard.apply('chain', true, identify(first, [['long', long]], 'anon'), ...chain);
  const [last = ''] = ids.slice(-1);
  const merged = await shard.merged('chain');
  expect(merged).toHaveLength(ids.length);
  expect(merged.every((text) => text.endsWith(` into ${last}`))).toBe(true);
  expect(await shard.traitsOf('chain', second)).toEqual({});
  expect(await shard.traitsOf('chain', last)).toEqual({ long });
  await shard.apply('chain', true, unmerge(second));
  expect(await shard.traitsOf('chain', second)).toEqual({ long });
  expect(await shard.traitsOf('chain', last)).toEqual({});
  expect(await shard.merged('chain')).toContain(`anon into ${second}`);
});

it('lets other work run between the changes of one batch', async () => {
  const records = new LoadedRecords();
  const users = ['a', 'b', 'c'];
  for (const id of users) records.add(newRecord('turns', id));
  const changes = users.map((id) => ({
    projectId: 'turns',
    receiveTimeMs: 1,
    change: identify(id, []),
  }));
  let timeMs = 0;
  const seen: number[] = [];
  setImmediate(() => seen.push(records.changed.size));
  await applyChanges(records, changes, () => {
    timeMs += 15;
    return timeMs;
  });
  expect(seen).toEqual([2]);
});
