// The member names of all open objects, as a stack of entries, and the check that no object has a name twice, or too
// many names. The stack lies behind the body and grows. The hash has no secret, so names that meet in the table too
// often are sorted instead: no sender can choose names that make the check slow.

import { ruleMemberOnce, ruleMembersCount } from '../rule-codes.ts';
import { noteNoMemory, noteText } from '../faults.ts';
import { limitMembers, nameSlots, nameTable } from '../layout.ts';
import { lastTextEnd, scanText } from './scan-string.ts';

/**
 * An entry: start u32, length u32, hash u32, then for a property the start u32, end u32 and variant u32 of its value.
 */
export const entryBytes: usize = 24;
/** In place of a variant: the entry is a member of the event itself, not of one of its maps. */
const ofEvent: u32 = 255;

const slots: usize = nameSlots;
/** Slots for an object of up to a quarter as many names: few enough to stay in the processor's cache. */
const smallSlots: usize = 1_024;
/** Steps along the table, for each name, after which an object is sorted. Names by chance take half a step. */
const maxStepsPerName: usize = 4;

let top: usize = 0;
let limit: usize = 0;
let generation: u32 = 0;
let steps: usize = 0;

/** Empties the stack, which begins at `base`. */
export function resetNames(base: usize): void {
  top = (base + 15) & ~15;
  limit = (<usize>memory.size()) << 16;
}

export function namesTop(): usize {
  return top;
}

export function dropNames(base: usize): void {
  top = base;
}

/** Makes room for `bytes` above the stack; false where memory cannot grow. */
@inline
function reserve(bytes: usize): bool {
  if (top + bytes <= limit) return true;
  const pages = <i32>((top + bytes - limit + 0x1f_ffff) >> 16);
  if (memory.grow(pages) < 0) {
    noteNoMemory();
    return false;
  }
  limit = (<usize>memory.size()) << 16;
  return true;
}

/**
 * Reads the name whose first byte is at `p`, writes its escapes out in place, and puts it on the stack. Returns the
 * position after its closing quote; 0 where it is no string or memory cannot grow.
 */
@inline
export function pushName(p: usize): usize {
  const end = scanText(p);
  if (end === 0 || !pushEntry(p, lastTextEnd() - p)) return 0;
  return end + 1;
}

/** Puts a name on the stack; false where memory cannot grow. */
@inline
export function pushEntry(start: usize, length: usize): bool {
  if (!reserve(entryBytes)) return false;
  store<u32>(top, <u32>start);
  store<u32>(top, <u32>length, 4);
  store<u32>(top, hashOf(start, length), 8);
  store<u32>(top, 0, 20);
  top += entryBytes;
  return true;
}

/** Marks the name pushed last as a member of the event itself. */
export function markOfEvent(): void {
  store<u32>(top - entryBytes, ofEvent, 20);
}

/**
 * Like `checkNamesOnce` for the event's own names since `base`. Works on a copy, because the entries of its maps, which
 * lie between them, are still needed. False where memory cannot grow.
 */
export function checkOfEventOnce(base: usize): bool {
  const end = top;
  if (!reserve(end - base)) return false;
  for (let entry = base; entry < end; entry += entryBytes) {
    if (load<u32>(entry, 20) !== ofEvent) continue;
    memory.copy(top, entry, entryBytes);
    top += entryBytes;
  }
  const done = checkNamesOnce(end);
  top = end;
  return done;
}

/** The start and length of the name pushed last. */
export function lastStart(): usize {
  return load<u32>(top - entryBytes);
}

export function lastLength(): usize {
  return load<u32>(top - entryBytes, 4);
}

/** Tells most names apart. Names that share a hash cost no more: no check here takes longer for them. */
@inline
export function hashOf(start: usize, length: usize): u32 {
  let first: u64;
  let last: u64 = 0;
  if (length >= 8) {
    first = length > 16 ? hashMiddle(start, length) : load<u64>(start);
    last = load<u64>(start + length - 8);
  } else {
    first = length === 0 ? 0 : load<u64>(start) & (~(<u64>0) >> (64 - ((<u64>length) << 3)));
  }
  const both = first ^ rotl<u64>(last, 27) ^ <u64>length;
  // Folds first, because high bits of a factor change only higher bits of a product.
  return <u32>(((both ^ (both >> 32)) * 0x9e37_79b9_7f4a_7c15) >> 32);
}

/** The hash of all but the last bytes of a name of more than 16. */
function hashMiddle(start: usize, length: usize): u64 {
  let hash: u64 = 0;
  for (let p = start; p < start + length - 8; p += 8) {
    hash ^= load<u64>(p);
    hash = (hash ^ (hash >> 32)) * 0x9e37_79b9_7f4a_7c15;
  }
  return hash;
}

