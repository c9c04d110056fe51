import { create } from '@bufbuild/protobuf';
import { describe, expect, it } from 'vitest';
import {
  DashboardSchema,
  type Tile,
  TileSchema,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import {
  bounded,
  changesBetween,
  type DraftTile,
  placeOf,
  placeOfNew,
  withPlace,
  withTile,
} from './draft.ts';

function tile(id: string, x: number, y: number, w: number, h: number, title = id): Tile {
  return create(TileSchema, {
    id,
    title,
    x,
    y,
    w,
    h,
    content: { case: 'markdown', value: 'text' },
  });
}

const draft = (...tiles: Tile[]): DraftTile[] => tiles.map((one) => ({ key: one.id, tile: one }));
const places = (tiles: readonly DraftTile[]) =>
  Object.fromEntries(tiles.map((one) => [one.key, Object.values(placeOf(one.tile))]));

describe('a place', () => {
  it.each([
    [
      { x: -6, y: -2, w: 36, h: 10 },
      { x: 0, y: 0, w: 36, h: 10 },
    ],
    [
      { x: 60, y: 0, w: 36, h: 10 },
      { x: 36, y: 0, w: 36, h: 10 },
    ],
    [
      { x: 0, y: 20_000, w: 90, h: 2_000 },
      { x: 0, y: 10_000, w: 72, h: 1_000 },
    ],
    [
      { x: 70, y: 0, w: 0, h: 0 },
      { x: 60, y: 0, w: 12, h: 4 },
    ],
  ])('%o stays in the grid as %o', (asked, given) => {
    expect(bounded(asked)).toEqual(given);
  });
});

describe('a moved tile', () => {
  it('pushes what is in its way down, and that the next', () => {
    const tiles = draft(tile('a', 0, 0, 36, 8), tile('b', 0, 8, 36, 8), tile('c', 0, 16, 36, 8));
    const moved = withPlace(tiles, 'a', { x: 0, y: 4, w: 36, h: 8 });
    expect(places(moved)).toEqual({ a: [0, 4, 36, 8], b: [0, 12, 36, 8], c: [0, 20, 36, 8] });
  });

  it('leaves what is beside it', () => {
    const tiles = draft(tile('a', 0, 0, 36, 8), tile('b', 36, 0, 36, 8));
    const moved = withPlace(tiles, 'a', { x: 0, y: 6, w: 36, h: 8 });
    expect(places(moved)['b']).toEqual([36, 0, 36, 8]);
  });

  it('leaves no two tiles over one another', () => {
    const tiles = draft(tile('a', 0, 0, 72, 8), tile('b', 0, 8, 36, 20), tile('c', 36, 8, 36, 4));
    const moved = withPlace(tiles, 'c', { x: 18, y: 2, w: 36, h: 12 });
    expect(places(moved)).toEqual({ a: [0, 14, 72, 8], b: [0, 22, 36, 20], c: [18, 2, 36, 12] });
  });
});

it('puts a new tile where there is room, as one that the service does not know', () => {
  const tiles = withTile(draft(tile('a', 0, 3, 36, 8)), tile('copied', 5, 5, 36, 8));
  expect(tiles.map(({ tile: { id, x, y } }) => [id, x, y])).toEqual([
    ['a', 0, 3],
    ['', 36, 3],
  ]);
  expect(new Set(tiles.map((one) => one.key)).size).toBe(2);
});

it('gives a new tile a key that no other has, after one was removed, too', () => {
  const [a, b] = withTile(withTile([], tile('a', 0, 0, 36, 8)), tile('b', 0, 0, 36, 8));
  const left = withTile(b ? [b] : [], tile('c', 0, 0, 36, 8));
  expect(new Set([a, ...left].map((one) => one?.key)).size).toBe(3);
});

it.each([
  ['first', [], [0, 0]],
  ['below a tile that is as wide as the board', [tile('a', 0, 0, 72, 8)], [0, 8]],
  ['below two that fill the width', [tile('a', 0, 0, 36, 8), tile('b', 36, 0, 36, 8)], [0, 8]],
  ['beside the lowest one', [tile('a', 0, 0, 72, 8), tile('b', 0, 8, 36, 8)], [36, 8]],
  ['below a high one in its way', [tile('a', 36, 0, 36, 12), tile('b', 0, 4, 36, 8)], [0, 12]],
])('puts a new tile %s', (_, tiles, [x, y]) => {
  expect(placeOfNew(tiles, { w: 36, h: 8 })).toEqual({ x, y, w: 36, h: 8 });
});

it('says what somebody else changed', () => {
  const board = (displayName: string, tiles: Tile[]) =>
    create(DashboardSchema, { displayName, tiles });
  const before = board('Shop', [
    tile('a', 0, 0, 36, 8),
    tile('b', 0, 8, 36, 8),
    tile('c', 0, 16, 36, 8),
  ]);
  const after = board('Store', [
    tile('a', 0, 0, 36, 8),
    tile('b', 0, 9, 36, 8),
    tile('d', 0, 30, 36, 8),
  ]);
  expect(changesBetween(before, after)).toEqual([
    'Its name is now “Store”.',
    '“b” was changed or moved.',
    '“d” was added.',
    '“c” was removed.',
  ]);
});
