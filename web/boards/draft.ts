// A board while it is edited, and the geometry of its tiles: 72 columns, moved in steps of six, rows in steps of two.

import { create } from '@bufbuild/protobuf';
import {
  type Dashboard,
  type Tile,
  TileSchema,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';

/** As the service has it. */
export const columns = 72;
/** A twelfth of the width. */
export const columnStep = 6;
export const rowStep = 2;
const leastWidth = 12;
const leastHeight = 4;
const maxRow = 10_000;
const maxHeight = 1_000;

/** `key`: the tile's name on the page; a new tile has no id yet. */
export type DraftTile = { key: string; tile: Tile };

export type Draft = {
  displayName: string;
  description: string;
  tiles: DraftTile[];
  /** The revision that the changes are based on. */
  revision: number;
};

export function draftOf({ displayName, description, tiles, revision }: Dashboard): Draft {
  return {
    displayName,
    description,
    revision,
    tiles: tiles.map((tile) => ({ key: tile.id, tile })),
  };
}

export type Place = { x: number; y: number; w: number; h: number };

export function placeOf({ x = 0, y = 0, w, h }: Tile): Place {
  return { x, y, w, h };
}

/** The place within the grid. */
export function bounded({ x, y, w, h }: Place): Place {
  const width = Math.max(leastWidth, Math.min(columns, w));
  return {
    x: Math.max(0, Math.min(columns - width, x)),
    y: Math.max(0, Math.min(maxRow, y)),
    w: width,
    h: Math.max(leastHeight, Math.min(maxHeight, h)),
  };
}

function overlap(a: Place, b: Place): boolean {
  return a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;
}

/** Puts a tile at a place; tiles that are in its way, and those in theirs, move down below. */
export function withPlace(tiles: readonly DraftTile[], key: string, place: Place): DraftTile[] {
  const settled: { key: string; place: Place }[] = [{ key, place: bounded(place) }];
  const others = tiles
    .filter((one) => one.key !== key)
    .map((one) => ({ key: one.key, place: placeOf(one.tile) }))
    .sort((a, b) => a.place.y - b.place.y || a.place.x - b.place.x);
  for (const other of others) {
    let { place: free } = other;
    for (;;) {
      const inWay = settled.find((one) => overlap(one.place, free));
      if (!inWay) break;
      free = { ...free, y: inWay.place.y + inWay.place.h };
    }
    settled.push({ key: other.key, place: free });
  }
  const places = new Map(settled.map((one) => [one.key, one.place]));
  return tiles.map((one) => ({ ...one, tile: { ...one.tile, ...places.get(one.key) } }));
}

/** A new tile: right of the lowest one where there is room to the edge, else below all. */
export function placeOfNew(tiles: readonly Tile[], { w, h }: Pick<Tile, 'w' | 'h'>): Place {
  const places = tiles.map(placeOf);
  const below = Math.max(0, ...places.map((one) => one.y + one.h));
  const y = Math.max(0, ...places.filter((one) => one.y + one.h === below).map((one) => one.y));
  const band = { x: 0, y, w: columns, h };
  const x = Math.max(0, ...places.filter((one) => overlap(one, band)).map((one) => one.x + one.w));
  return x + w <= columns ? { x, y, w, h } : { x: 0, y: below, w, h };
}

/** A number is given once: how many tiles there are says nothing after one was removed. */
let lastNew = 0;

export function withTile(tiles: readonly DraftTile[], tile: Tile): DraftTile[] {
  const place = placeOfNew(
    tiles.map((one) => one.tile),
    tile,
  );
  const key = `new ${++lastNew}`;
  return [...tiles, { key, tile: create(TileSchema, { ...tile, ...place, id: '' }) }];
}

/** In words, for people who do not see the grid. */
export function placeInWords(title: string, { x, y, w, h }: Place): string {
  const part = (value: number): string => String(Math.round((value / columnStep) * 10) / 10);
  return `${title || 'Tile'}: column ${part(x + columnStep)} of 12, row ${y + 1}, ${part(w)} columns wide, ${h} rows high`;
}

/** What changed between two states of a board, in sentences. */
export function changesBetween(before: Dashboard, after: Dashboard): string[] {
  const said: string[] = [];
  if (before.displayName !== after.displayName)
    said.push(`Its name is now “${after.displayName}”.`);
  if (before.description !== after.description) said.push('Its description changed.');
  const old = new Map(before.tiles.map((tile) => [tile.id, tile]));
  const now = new Map(after.tiles.map((tile) => [tile.id, tile]));
  const name = (tile: Tile): string => `“${tile.title || 'a tile without a title'}”`;
  for (const tile of after.tiles) {
    const former = old.get(tile.id);
    if (!former) said.push(`${name(tile)} was added.`);
    else if (!isSame(former, tile)) said.push(`${name(tile)} was changed or moved.`);
  }
  for (const tile of before.tiles) if (!now.has(tile.id)) said.push(`${name(tile)} was removed.`);
  return said;
}

function isSame(a: Tile, b: Tile): boolean {
  const text = (tile: Tile): string =>
    JSON.stringify(tile, (_, value: unknown) =>
      typeof value === 'bigint' ? String(value) : value,
    );
  return text(a) === text(b);
}
