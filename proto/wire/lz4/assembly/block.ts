// Packs and unpacks the LZ4 block format: sequences of literals and matches, the last of literals only. Packing is
// greedy, with one look into a table of recent places per position. Stores no raw length.
//
//   sequence = token u8 (literals << 4 | match - 4), more of the first length, literals,
//              offset u16, more of the second length          length: 15 continues in bytes until one is not 255
//
// Most of the time goes into branches that the processor predicts wrongly and waits for memory. Hence a table that
// leaves room in the processor's nearest cache, steps of many bytes, and lengths without a branch.

/** The address of the input, a multiple of 65,536, see `candidate`. Output follows it, see `outputOf`. */
export const input: usize = 131_072;
const table: usize = 65_536;
const tableBits: u32 = 13;
const tableBytes: usize = 16_384;
/** Room after input and output, because copies and comparisons take many bytes a step. */
const padding: usize = 64;

const minMatch: usize = 4;
/** From the format: a match begins at least 12 bytes before the end and stops at least 5 before it. */
const lastMatch: usize = 12;
const lastLiterals: usize = 5;
/**
 * Steps grow after 4 positions without a match: ids are longer, and hold no matches. Growing after 16 positions took a
 * third more time, for 2 % fewer bytes.
 */
const patience: usize = 2;

/** The address of the output for `length` bytes of input. */
export function outputOf(length: usize): usize {
  return (input + length + padding + 15) & ~15;
}

/** The most that `length` bytes may become. */
export function worstOf(length: usize): usize {
  return length + length / 255 + 16;
}

/** Makes room for input and output of these lengths; false where memory cannot grow. */
export function reserve(inputLength: usize, outputLength: usize): bool {
  const needed = outputOf(inputLength) + outputLength + padding;
  const pages = <i32>((needed + 0xffff) >> 16) - memory.size();
  return pages <= 0 || memory.grow(pages) >= 0;
}

/** Packs `length` bytes of input and returns the length of the output, at most `worstOf(length)`. */
export function compress(length: usize): usize {
  const end = input + length;
  const output = outputOf(length);
  // The output must not depend on earlier inputs.
  memory.fill(table, 0, tableBytes);
  let to = output;
  let anchor = input;
  if (length > lastMatch) {
    const limit = end - lastMatch;
    let p = input + 1;
    enter(input);
    while (true) {
      let tries: usize = 1 << patience;
      let match: usize = 0;
      let same: u32 = 0;
      while (true) {
        match = candidate(p);
        if (load<u32>(match) === load<u32>(p)) {
          // Between the two conditions, so that the compiler does not merge them: the first nearly always decides.
          same = sameBytes(p, match);
          if (match !== p) break;
        }
        p += tries++ >> patience;
        if (p > limit) return endWith(anchor, end, to) - output;
      }
      const matchEnd = endOfMatch(p, match, same, end - lastLiterals);
      const start = p - min<usize>(sameBefore(p, match), min<usize>(p - anchor, match - input));
      to = putSequence(to, anchor, start, p - match, matchEnd - start);
      anchor = matchEnd;
      p = matchEnd;
      if (p > limit) break;
      enter(p - 2);
    }
  }
  return endWith(anchor, end, to) - output;
}

// Hashes seven bytes, though a match may have four: longer matches are fewer, and pack and unpack faster.
@inline
function slotOf(p: usize): usize {
  const hash = ((load<u64>(p) << 8) * 227_718_039_650_203) >> (64 - tableBits);
  return table + ((<usize>hash) << 1);
}

/** The table holds the low 16 bits of places. */
@inline
function enter(p: usize): void {
  store<u16>(slotOf(p), <u16>p);
}

/**
 * Enters `p`, and returns the place less than 65,536 bytes before `p` that may begin with the same bytes, or `p`
 * itself. An empty slot stands for a multiple of 65,536, and the nearest one at or before `p` is never before the
 * input.
 */
@inline
function candidate(p: usize): usize {
  const slot = slotOf(p);
  const match = p - ((p - <usize>load<u16>(slot)) & 0xffff);
  store<u16>(slot, <u16>p);
  return match;
}

/** The end of the bytes from `p` that equal those from `match`, at most `limit`. `same` compares the first 32. */
@inline
function endOfMatch(p: usize, match: usize, same: u32, limit: usize): usize {
  while (same === 0xffff_ffff) {
    p += 32;
    if (p >= limit) return limit;
    match += 32;
    same = sameBytes(p, match);
  }
  return min<usize>(p + <usize>ctz(~same), limit);
}

