// Remembers outcomes, the texts that enrichment writes into the text columns of a row, by the values that they depend
// on. Enrichment computes an outcome once for equal rows; it is looked up here for each of the others.
//
//   record  = the values it depends on, four times 64 bits; the outcome's address u32; the record before's address u32
//   outcome = a bit for each column u32, then a cell u32 for each of these columns, the lowest first

import {
  maxTextsRead,
  outcomeRoomBytes,
  regionOutcomes,
  regionOutcomeTable,
  regionPresent,
  regionScratch,
  regionTexts,
} from './column-layout.ts';
import { outcomeSlots, regionOf } from './regions.ts';

const recordBytes: usize = 40;
const firstSlots: usize = 4_096;

/** The text columns whose cells the outcome of a row depends on. */
const textsRead: usize = memory.data(32, 16);
let textsReadCount: usize = 0;

/** The table has addresses of records, or 0, in a power of two of slots. */
let mask: usize = 0;
let records: usize = 0;
let newest: usize = 0;
let used: usize = 0;
let slots: u32 = 0;

/** Makes the outcome of a row depend on the cells of this column too. False where `maxTextsRead` columns are set. */
export function addTextRead(slot: i32): bool {
  if (textsReadCount === <usize>maxTextsRead) return false;
  store<i32>(textsRead + (textsReadCount++ << 2), slot);
  return true;
}

export function forgetOutcomes(): void {
  records = 0;
  newest = 0;
  used = 0;
  emptyTable(firstSlots);
}

function emptyTable(count: usize): void {
  mask = count - 1;
  memory.fill(regionOf(regionOutcomeTable), 0, count << 2);
}

/** The bytes that outcomes and records take. */
export function bytesOfOutcomes(): usize {
  return used;
}

/** A bit for each slot in which a row had, or was given, a property since `resetSlotsPut`. */
export function slotsPut(): u32 {
  return slots;
}

export function resetSlotsPut(): void {
  slots = 0;
}

/** Adds the outcome with these bits, whose cells are in the scratch region; 0 where there is no room. */
export function addOutcome(bits: u32): usize {
  const bytes = (<usize>popcnt<u32>(bits) + 1) << 2;
  if (used + bytes > <usize>outcomeRoomBytes) return 0;
  const outcome = regionOf(regionOutcomes) + used;
  store<u32>(outcome, bits);
  memory.copy(outcome + 4, regionOf(regionScratch), bytes - 4);
  used += (bytes + 7) & ~7;
  return outcome;
}

/**
 * Applies to the rows from `from` to `to` the outcomes that depend on `kind`, on their properties and on their cells in
 * the columns of `addTextRead`. Returns the first row whose outcome is unknown; `to` where there is none.
 */
export function putRowOutcomes(from: usize, to: usize, kind: u32): usize {
  for (let row = from; row < to; row++) {
    const who = whoOf(kind, row);
    const outcome = find(who, pairOf(row, 0), pairOf(row, 2), pairOf(row, 4));
    if (outcome === 0) return row;
    slots |= <u32>(who >> 32);
    put(outcome, row, row + 1);
  }
  return to;
}

/** Like `putRowOutcomes`, for the outcomes that depend on the sender and on the rows' properties. */
export function putSenderOutcomes(from: usize, to: usize, sender: u32): usize {
  let who: u64 = 0;
  let outcome: usize = 0;
  let start = from;
  for (let row = from; row < to; row++) {
    const other = whoOf(sender, row);
    if (outcome !== 0 && other === who) continue;
    who = other;
    const found = find(who, ofSender, 0, 0);
    if (found !== 0 && found === outcome) continue;
    if (outcome !== 0) put(outcome, start, row);
    if (found === 0) return row;
    outcome = found;
    start = row;
  }
  if (outcome !== 0) put(outcome, start, to);
  return to;
}

