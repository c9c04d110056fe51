// The records that a batch loads, shown by changes of ids whose owners and members the batch does not name.

import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  identify,
  type ProfileShard,
  startProfileShard,
} from '../../test/harness/services/profile-shard.ts';
import { loadRecords } from './read-records.ts';

let shard: ProfileShard;
beforeAll(async () => {
  shard = await startProfileShard();
});
afterAll(() => shard.stop());

it('unmerges an id with the ids merged into it, though none of them is in memory', async () => {
  const first = shard.startWriter();
  const merged = await shard.publish(
    'unmerge',
    identify('b', [['b', '1']]),
    { kind: 'alias', previousId: 'b', externalId: 'c' },
    identify('c', [], 'anon-c'),
    { kind: 'alias', previousId: 'c', externalId: 'd' },
    identify('b', [], 'anon-b'),
  );
  await first.done(merged);
  await first.stop();
  const second = shard.startWriter();
  await second.done(await shard.publish('unmerge', { kind: 'unmerge', distinctId: 'c' }));
  await second.stop();
  const names = ['anon-b', 'anon-c', 'b', 'c', 'd'].map((distinctId) => {
    return { projectId: 'unmerge', distinctId };
  });
  const found = await loadRecords(shard.clickhouse, names);
  expect(Object.fromEntries(found.map(({ distinctId, root }) => [distinctId, root]))).toEqual({
    'anon-b': 'c',
    'anon-c': 'c',
    b: 'c',
    c: '',
    d: '',
  });
});

it('keeps a merge through a batch that does not name its ids', async () => {
  const writer = shard.startWriter();
  await writer.done(
    await shard.publish(
      'passing',
      { kind: 'alias', previousId: 'b', externalId: 'c' },
      { kind: 'alias', previousId: 'c', externalId: 'd' },
    ),
  );
  // To find the ids that go with x, the writer follows the owners of b past c, which the batch does not name.
  await writer.done(
    await shard.publish(
      'passing',
      identify('b', []),
      { kind: 'alias', previousId: 'x', externalId: 'd' },
      { kind: 'unmerge', distinctId: 'x' },
    ),
  );
  await writer.done(
    await shard.publish('passing', { kind: 'alias', previousId: 'c', externalId: 'e' }),
  );
  await writer.stop();
  const [found] = await loadRecords(shard.clickhouse, [{ projectId: 'passing', distinctId: 'c' }]);
  expect(found).toMatchObject({ owner: 'd', root: 'd' });
});