/** A bit for each of 32 bytes that is equal in both places. */
@inline
function sameBytes(a: usize, b: usize): u32 {
  const first = <u32>i8x16.bitmask(i8x16.eq(v128.load(a), v128.load(b)));
  const second = <u32>i8x16.bitmask(i8x16.eq(v128.load(a, 16), v128.load(b, 16)));
  return first | (second << 16);
}

/** The number of equal bytes directly before both places, at most 16. */
@inline
function sameBefore(a: usize, b: usize): usize {
  const same = i8x16.bitmask(i8x16.eq(v128.load(a - 16), v128.load(b - 16)));
  return <usize>clz((~same << 16) | 0x8000);
}

@inline
function putSequence(
  to: usize,
  from: usize,
  literalEnd: usize,
  offset: usize,
  length: usize,
): usize {
  const literals = literalEnd - from;
  const more = length - minMatch;
  store<u8>(to, <u8>((min<usize>(literals, 15) << 4) | min<usize>(more, 15)));
  to = putLiterals(to + 1, from, literals);
  store<u16>(to, <u16>offset);
  return putLength(to + 2, more);
}

function endWith(from: usize, end: usize, to: usize): usize {
  const literals = end - from;
  store<u8>(to, <u8>(min<usize>(literals, 15) << 4));
  return putLiterals(to + 1, from, literals);
}

@inline
function putLiterals(to: usize, from: usize, literals: usize): usize {
  to = putLength(to, literals);
  copyOver(to, from, literals);
  return to + literals;
}

/** Writes the part of a length that its token has no room for. Always writes a byte, which counts only where needed. */
@inline
function putLength(to: usize, length: usize): usize {
  if (length >= 15 + 255) return putLongLength(to, length - 15);
  store<u8>(to, <u8>(length - 15));
  return to + <usize>(length >= 15);
}

function putLongLength(to: usize, length: usize): usize {
  while (length >= 255) {
    store<u8>(to++, 255);
    length -= 255;
  }
  store<u8>(to, <u8>length);
  return to + 1;
}

/** Copies `length` bytes, and up to 16 more. */
@inline
function copyOver(to: usize, from: usize, length: usize): void {
  const end = to + length;
  do {
    v128.store(to, v128.load(from));
    to += 16;
    from += 16;
  } while (to < end);
}

/**
 * Unpacks `length` bytes of input into exactly `rawLength` bytes of output; false where they are no such block. For any
 * input, reads nothing before the output or beyond the input, and writes nothing beyond the output and its padding.
 */
export function decompress(length: usize, rawLength: usize): bool {
  const end = input + length;
  const output = outputOf(length);
  const outputEnd = output + rawLength;
  let p = input;
  let to = output;
  while (p < end) {
    const token = <usize>load<u8>(p++);
    let literals = token >> 4;
    if (literals === 15) {
      p = takeLength(p, end);
      literals += taken;
    }
    if (p === 0 || literals > end - p || literals > outputEnd - to) return false;
    copyOver(to, p, literals);
    p += literals;
    to += literals;
    if (p === end) return to === outputEnd;
    if (end - p < 2) return false;
    const offset = <usize>load<u16>(p);
    p += 2;
    if (offset === 0 || offset > to - output) return false;
    let more = token & 15;
    if (more === 15) {
      p = takeLength(p, end);
      more += taken;
    }
    if (p === 0 || more + minMatch > outputEnd - to) return false;
    copyMatch(to, offset, more + minMatch);
    to += more + minMatch;
  }
  return false;
}

let taken: usize = 0;

/**
 * Adds up the bytes of a length into `taken`; returns 0 where they do not end. No block has enough bytes to overflow.
 */
function takeLength(p: usize, end: usize): usize {
  taken = 0;
  while (p < end) {
    const byte = <usize>load<u8>(p++);
    taken += byte;
    if (byte !== 255) return p;
  }
  return 0;
}

/** Copies from `offset` bytes before, which the copy itself may still be writing. */
@inline
function copyMatch(to: usize, offset: usize, length: usize): void {
  if (offset >= 16) {
    copyOver(to, to - offset, length);
    return;
  }
  const end = to + length;
  if (offset >= 8) {
    while (to < end) {
      store<u64>(to, load<u64>(to - offset));
      to += 8;
    }
    return;
  }
  while (to < end) {
    store<u8>(to, load<u8>(to - offset));
    to++;
  }
}
