// The LZ4 block format: sequences of literals and matches, the last one literals only. Greedy, one look into a table
// of recent places per position. Read by the AssemblyScript compiler.
//
//   sequence = token u8 (literals << 4 | match - 4), more of the first length, literals,
//              offset u16, more of the second length          length: 15 goes on in bytes until one is not 255

/** Input lies here; output follows it, see `outputOf`. */
export const input: usize = 131_072;
const table: usize = 65_536;
const tableBits: u32 = 14;
const tableBytes: usize = 65_536;
/** Room after input and output, because copies go sixteen bytes a step. */
const padding: usize = 64;

const minMatch: usize = 4;
/** The format's own: a match begins at least 12 bytes before the end and stops at least 5 before it. */
const lastMatch: usize = 12;
const lastLiterals: usize = 5;
const maxOffset: usize = 65_535;
/** After 16 positions without a match the steps grow: ids are as long as that, and nothing is found in them. */
const patience: usize = 4;

/** Places in the table count from here, so that those of earlier inputs are told by being smaller. */
let epoch: u32 = 1;

/** Where the output for `length` bytes of input begins. */
export function outputOf(length: usize): usize {
  return (input + length + padding + 15) & ~15;
}

/** The most that `length` bytes may become. */
export function worstOf(length: usize): usize {
  return length + length / 255 + 16;
}

/** Makes room for input and output of these lengths; false where there is none. */
export function reserve(inputLength: usize, outputLength: usize): bool {
  const needed = outputOf(inputLength) + outputLength + padding;
  const pages = <i32>((needed + 0xffff) >> 16) - memory.size();
  return pages <= 0 || memory.grow(pages) >= 0;
}

/** Packs `length` bytes of input and answers the length of the output, at most `worstOf(length)`. */
export function compress(length: usize): usize {
  const end = input + length;
  const output = outputOf(length);
  renewEpoch(length);
  let to = output;
  let anchor = input;
  if (length > lastMatch) {
    const limit = end - lastMatch;
    let p = input + 1;
    enter(input);
    while (true) {
      let tries: usize = 1 << patience;
      let match = candidate(p);
      while (match === 0) {
        p += tries++ >> patience;
        if (p > limit) return endWith(anchor, end, to) - output;
        match = candidate(p);
      }
      while (p > anchor && match > input && load<u8>(p - 1) === load<u8>(match - 1)) {
        p--;
        match--;
      }
      const matchEnd = endOfMatch(p + minMatch, match + minMatch, end - lastLiterals);
      to = putSequence(to, anchor, p, p - match, matchEnd - p);
      anchor = matchEnd;
      p = matchEnd;
      if (p > limit) break;
      enter(p - 2);
    }
  }
  return endWith(anchor, end, to) - output;
}

/** Forgets all places by counting past them; clears the table when the count would overflow. */
function renewEpoch(length: usize): void {
  if (epoch > 0x7fff_ffff - <u32>length) {
    memory.fill(table, 0, tableBytes);
    epoch = 1;
  }
  now = epoch;
  epoch += <u32>length + 1;
}

let now: u32 = 0;

// Of six bytes, though a match may have four: those that are longer make fewer and are faster both ways.
@inline
function slotOf(p: usize): usize {
  const hash = ((load<u64>(p) << 16) * 227_718_039_650_203) >> (64 - tableBits);
  return table + ((<usize>hash) << 2);
}

@inline
function enter(p: usize): void {
  store<u32>(slotOf(p), now + <u32>(p - input));
}

/** An earlier place with the same beginning, near enough; 0 where none is known. Enters `p` itself. */
@inline
function candidate(p: usize): usize {
  const slot = slotOf(p);
  const known = load<u32>(slot);
  store<u32>(slot, now + <u32>(p - input));
  if (known < now) return 0;
  const match = input + (known - now);
  return p - match <= maxOffset && load<u32>(match) === load<u32>(p) ? match : 0;
}

function endOfMatch(p: usize, match: usize, limit: usize): usize {
  while (p + 16 <= limit) {
    const same = i8x16.bitmask(i8x16.eq(v128.load(p), v128.load(match)));
    if (same !== 0xffff) return p + <usize>ctz(~same);
    p += 16;
    match += 16;
  }
  while (p < limit && load<u8>(p) === load<u8>(match)) {
    p++;
    match++;
  }
  return p;
}

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
  return more < 15 ? to + 2 : putLength(to + 2, more - 15);
}

function endWith(from: usize, end: usize, to: usize): usize {
  const literals = end - from;
  store<u8>(to, <u8>(min<usize>(literals, 15) << 4));
  return putLiterals(to + 1, from, literals);
}

@inline
function putLiterals(to: usize, from: usize, literals: usize): usize {
  if (literals >= 15) to = putLength(to, literals - 15);
  copyOver(to, from, literals);
  return to + literals;
}

function putLength(to: usize, length: usize): usize {
  while (length >= 255) {
    store<u8>(to++, 255);
    length -= 255;
  }
  store<u8>(to, <u8>length);
  return to + 1;
}

/** Copies at least `length` bytes, up to 15 more. */
@inline
function copyOver(to: usize, from: usize, length: usize): void {
  const end = to + length;
  while (to < end) {
    v128.store(to, v128.load(from));
    to += 16;
    from += 16;
  }
}

/**
 * Unpacks `length` bytes of input into exactly `rawLength` bytes of output. False where they are no such block,
 * whatever they are: nothing is read before the output or beyond the input, nothing written beyond the output and its
 * padding.
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

/** Adds up the bytes of a length into `taken`; 0 where they do not end. No sum of a block's bytes overflows. */
function takeLength(p: usize, end: usize): usize {
  taken = 0;
  while (p < end) {
    const byte = <usize>load<u8>(p++);
    taken += byte;
    if (byte !== 255) return p;
  }
  return 0;
}

/** Copies from `offset` before, where it may still be being written. */
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
