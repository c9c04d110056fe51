// UUIDs between their text and 16 bytes in text order, the form that the engine takes. It accepts every version.

const NOT_HEX = 0xff;
const hexValue = new Uint8Array(128).fill(NOT_HEX);
for (let digit = 0; digit < 10; digit++) hexValue[0x30 + digit] = digit;
for (let letter = 0; letter < 6; letter++) {
  hexValue[0x41 + letter] = 10 + letter;
  hexValue[0x61 + letter] = 10 + letter;
}

const littleEndian = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/**
 * Reads the 36 characters of a UUID into four words whose bytes in memory are those of the text, in order.
 * False, with `words` in any state, where the text is not a UUID.
 */
export function parseUuid(text: string, words: Uint32Array): boolean {
  if (text.length !== 36) return false;
  const dashes =
    text.charCodeAt(8) === 0x2d &&
    text.charCodeAt(13) === 0x2d &&
    text.charCodeAt(18) === 0x2d &&
    text.charCodeAt(23) === 0x2d;
  if (!dashes) return false;
  const a = hex16(text, 0);
  const b = hex16(text, 4);
  const c = hex16(text, 9);
  const d = hex16(text, 14);
  const e = hex16(text, 19);
  const f = hex16(text, 24);
  const g = hex16(text, 28);
  const h = hex16(text, 32);
  if ((a | b | c | d | e | f | g | h) < 0) return false;
  words[0] = word(a, b);
  words[1] = word(c, d);
  words[2] = word(e, f);
  words[3] = word(g, h);
  return true;
}

/** The text of 16 bytes, lower case. */
export function formatUuid(bytes: Uint8Array): string {
  const hex = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-${hex.slice(12, 16)}-${hex.slice(16, 20)}-${hex.slice(20, 32)}`;
}

/** Two halves of a big-endian 32-bit group as a word with that byte order in memory. */
function word(high: number, low: number): number {
  if (!littleEndian) return (high << 16) | low;
  return ((low & 0xff) << 24) | ((low & 0xff00) << 8) | ((high & 0xff) << 8) | (high >>> 8);
}

/** Four hex digits as a number; negative where one of them is no hex digit. */
function hex16(text: string, at: number): number {
  const a = hexValue[text.charCodeAt(at)] ?? NOT_HEX;
  const b = hexValue[text.charCodeAt(at + 1)] ?? NOT_HEX;
  const c = hexValue[text.charCodeAt(at + 2)] ?? NOT_HEX;
  const d = hexValue[text.charCodeAt(at + 3)] ?? NOT_HEX;
  if ((a | b | c | d) > 15) return -1;
  return (a << 12) | (b << 8) | (c << 4) | d;
}
