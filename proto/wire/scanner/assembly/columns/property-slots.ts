// Maps the names of auto properties to slots. A slot is for a property that has a column or that enrichment may
// replace. The wrapper fills the table once.

import { bodyBase } from '../layout.ts';
import { hashOf, isSameText } from '../text/open-names.ts';

const slots: u32 = 128;
const nameBytes: usize = 32;
const recordBytes: usize = 8 + nameBytes;

/** slot plus 1 u32, length u32, text */
const table: usize = memory.data(5120, 16);

/** Gives a slot to the name of `length` bytes at `bodyBase`. False where the name is too long. */
export function addPropertySlot(slot: i32, length: usize): bool {
  if (length > nameBytes) return false;
  let at = hashOf(bodyBase, length);
  while (load<u32>(recordAt(at)) !== 0) at++;
  store<i32>(recordAt(at), slot + 1);
  store<u32>(recordAt(at), <u32>length, 4);
  memory.copy(recordAt(at) + 8, bodyBase, length);
  return true;
}

/** The slot of a name, or -1. */
export function slotOfProperty(start: usize, length: usize, hash: u32): i32 {
  while (true) {
    const record = recordAt(hash++);
    const slot = load<i32>(record);
    if (slot === 0) return -1;
    if (load<u32>(record, 4) === <u32>length && isSameText(record + 8, start, length))
      return slot - 1;
  }
}

@inline
function recordAt(hash: u32): usize {
  return table + <usize>(hash & (slots - 1)) * recordBytes;
}
