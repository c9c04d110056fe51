// The second mode, as the wrapper calls it: bodies that were validated once, each appended to the columns of a batch.

import { ruleNone } from './codes.ts';
import { regionScratch } from './column-layout.ts';
import {
  beginBody,
  distinctByteCount,
  dropBody,
  hasRoom,
  mapEntryCount,
  resetRows,
  rowCount,
  setPlainColumns,
  setPolicy,
  stringByteCount,
} from './emit.ts';
import {
  clearCrowded,
  dictionaryBytes,
  dictionarySize,
  entryAt,
  intern,
  internedTexts,
  numberOfEntry,
  resetInterned,
  setSeed,
  wasCrowded,
  writeDictionary,
} from './intern.ts';
import { resultRule } from './layout.ts';
import { addPropertySlot } from './property-slots.ts';
import { copyOver, layRegions, regionOf } from './regions.ts';
import { emitFrom, scan } from './request.ts';

export {
  addPropertySlot,
  dictionaryBytes,
  dictionarySize,
  distinctByteCount,
  internedTexts,
  mapEntryCount,
  numberOfEntry,
  regionOf,
  rowCount,
  setPolicy,
  stringByteCount,
  writeDictionary,
};

const appended: i32 = 0;
const refused: i32 = 1;
const full: i32 = 2;

/**
 * Makes the module one that fills columns, with room for this many rows and bytes. `plainColumns` has a bit for each
 * text column without a dictionary. Answers where bodies go, 0 where there is no memory.
 */
export function startColumns(maxRows: usize, maxBytes: usize, plainColumns: u32, seed: f64): usize {
  const origin = layRegions(maxRows, maxBytes);
  if (origin === 0) return 0;
  setPlainColumns(plainColumns);
  setSeed(seed);
  emitFrom(origin);
  beginBatch();
  return origin;
}

/** Forgets all rows and texts. */
export function beginBatch(): void {
  resetRows();
  resetInterned();
}

/** Adds the events of the body at the origin: all of them, or none where a rule is broken or the batch is full. */
export function append(length: usize, receiveTimeMs: f64): i32 {
  if (!hasRoom(length)) return full;
  clearCrowded();
  beginBody();
  scan(length, receiveTimeMs);
  const isRefused = load<i32>(resultRule) !== ruleNone;
  if (!isRefused && !wasCrowded()) return appended;
  dropBody();
  return isRefused ? refused : full;
}

/** The entry of the text of `length` bytes in the scratch region; 0 where it is empty or there is no room. */
export function internScratch(dictionary: i32, length: usize): usize {
  return intern(dictionary, regionOf(regionScratch), length);
}

/** Where the text of an entry lies, and how long it is. */
export function textOf(entry: usize): usize {
  return load<u32>(entryAt(entry), 8);
}

/** The dictionary that an entry belongs to. */
export function dictionaryOf(entry: usize): i32 {
  return load<i32>(entryAt(entry), 4);
}

export function textLengthOf(entry: usize): usize {
  return load<u32>(entryAt(entry), 12);
}

/** The bytes that the texts of `count` cells, entries each, take one after the other. */
export function plainBytes(cells: usize, count: usize): usize {
  let bytes: usize = 0;
  for (let row: usize = 0; row < count; row++) {
    const entry = <usize>load<u32>(cells + (row << 2));
    if (entry !== 0) bytes += textLengthOf(entry);
  }
  return bytes;
}

/** Writes the texts of `count` cells as Arrow has them: one more 32-bit offset at `ends`, the texts at `bytes`. */
export function writePlain(cells: usize, count: usize, ends: usize, bytes: usize): void {
  let used: usize = 0;
  store<u32>(ends, 0);
  for (let row: usize = 0; row < count; row++) {
    const entry = <usize>load<u32>(cells + (row << 2));
    if (entry !== 0) {
      const length = textLengthOf(entry);
      copyOver(bytes + used, textOf(entry), length);
      used += length;
    }
    store<u32>(ends + (row << 2), <u32>used, 4);
  }
}
