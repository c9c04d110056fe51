// The buckets in which a user was active: a bit for each, in as few numbers of 64 bits as hold them all.

const wordBits = 64;

/** The numbers that hold the bits of so many buckets. */
export function wordCount(buckets: number): number {
  return Math.ceil(buckets / wordBits);
}

/** The columns of the bits of so many buckets: bits_0, bits_1, … */
export function bitColumns(buckets: number): string[] {
  return Array.from({ length: wordCount(buckets) }, (_, word) => `bits_${word}`);
}

/** The numbers that have the one bit of the bucket whose place is `place`, SQL; one for each of bitColumns. */
export function bitsOfPlace(buckets: number, place = 'place'): string[] {
  const words = wordCount(buckets);
  if (words === 1) return [`bitShiftLeft(toUInt64(1), ${place})`];
  return Array.from(
    { length: words },
    (_, word) =>
      `if(intDiv(${place}, ${wordBits}) = ${word}, bitShiftLeft(toUInt64(1), ${place} % ${wordBits}), toUInt64(0))`,
  );
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

/** Holds where the bit of the place is set, SQL over bitColumns. */
export function isSetSql(columns: readonly string[], place: number): string {
  return `bitAnd(${columns[Math.floor(place / wordBits)]}, ${1n << BigInt(place % wordBits)}) != 0`;
}

/** SQL for each of bitColumns without the bits from that place on. */
export function bitsBelow(columns: readonly string[], place: number): string[] {
  return columns.map((column, word) => {
    const bits = place - word * wordBits;
    return bits >= wordBits ? column : `bitAnd(${column}, ${(1n << BigInt(bits)) - 1n})`;
  });
}

/** Bits of users, by the number of their rows in the answer. */
interface CountedBits {
  part: number;
  words: readonly string[];
}

/**
 * SELECT of `columns` of `users` and `alike`, the number of users that a row stands for. Most users were active in few
 * buckets, so that few sets of bits differ: the statement works on each set once. Sets of several columns stay apart:
 * they are dear to group by and differ more.
 */
export function alikeSql(users: string, columns: readonly string[]): string {
  const names = columns.join(', ');
  return columns.length === 1
    ? `SELECT ${names}, count() AS alike FROM (${users}) GROUP BY ${names}`
    : `SELECT ${names}, toUInt64(1) AS alike FROM (${users})`;
}

/**
 * SELECT of (part, place, number): how many of `users` have the bit of that place set; none is 0. A row of `users`
 * stands for `alike` of them.
 */
export function userCountsSql(users: string, parts: readonly CountedBits[]): string {
  const cells = parts.map(
    ({ part, words }) =>
      `arrayMap(place -> toUInt32(place + ${part * placesOfPart}), ${placesSql(words)})`,
  );
  return `SELECT intDiv(cell, ${placesOfPart}) AS part, cell % ${placesOfPart} AS place, sum(alike) AS number
    FROM (${users}) ARRAY JOIN arrayConcat(${cells.join(', ')}) AS cell GROUP BY cell`;
}

/** More than any question has. */
const placesOfPart = 65_536;