export function isSameText(a: usize, b: usize, length: usize): bool {
  while (length >= 8) {
    if (load<u64>(a) !== load<u64>(b)) return false;
    a += 8;
    b += 8;
    length -= 8;
  }
  return length === 0 || (load<u64>(a) ^ load<u64>(b)) << (64 - ((<u64>length) << 3)) === 0;
}

/**
 * Notes the place of the first name since `base` that repeats an earlier one, or that is one too many: names behind it
 * are not compared. False where memory cannot grow.
 */
export function checkNamesOnce(base: usize): bool {
  let count = (top - base) / entryBytes;
  if (count < 2) return true;
  const most = <usize>load<u32>(limitMembers);
  if (count > most) {
    noteText(ruleMembersCount, load<u32>(base + most * entryBytes) - 1);
    count = most;
  }
  if (count > slots / 2) return sortNamesOnce(base, count);
  const mask = count > smallSlots / 4 ? slots - 1 : smallSlots - 1;
  if (++generation === 0) {
    memory.fill(nameTable, 0, slots * 8);
    generation = 1;
  }
  steps = 0;
  const end = base + count * entryBytes;
  for (let entry = base; entry < end; entry += entryBytes) {
    if (isInTable(entry, mask)) break;
    if (steps > count * maxStepsPerName) return sortNamesOnce(base, count);
  }
  return true;
}

/** Enters a name into the table of this generation. True where the name is in it already, which is noted. */
function isInTable(entry: usize, mask: usize): bool {
  let slot = <usize>load<u32>(entry, 8);
  while (true) {
    const at = <usize>nameTable + ((slot & mask) << 3);
    if (load<u32>(at) !== generation) {
      store<u32>(at, generation);
      store<u32>(at, <u32>entry, 4);
      return false;
    }
    const other = <usize>load<u32>(at, 4);
    if (compare(entry, other, false) === 0) {
      noteText(ruleMemberOnce, load<u32>(entry) - 1);
      return true;
    }
    slot++;
    steps++;
  }
}

/** Like `checkNamesOnce`, for any names: sorts their addresses, in memory above the stack, and compares neighbours. */
function sortNamesOnce(base: usize, count: usize): bool {
  if (!reserve(count * 4)) return false;
  for (let index: usize = 0; index < count; index++) {
    store<u32>(top + index * 4, <u32>(base + index * entryBytes));
  }
  for (let root = count / 2; root > 0; root--) siftDown(root - 1, count);
  for (let last = count - 1; last > 0; last--) {
    const largest = load<u32>(top);
    store<u32>(top, load<u32>(top + last * 4));
    store<u32>(top + last * 4, largest);
    siftDown(0, last);
  }
  for (let index: usize = 1; index < count; index++) {
    const entry = <usize>load<u32>(top + index * 4);
    const before = <usize>load<u32>(top + index * 4 - 4);
    if (compare(entry, before, false) === 0) noteText(ruleMemberOnce, load<u32>(entry) - 1);
  }
  return true;
}

/** Restores the heap of the first `count` addresses above the stack below `root`. */
function siftDown(root: usize, count: usize): void {
  const sinking = load<u32>(top + root * 4);
  while (true) {
    let child = root * 2 + 1;
    if (child >= count) break;
    let address = <usize>load<u32>(top + child * 4);
    if (child + 1 < count) {
      const right = <usize>load<u32>(top + child * 4 + 4);
      if (compare(right, address, true) > 0) {
        child++;
        address = right;
      }
    }
    if (compare(sinking, address, true) >= 0) break;
    store<u32>(top + root * 4, <u32>address);
    root = child;
  }
  store<u32>(top + root * 4, sinking);
}

/** Orders entries by name, and with `byPlace` equal names by their place in the text. 0 means equal. */
function compare(a: usize, b: usize, byPlace: bool): i32 {
  const hashA = load<u32>(a, 8);
  const hashB = load<u32>(b, 8);
  if (hashA !== hashB) return hashA < hashB ? -1 : 1;
  const lengthA = load<u32>(a, 4);
  const lengthB = load<u32>(b, 4);
  if (lengthA !== lengthB) return lengthA < lengthB ? -1 : 1;
  const startA = <usize>load<u32>(a);
  const startB = <usize>load<u32>(b);
  const order = memory.compare(startA, startB, lengthA);
  if (order !== 0 || !byPlace) return order;
  return startA < startB ? -1 : startA > startB ? 1 : 0;
}
