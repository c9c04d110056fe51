// The entry of the module's second mode, which turns bodies into columns: the functions that the wrapper calls.
// request.ts is the entry of the first.

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
 * Turns the second mode on, with room for this many rows and bytes. Returns the address for bodies; 0 where memory
 * cannot grow.
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

/** Adds the events of the body at the origin: all, or none where a rule is broken or room is missing. */
export function append(length: usize, receiveTimeMs: f64): i32 {
  if (!hasRoom(length)) return full;
  clearCrowded();
  beginBody();
  scan(length, receiveTimeMs, Infinity);
  const isRefused = load<i32>(resultRule) !== ruleNone;
  if (!isRefused && !wasCrowded()) return appended;
  dropBody();
  return isRefused ? refused : full;
}

/** The entry of the text of `length` bytes in the scratch region; 0 where the text is empty or has no room. */
export function internScratch(dictionary: i32, length: usize): usize {
  return intern(dictionary, regionOf(regionScratch), length);
}

/** The bytes that the texts of `count` cells take together. */
export function textBytes(cells: usize, count: usize): usize {
  let bytes: usize = 0;
  for (let row: usize = 0; row < count; row++) {
    const entry = <usize>load<u32>(cells + (row << 2));
    if (entry !== 0) bytes += textLengthOf(entry);
  }
  return bytes;
}

/** Writes the texts of `count` cells in Arrow's layout: `count` + 1 offsets of 32 bits at `ends`, texts at `bytes`. */
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
