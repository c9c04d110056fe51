// The second mode, as the wrapper calls it: bodies that were validated once, each appended to the columns.

import { ruleNone } from './rule-codes.ts';
import { regionScratch } from './columns/column-layout.ts';
import { beginBody, dropBody, hasRoom, resetRows, rowCount, setPolicy } from './columns/emit.ts';
import {
  clearCrowded,
  intern,
  internedTexts,
  resetInterned,
  textLengthOf,
  textOf,
  wasCrowded,
} from './columns/intern.ts';
import { resultRule } from './layout.ts';
import {
  addOutcome,
  addTextRead,
  bytesOfOutcomes,
  forgetOutcomes,
  learnRowOutcome,
  learnSenderOutcome,
  putRowOutcomes,
  putSenderOutcomes,
  resetSlotsPut,
  slotsPut,
} from './columns/outcomes.ts';
import { addPropertySlot } from './columns/property-slots.ts';
import { copyOver, layRegions, regionOf, roomForEntries } from './columns/regions.ts';
import { emitFrom, scan } from './request.ts';

export {
  addOutcome,
  addPropertySlot,
  addTextRead,
  bytesOfOutcomes,
  dropBody,
  forgetOutcomes,
  internedTexts,
  learnRowOutcome,
  learnSenderOutcome,
  putRowOutcomes,
  putSenderOutcomes,
  regionOf,
  roomForEntries,
  rowCount,
  setPolicy,
  slotsPut,
  textLengthOf,
  textOf,
};

const appended: i32 = 0;
const refused: i32 = 1;
const full: i32 = 2;

/**
 * Makes the module one that fills columns, with room for this many rows and bytes. Answers where bodies go, 0 where
 * there is no memory.
 */
export function startColumns(maxRows: usize, maxBytes: usize): usize {
  const origin = layRegions(maxRows, maxBytes);
  if (origin === 0) return 0;
  emitFrom(origin);
  forgetAll();
  return origin;
}

/** Forgets all rows. */
export function forgetRows(): void {
  resetRows();
  resetSlotsPut();
}

/** Forgets all rows and texts. */
export function forgetAll(): void {
  forgetRows();
  resetInterned();
  forgetOutcomes();
}

/** Adds the events of the body at the origin: all of them, or none where a rule is broken or there is no room. */
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

/** The bytes that the texts of `count` cells take one after the other. */
export function textBytes(cells: usize, count: usize): usize {
  let bytes: usize = 0;
  for (let row: usize = 0; row < count; row++) {
    const entry = <usize>load<u32>(cells + (row << 2));
    if (entry !== 0) bytes += textLengthOf(entry);
  }
  return bytes;
}

/** Writes the texts of `count` cells as Arrow has them: one more 32-bit offset at `ends`, the texts at `bytes`. */
export function writeTexts(cells: usize, count: usize, ends: usize, bytes: usize): void {
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