/** Remembers the outcome of all rows with `kind` and this row's properties and cells. False where there is no room. */
export function learnRowOutcome(row: usize, kind: u32, outcome: usize): bool {
  return learn(whoOf(kind, row), pairOf(row, 0), pairOf(row, 2), pairOf(row, 4), outcome);
}

export function learnSenderOutcome(row: usize, sender: u32, outcome: usize): bool {
  return learn(whoOf(sender, row), ofSender, 0, 0, outcome);
}

/** Marks a sender's record, in place of two cells: no cell is that large. */
const ofSender: u64 = ~(<u64>0);

@inline
function whoOf(kind: u32, row: usize): u64 {
  return (<u64>kind) | ((<u64>load<u32>(regionOf(regionPresent) + (row << 2))) << 32);
}

/** The cells of a row in two of the columns that its outcome depends on. */
@inline
function pairOf(row: usize, index: usize): u64 {
  return cellOf(row, index) | (cellOf(row, index + 1) << 32);
}

@inline
function cellOf(row: usize, index: usize): u64 {
  if (index >= textsReadCount) return 0;
  const slot = load<i32>(textsRead + (index << 2));
  return <u64>load<u32>(regionOf(regionTexts + slot) + (row << 2));
}

/** Writes an outcome into rows. */
@inline
function put(outcome: usize, from: usize, to: usize): void {
  let bits = load<u32>(outcome);
  slots |= bits;
  for (let cell = outcome + 4; bits !== 0; cell += 4) {
    const column = regionOf(regionTexts + <i32>ctz(bits));
    const value = load<u32>(cell);
    for (let row = from; row < to; row++) store<u32>(column + (row << 2), value);
    bits &= bits - 1;
  }
}

/** The outcome that depends on these values, or 0. */
@inline
function find(who: u64, a: u64, b: u64, c: u64): usize {
  let slot = hashOf(who, a, b, c);
  while (true) {
    const record = <usize>load<u32>(slotAt(slot++));
    if (record === 0) return 0;
    const differs =
      (load<u64>(record) ^ who) |
      (load<u64>(record, 8) ^ a) |
      (load<u64>(record, 16) ^ b) |
      (load<u64>(record, 24) ^ c);
    if (differs === 0) return load<u32>(record, 32);
  }
}

function learn(who: u64, a: u64, b: u64, c: u64, outcome: usize): bool {
  if (used + recordBytes > <usize>outcomeRoomBytes || records << 1 >= outcomeSlots) return false;
  if (records << 1 > mask) growTable();
  const record = regionOf(regionOutcomes) + used;
  used += recordBytes;
  store<u64>(record, who);
  store<u64>(record, a, 8);
  store<u64>(record, b, 16);
  store<u64>(record, c, 24);
  store<u32>(record, <u32>outcome, 32);
  store<u32>(record, <u32>newest, 36);
  newest = record;
  records++;
  enter(record);
  return true;
}

function enter(record: usize): void {
  const a = load<u64>(record, 8);
  let slot = hashOf(load<u64>(record), a, load<u64>(record, 16), load<u64>(record, 24));
  while (load<u32>(slotAt(slot)) !== 0) slot++;
  store<u32>(slotAt(slot), <u32>record);
}

/** Doubles the table. It grows with its records, because a small table stays in the processor's cache. */
function growTable(): void {
  emptyTable((mask + 1) << 1);
  for (let record = newest; record !== 0; record = load<u32>(record, 36)) enter(record);
}

@inline
function slotAt(slot: usize): usize {
  return regionOf(regionOutcomeTable) + ((slot & mask) << 2);
}

@inline
function hashOf(who: u64, a: u64, b: u64, c: u64): usize {
  const sum =
    who * 0x9e37_79b9_7f4a_7c15 +
    a * 0xc2b2_ae3d_27d4_eb4f +
    b * 0x9fb2_1c65_1e98_df25 +
    c * 0xd6e8_feb8_6659_fd93;
  return <usize>((sum ^ (sum >> 32)) * 0x9e37_79b9_7f4a_7c15 >> 40);
}
