// The bytes with a meaning in JSON. Scans no values.

export const quote: u8 = 0x22;
export const backslash: u8 = 0x5c;
export const openBrace: u8 = 0x7b;
export const closeBrace: u8 = 0x7d;
export const openBracket: u8 = 0x5b;
export const closeBracket: u8 = 0x5d;
export const colon: u8 = 0x3a;
export const comma: u8 = 0x2c;
export const minus: u8 = 0x2d;
export const plus: u8 = 0x2b;
export const dot: u8 = 0x2e;
export const zero: u8 = 0x30;
export const dollar: u8 = 0x24;
export const space: u8 = 0x20;

/** Whether `byte` is a decimal digit. */
@inline
export function isDigit(byte: u8): bool {
  return <u8>(byte - zero) < 10;
}

/** The first position from `p` on without JSON white space. */
@inline
export function skipSpace(p: usize): usize {
  if (load<u8>(p) > space) return p;
  return skipSpaces(p);
}

function skipSpaces(p: usize): usize {
  while (true) {
    const byte = load<u8>(p);
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return p;
    p++;
  }
}
