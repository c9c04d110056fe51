// Keeps texts that repeat once for each dictionary, found by hash. A cell holds the number of a text's entry.
//
//   entry = hash u32, dictionary u32, start u32, length u32

import { regionEntries, regionHeap, regionTable } from './column-layout.ts';
import { isSameText } from '../text/open-names.ts';
import { copyOver, regionOf, roomForBytes, roomForEntries, tableSlots } from './regions.ts';

/** More steps than chance takes: a sender chose such texts, and they must not cost more than others. */
const maxSteps: i32 = 64;
const firstSlots: usize = 4_096;

/** The entries of the latest texts, by a hash that the caller has anyway. */
const recent: usize = memory.data(1024, 16);
const recentSlots: u32 = 256;

let generation: u32 = 0;
let mask: usize = 0;
let entries: usize = 1;
let heapUsed: usize = 0;
let isCrowded: bool = false;

/** Forgets all texts. Entry 0 is the empty text. */
export function resetInterned(): void {
  entries = 1;
  heapUsed = 0;
  isCrowded = false;
  emptyTable(firstSlots);
  memory.fill(recent, 0, <usize>recentSlots << 2);
}

/** Makes a table of this many slots, a power of two, all free: slots of other generations count as free. */
function emptyTable(slots: usize): void {
  mask = slots - 1;
  if (++generation !== 0) return;
  memory.fill(regionOf(regionTable), 0, 8 * tableSlots());
  generation = 1;
}

/** Doubles the table. It grows with its texts, because a small table stays in the processor's cache. */
function growTable(): void {
  emptyTable((mask + 1) << 1);
  for (let entry: usize = 1; entry < entries; entry++) {
    let slot = <usize>load<u32>(entryAt(entry));
    while (load<u32>(slotAt(slot)) === generation) slot++;
    putSlot(slotAt(slot), entry);
  }
}

@inline
function slotAt(slot: usize): usize {
  return regionOf(regionTable) + ((slot & mask) << 3);
}

@inline
function putSlot(at: usize, entry: usize): void {
  store<u32>(at, generation);
  store<u32>(at, <u32>entry, 4);
}

/** Whether a text found no room since `clearCrowded`. */
export function wasCrowded(): bool {
  return isCrowded;
}

export function clearCrowded(): void {
  isCrowded = false;
}

export function internedTexts(): usize {
  return entries;
}

export function internedBytes(): usize {
  return heapUsed;
}

@inline
function entryAt(entry: usize): usize {
  return regionOf(regionEntries) + (entry << 4);
}

/** The address and the length of an entry's text. */
export function textOf(entry: usize): usize {
  return load<u32>(entryAt(entry), 8);
}

export function textLengthOf(entry: usize): usize {
  return load<u32>(entryAt(entry), 12);
}

/** The entry of a text in a dictionary; 0 for the empty text, and for a text that finds no room. */
export function intern(dictionary: i32, start: usize, length: usize): usize {
  if (length === 0) return 0;
  const hash = hashOf(dictionary, start, length);
  let slot = <usize>hash;
  let step = 0;
  while (true) {
    const at = slotAt(slot++);
    if (load<u32>(at) !== generation) return add(at, dictionary, hash, start, length);
    const entry = <usize>load<u32>(at, 4);
    const known = entryAt(entry);
    if (load<u32>(known) === hash && isText(known, dictionary, start, length)) return entry;
    if (++step < maxSteps) continue;
    if (mask === tableSlots() - 1) break;
    growTable();
    slot = <usize>hash;
    step = 0;
  }
  isCrowded = true;
  return 0;
}

/** Like `intern`, for names that nearly every event has. `hint` is any hash of the text. */
@inline
export function internName(dictionary: i32, start: usize, length: usize, hint: u32): usize {
  const at = recent + (((hint + <u32>dictionary) & (recentSlots - 1)) << 2);
  const last = <usize>load<u32>(at);
  if (last !== 0 && isText(entryAt(last), dictionary, start, length)) return last;
  const entry = intern(dictionary, start, length);
  store<u32>(at, <u32>entry);
  return entry;
}

@inline
function isText(known: usize, dictionary: i32, start: usize, length: usize): bool {
  return (
    load<i32>(known, 4) === dictionary &&
    load<u32>(known, 12) === <u32>length &&
    isSameText(load<u32>(known, 8), start, length)
  );
}

function add(at: usize, dictionary: i32, hash: u32, start: usize, length: usize): usize {
  if (entries >= roomForEntries() || heapUsed + length > roomForBytes()) {
    isCrowded = true;
    return 0;
  }
  const text = regionOf(regionHeap) + heapUsed;
  copyOver(text, start, length);
  heapUsed += length;
  const entry = entries++;
  const added = entryAt(entry);
  store<u32>(added, hash);
  store<i32>(added, dictionary, 4);
  store<u32>(added, <u32>text, 8);
  store<u32>(added, <u32>length, 12);
  putSlot(at, entry);
  if (entries << 1 > mask && mask !== tableSlots() - 1) growTable();
  return entry;
}

/** Has no secret, so that a batch that is built again fits again. */
function hashOf(dictionary: i32, start: usize, length: usize): u32 {
  let hash = <u64>dictionary;
  let p = start;
  let left = length;
  while (left > 8) {
    hash = mix(hash ^ load<u64>(p));
    p += 8;
    left -= 8;
  }
  hash = mix(hash ^ (load<u64>(p) & (~(<u64>0) >> (64 - ((<u64>left) << 3)))) ^ <u64>length);
  return <u32>(hash >> 32);
}

/** Folds first, because high bits of a factor change only higher bits of a product. */
@inline
function mix(value: u64): u64 {
  return (value ^ (value >> 32)) * 0x9e37_79b9_7f4a_7c15;
}
