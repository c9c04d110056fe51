// Checks and packs UUIDs, sixteen characters a step: 8-4-4-4-12 hexadecimal digits of either case, of any version.

/** Whether the 36 bytes at `start` are the text of a UUID. */
export function isUuid(start: usize): bool {
  return (
    isHexBut(v128.load(start), 0x2100) && // hyphens at 8 and 13
    isHexBut(v128.load(start + 16), 0x0084) && // at 18 and 23
    isHexBut(v128.load(start + 20), 0x0008) // at 23 again, and the rest
  );
}

/** Whether the bytes are hyphens where `hyphens` has bits, and hexadecimal digits everywhere else. */
function isHexBut(bytes: v128, hyphens: i32): bool {
  const decimal = i8x16.lt_u(i8x16.sub(bytes, i8x16.splat(0x30)), i8x16.splat(10));
  const lower = v128.or(bytes, i8x16.splat(0x20));
  const letter = i8x16.lt_u(i8x16.sub(lower, i8x16.splat(0x61)), i8x16.splat(6));
  return (
    i8x16.bitmask(v128.or(decimal, letter)) === (~hyphens & 0xffff) &&
    i8x16.bitmask(i8x16.eq(bytes, i8x16.splat(0x2d))) === hyphens
  );
}

/** The 16 bytes, in the order of its text, of the UUID at `start`, which has passed `isUuid`. */
export function packUuid(start: usize): v128 {
  const head = nibbles(v128.load(start));
  const middle = nibbles(v128.load(start + 16));
  const tail = nibbles(v128.load(start + 20));
  let high = v128.shuffle<u8>(
    head,
    middle,
    0,
    2,
    4,
    6,
    9,
    11,
    14,
    16,
    19,
    21,
    24,
    26,
    28,
    30,
    0,
    0,
  );
  let low = v128.shuffle<u8>(
    head,
    middle,
    1,
    3,
    5,
    7,
    10,
    12,
    15,
    17,
    20,
    22,
    25,
    27,
    29,
    31,
    0,
    0,
  );
  high = v128.shuffle<u8>(high, tail, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 28, 30);
  low = v128.shuffle<u8>(low, tail, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 29, 31);
  return v128.or(i16x8.shl(high, 4), low);
}

/** The value of each hexadecimal digit. */
function nibbles(bytes: v128): v128 {
  const letters = v128.and(i8x16.gt_u(bytes, i8x16.splat(0x40)), i8x16.splat(9));
  return i8x16.add(v128.and(bytes, i8x16.splat(0x0f)), letters);
}
