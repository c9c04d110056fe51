// Texts that occur often, each kept once for its dictionary: found by hash, numbered in the order of their first use.
//
//   entry = hash u32, dictionary u32, start u32, length u32, number in its dictionary u32, next entry of it u32

import { dictionaries, regionEntries, regionHeap, regionTable } from './column-layout.ts';
import { isSameText } from './open-names.ts';
import { copyOver, regionOf, roomForBytes, roomForEntries, tableSlots } from './regions.ts';

const entryBytes: usize = 24;
/** More steps than chance would take: somebody chose these texts, and they must not cost more than others. */
const maxSteps: i32 = 64;
const firstSlots: usize = 4_096;

/** For each dictionary: its first entry, its last, how many it has, the bytes they have. */
const lists: usize = memory.data(512, 16);

let seed: u64 = 0;
let generation: u32 = 0;
let mask: usize = 0;
let entries: usize = 1;
let heapUsed: usize = 0;
let isCrowded: bool = false;

/** Sets what hashes start from: a number that no sender knows. */
export function setSeed(value: f64): void {
  seed = reinterpret<u64>(value);
}

/** Forgets all texts. Entry 0, and number 0 in each dictionary, is the empty text. */
export function resetInterned(): void {
  memory.fill(lists, 0, <usize>dictionaries * 16);
  for (let dictionary = 0; dictionary < dictionaries; dictionary++) {
    store<u32>(listOf(dictionary), 1, 8);
  }
  entries = 1;
  heapUsed = 0;
  isCrowded = false;
  emptyTable(firstSlots);
}

/** A table of so many slots, a power of two, all of them free: slots of other generations count as such. */
function emptyTable(slots: usize): void {
  mask = slots - 1;
  if (++generation !== 0) return;
  memory.fill(regionOf(regionTable), 0, 8 * tableSlots());
  generation = 1;
}

/** Doubles the table: it grows with its texts, because a small one stays in the processor's cache. */
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

/** Whether some text could not be found room for since the last reset of this mark. */
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

/** Texts in a dictionary, the empty one included, and the bytes that they have. */
export function dictionarySize(dictionary: i32): usize {
  return load<u32>(listOf(dictionary), 8);
}

export function dictionaryBytes(dictionary: i32): usize {
  return load<u32>(listOf(dictionary), 12);
}

@inline
function listOf(dictionary: i32): usize {
  return lists + ((<usize>dictionary) << 4);
}

@inline
export function entryAt(entry: usize): usize {
  return regionOf(regionEntries) + entry * entryBytes;
}

/** The number in its dictionary of an entry that `intern` answered. */
@inline
export function numberOfEntry(entry: usize): u32 {
  return entry === 0 ? 0 : load<u32>(entryAt(entry), 16);
}

/** The entry of a text in a dictionary; 0, which is also the empty text's, where there is no room for it. */
export function intern(dictionary: i32, start: usize, length: usize): usize {
  if (length === 0) return 0;
  const hash = hashOf(dictionary, start, length);
  let slot = <usize>hash;
  for (let step = 0; step < maxSteps; step++) {
    const at = slotAt(slot++);
    if (load<u32>(at) !== generation) return add(at, dictionary, hash, start, length);
    const entry = <usize>load<u32>(at, 4);
    const known = entryAt(entry);
    if (load<u32>(known) !== hash || load<u32>(known, 4) !== <u32>dictionary) continue;
    if (load<u32>(known, 12) !== <u32>length) continue;
    if (isSameText(load<u32>(known, 8), start, length)) return entry;
  }
  isCrowded = true;
  return 0;
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
  const list = listOf(dictionary);
  const number = load<u32>(list, 8);
  store<u32>(added, hash);
  store<u32>(added, dictionary, 4);
  store<u32>(added, <u32>text, 8);
  store<u32>(added, <u32>length, 12);
  store<u32>(added, number, 16);
  store<u32>(added, 0, 20);
  const last = <usize>load<u32>(list, 4);
  if (last === 0) store<u32>(list, <u32>entry);
  else store<u32>(entryAt(last), <u32>entry, 20);
  store<u32>(list, <u32>entry, 4);
  store<u32>(list, number + 1, 8);
  store<u32>(list, load<u32>(list, 12) + <u32>length, 12);
  putSlot(at, entry);
  if (entries << 1 > mask && mask < tableSlots() - 1) growTable();
  return entry;
}

function hashOf(dictionary: i32, start: usize, length: usize): u32 {
  let hash = seed + <u64>dictionary;
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

/** Folded first, because a product tells of high bits only in higher ones. */
@inline
function mix(value: u64): u64 {
  return (value ^ (value >> 32)) * 0x9e37_79b9_7f4a_7c15;
}

/**
 * Writes a dictionary as Arrow has it: at `ends` one more 32-bit offset than there are texts, at `bytes` the texts,
 * in the order of their numbers. The caller made room.
 */
export function writeDictionary(dictionary: i32, ends: usize, bytes: usize): void {
  store<u32>(ends, 0);
  store<u32>(ends, 0, 4);
  let used: usize = 0;
  let at = ends + 8;
  for (let entry = <usize>load<u32>(listOf(dictionary)); entry !== 0; at += 4) {
    const known = entryAt(entry);
    const length = <usize>load<u32>(known, 12);
    memory.copy(bytes + used, load<u32>(known, 8), length);
    used += length;
    store<u32>(at, <u32>used);
    entry = load<u32>(known, 20);
  }
}
