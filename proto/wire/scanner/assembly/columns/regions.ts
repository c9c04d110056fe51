// Lays out the regions of memory in which columns grow, below the bodies. `hasRoom` compares a body with the regions
// before it is read, so that nothing is checked while it is read.

import {
  maps,
  maxExtras,
  outcomeRoomBytes,
  regionCookieless,
  regionDistinctBytes,
  regionDistinctEnds,
  regionEntries,
  regionEventIds,
  regionExtras,
  regionHeap,
  regionKinds,
  regionMapEnds,
  regionMapKeys,
  regionMapValues,
  regionOutcomes,
  regionOutcomeTable,
  regionPresent,
  regionScratch,
  regionSessionIds,
  regionStringBytes,
  regions,
  regionTable,
  regionTexts,
  regionTimes,
  scratchBytes,
  textColumns,
} from './column-layout.ts';
import { bodyBase } from '../layout.ts';

/** The shortest property is `"k":{"intValue":0}` and its comma. */
const bytesPerProperty: usize = 16;
/** A power of two. At least half of the slots stay free. */
export const outcomeSlots: usize = 131_072;

const addresses: usize = memory.data(regions * 4, 16);

let next: usize = 0;
let rowRoom: usize = 0;
let byteRoom: usize = 0;
let entryRoom: usize = 0;

/** The address of a region. */
@inline
export function regionOf(region: i32): usize {
  return load<u32>(addresses + ((<usize>region) << 2));
}

/** The room for rows. */
export function roomForRows(): usize {
  return rowRoom;
}

/** The room for the texts of one column or map, in bytes. */
export function roomForBytes(): usize {
  return byteRoom;
}

/** The room for entries of one map, and for interned texts. */
export function roomForEntries(): usize {
  return entryRoom;
}

/** The most properties that a body of `length` bytes can hold. */
export function mostProperties(length: usize): usize {
  return length / bytesPerProperty;
}

/** Slots of the table of interned texts: a power of two, at least twice as many as texts. */
export function tableSlots(): usize {
  return (<usize>1) << (33 - clz(<u32>entryRoom));
}

/** Lays the regions out for this many rows and bytes. Returns the address for bodies; 0 where memory cannot grow. */
export function layRegions(maxRows: usize, maxBytes: usize): usize {
  rowRoom = maxRows;
  byteRoom = maxBytes;
  entryRoom = mostProperties(maxBytes) + maxRows * <usize>maxExtras;
  next = bodyBase;
  put(regionEventIds, 16 * maxRows);
  put(regionSessionIds, 16 * maxRows);
  put(regionTimes, 8 * maxRows);
  put(regionCookieless, maxRows);
  put(regionKinds, 4 * maxRows);
  put(regionPresent, 4 * maxRows);
  put(regionDistinctEnds, 4 * (maxRows + 1));
  put(regionDistinctBytes, maxBytes);
  for (let column = 0; column < textColumns; column++) put(regionTexts + column, 4 * maxRows);
  for (let map = 0; map < maps; map++) {
    put(regionMapEnds + map, 4 * (maxRows + 1));
    put(regionMapKeys + map, 4 * entryRoom);
    put(regionMapValues + map, 8 * (entryRoom + 1));
  }
  put(regionStringBytes, maxBytes);
  put(regionEntries, 16 * entryRoom);
  put(regionHeap, maxBytes);
  put(regionTable, 8 * tableSlots());
  put(regionExtras, 24 * <usize>maxExtras);
  put(regionScratch, scratchBytes);
  put(regionOutcomes, outcomeRoomBytes);
  put(regionOutcomeTable, 4 * outcomeSlots);
  const pages = <i32>((next + 0xffff) >> 16) - memory.size();
  if (pages > 0 && memory.grow(pages) < 0) return 0;
  return next;
}

/** Leaves at least 16 bytes after each region, because copies take 16 bytes a step. */
function put(region: i32, bytes: usize): void {
  store<u32>(addresses + ((<usize>region) << 2), <u32>next);
  next = (next + bytes + 32 + 15) & ~15;
}

/** Copies at least `length` bytes, up to 15 more. */
@inline
export function copyOver(to: usize, from: usize, length: usize): void {
  const end = to + length;
  while (to < end) {
    v128.store(to, v128.load(from));
    to += 16;
    from += 16;
  }
}
