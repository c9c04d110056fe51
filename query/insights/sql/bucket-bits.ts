// The buckets in which a user was active: a bit for each, in as few numbers of 64 bits as hold them all.

const wordBits = 64;

/** The columns of the bits of so many buckets: bits_0, bits_1, … */
export function bitColumns(buckets: number): string[] {
  return Array.from({ length: Math.ceil(buckets / wordBits) }, (_, word) => `bits_${word}`);
}

/** The numbers that have the one bit of the bucket whose place is `place`, SQL; one for each of bitColumns. */
export function bitsOfPlace(buckets: number, place: string): string[] {
  const words = bitColumns(buckets);
  if (words.length === 1) return [`bitShiftLeft(toUInt64(1), ${place})`];
  return words.map(
    (_, word) =>
      `if(intDiv(${place}, ${wordBits}) = ${word}, bitShiftLeft(toUInt64(1), ${place} % ${wordBits}), toUInt64(0))`,
  );
}

/** SQL for bitColumns over rows with a place; `columnOf` makes a column of its bit. */
export function placeBits(
  buckets: number,
  columnOf = (bit: string, _word: number): string => bit,
  place = 'place',
): string {
  const columns = bitColumns(buckets);
  const bits = bitsOfPlace(buckets, place);
  return bits.map((bit, word) => `${columnOf(bit, word)} AS ${columns[word]}`).join(', ');
}

/** An array of the places whose bits are set, ascending. */
export function placesSql(words: readonly string[]): string {
  const arrays = words.map((word, index) =>
    index === 0
      ? `bitPositionsToArray(${word})`
      : `arrayMap(bit -> bit + ${index * wordBits}, bitPositionsToArray(${word}))`,
  );
  return arrays.length === 1 ? arrays.join() : `arrayConcat(${arrays.join(', ')})`;
}

/** SQL for bitColumns over the rows of one user. */
export function allBits(columns: readonly string[]): string {
  return columns.map((column) => `groupBitOr(${column}) AS ${column}`).join(', ');
}

/** Bits of users, by the number of their rows in the answer. */
interface CountedBits {
  part: number;
  words: readonly string[];
}

/** SELECT of (part, place, number): how many of `users` have the bit of that place set; none is 0. */
export function userCountsSql(users: string, parts: readonly CountedBits[]): string {
  return `SELECT intDiv(cell, ${placesOfPart}) AS part, cell % ${placesOfPart} AS place, count() AS number
    FROM (${users}) ARRAY JOIN ${bitCellsSql(parts)} AS cell GROUP BY cell`;
}

/** An array of the number of each bit that a user has set: its place, and placesOfPart for each part before its own. */
export function bitCellsSql(parts: readonly CountedBits[]): string {
  const cells = parts.map(
    ({ part, words }) =>
      `arrayMap(place -> toUInt32(place + ${part * placesOfPart}), ${placesSql(words)})`,
  );
  return `arrayConcat(${cells.join(', ')})`;
}

/** More than any question has. */
export const placesOfPart = 65_536;
