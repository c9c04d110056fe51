import { expect, it } from 'vitest';
import { shardOf } from '../broker/topology.ts';
import { Groups, oneGroup } from './groups.ts';

it('a shard and its projects lie in the group of the shard’s number modulo the groups', () => {
  const groups = new Groups(['a', 'b', 'c'], 8);
  expect(Array.from({ length: 8 }, (_, shard) => groups.ofShard(shard)).join('')).toBe('abcabcab');
  expect([0, 1, 2].map((place) => groups.shardsAt(place))).toEqual([
    [0, 3, 6],
    [1, 4, 7],
    [2, 5],
  ]);
  const upper = groups.map((name) => name.toUpperCase());
  for (const id of ['one', 'another', 'third']) {
    expect(groups.ofProject(id)).toBe('abc'[shardOf(id, 8) % 3]);
    expect(groups.all[groups.placeOf(id)]).toBe(groups.ofProject(id));
    expect(upper.ofProject(id)).toBe(groups.ofProject(id).toUpperCase());
  }
  expect([upper.first, oneGroup('x').ofProject('any')]).toEqual(['A', 'x']);
  expect(() => new Groups(['a', 'b'], 1)).toThrow('2 groups for 1 shards');
});
