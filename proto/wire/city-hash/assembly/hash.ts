// CityHash128 in its version 1.0.2, the checksum of ClickHouse's packed blocks; later versions of CityHash give other
// values. The algorithm is Google's (Geoff Pike and Jyrki Alakuijala, 2011). Hashes 16 bytes as the seed, and then
// the rest: short ones 16 bytes a round, long ones 64 bytes a round and what is left from the end.

/** The address of the input. 128 bytes before it are the hash's alone. */
export const input: usize = 65_536;
/** The address of the hash: its low half first. */
export const result: usize = 64;

const k0: u64 = 0xc3a5_c85c_97cb_3127;
const k1: u64 = 0xb492_b66f_be98_f273;
const k2: u64 = 0x9ae1_6a3b_2f90_404f;
const k3: u64 = 0xc949_d7c7_509e_6557;
const joinFactor: u64 = 0x9ddf_ea08_eb38_2d69;
/** At and above it the rest is long. */
const longLength: usize = 128;
const tailStep: usize = 32;

/** Makes room for an input of this length; false where memory cannot grow. */
export function reserve(length: usize): bool {
  const pages = <i32>((input + length + 0xffff) >> 16) - memory.size();
  return pages <= 0 || memory.grow(pages) >= 0;
}

/** Hashes `length` bytes of input, at least 8, into `result`. */
export function hash(length: usize): void {
  if (length < 16) {
    const low = load<u64>(input) ^ ((<u64>length) * k0);
    hashShort(input, 0, low, load<u64>(input + length - 8) ^ k1);
    return;
  }
  const low = load<u64>(input) ^ k3;
  const high = load<u64>(input, 8);
  const rest = length - 16;
  if (rest < longLength) hashShort(input + 16, rest, low, high);
  else hashLong(input + 16, rest, low, high);
}

@inline
function fold(value: u64): u64 {
  return value ^ (value >> 47);
}

@inline
function join(low: u64, high: u64): u64 {
  const first = fold((low ^ high) * joinFactor);
  return fold((high ^ first) * joinFactor) * joinFactor;
}

@inline
function put(low: u64, high: u64): void {
  store<u64>(result, low);
  store<u64>(result, high, 8);
}

/** Of at most 16 bytes. */
function hashTiny(at: usize, length: usize): u64 {
  if (length > 8) {
    const last = load<u64>(at + length - 8);
    return join(load<u64>(at), rotr<u64>(last + <u64>length, <u64>length)) ^ last;
  }
  if (length >= 4) {
    const first = <u64>load<u32>(at);
    return join(<u64>length + (first << 3), <u64>load<u32>(at + length - 4));
  }
  if (length === 0) return k2;
  const start = <u32>load<u8>(at) + ((<u32>load<u8>(at + (length >> 1))) << 8);
  const end = <u32>length + ((<u32>load<u8>(at + length - 1)) << 2);
  return fold(((<u64>start) * k2) ^ ((<u64>end) * k3)) * k2;
}

/** Of fewer than 128 bytes, with a seed. */
function hashShort(at: usize, length: usize, low: u64, high: u64): void {
  let a = low;
  let b = high;
  let c: u64;
  let d: u64;
  if (length <= 16) {
    a = fold(a * k1) * k1;
    c = b * k1 + hashTiny(at, length);
    d = fold(a + (length >= 8 ? load<u64>(at) : c));
  } else {
    const end = at + length;
    c = join(load<u64>(end - 8) + k1, a);
    d = join(b + <u64>length, c + load<u64>(end - 16));
    a += d;
    // The last 16 bytes at most are in the two lines before.
    for (let p = at; p + 16 < end; p += 16) {
      a = (a ^ (fold(load<u64>(p) * k1) * k1)) * k1;
      b ^= a;
      c = (c ^ (fold(load<u64>(p, 8) * k1) * k1)) * k1;
      d ^= c;
    }
  }
  a = join(a, c);
  b = join(d, b);
  put(a ^ b, join(b, a));
}

let pairLow: u64 = 0;
let pairHigh: u64 = 0;

/** Mixes 32 bytes into a pair, which it leaves in `pairLow` and `pairHigh`. */
@inline
function mixPair(at: usize, low: u64, high: u64): void {
  const last = load<u64>(at, 24);
  const first = low + load<u64>(at);
  const turned = rotr<u64>(high + first + last, 21);
  const sum = first + load<u64>(at, 8) + load<u64>(at, 16);
  pairLow = sum + last;
  pairHigh = turned + rotr<u64>(sum, 44) + first;
}

/** Of 128 bytes and more, with a seed. */
function hashLong(at: usize, length: usize, low: u64, high: u64): void {
  let x = low;
  let y = high;
  let z = (<u64>length) * k1;
  let vLow = rotr<u64>(y ^ k1, 49) * k1 + load<u64>(at);
  let vHigh = rotr<u64>(vLow, 42) * k1 + load<u64>(at, 8);
  let wLow = rotr<u64>(y + z, 35) * k1 + x;
  let wHigh = rotr<u64>(x + load<u64>(at, 88), 53) * k1;
  const rest = length & (longLength - 1);
  const end = at + length;
  for (let p = at; p < end - rest; p += 64) {
    x = rotr<u64>(x + y + vLow + load<u64>(p, 16), 37) * k1;
    y = rotr<u64>(y + vHigh + load<u64>(p, 48), 42) * k1;
    x ^= wHigh;
    y ^= vLow;
    z = rotr<u64>(z ^ wLow, 33);
    mixPair(p, vHigh * k1, x + wLow);
    vLow = pairLow;
    vHigh = pairHigh;
    mixPair(p + 32, z + wHigh, y);
    wLow = pairLow;
    wHigh = pairHigh;
    const before = z;
    z = x;
    x = before;
  }
  y += rotr<u64>(wLow, 37) * k0 + z;
  x += rotr<u64>(vLow + z, 49) * k0;
  // Steps of 32 bytes from the end; the last one may begin before the rest.
  for (let done: usize = 0; done < rest; ) {
    done += tailStep;
    const p = end - done;
    y = rotr<u64>(y - x, 42) * k0 + vHigh;
    wLow += load<u64>(p, 16);
    x = rotr<u64>(x, 49) * k0 + wLow;
    wLow += vLow;
    mixPair(p, vLow, vHigh);
    vLow = pairLow;
    vHigh = pairHigh;
  }
  x = join(x, vLow);
  y = join(y, wLow);
  put(join(x + vHigh, wHigh) + y, join(x + wHigh, y + vHigh));
}
