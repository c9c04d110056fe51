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

/** SELECT of (part, place, number): how many of `users` have the bit of that place set; none is 0. */
export function userCountsSql(
  users: string,
  places: number,
  parts: readonly CountedBits[],
): string {
  if (wordCount(places) > 1) {
    const cells = parts.map(
      ({ part, words }) =>
        `arrayMap(place -> (toUInt8(${part}), toUInt16(place)), ${placesSql(words)})`,
    );
    return `SELECT cell.1 AS part, cell.2 AS place, count() AS number
      FROM (${users}) ARRAY JOIN arrayConcat(${cells.join(', ')}) AS cell GROUP BY part, place`;
  }
  // A sum for each place costs a tenth of taking the bits of each user apart, but hundreds take seconds to plan: each
  // term costs the engine a tenth of a millisecond before it reads a row. So one sum of 64 bits counts two places.
  const half = Math.ceil(places / 2);
  const sums = parts.map(({ words }, index) => {
    const pairs = `bitOr(bitAnd(${words.join()}, ${(1n << BigInt(half)) - 1n}), bitShiftLeft(bitShiftRight(${words.join()}, ${half}), ${laneBits}))`;
    const counts = Array.from(
      { length: half },
      (_, place) => `sum(bitAnd(bitShiftRight(${pairs}, ${place}), ${lowestOfLanes}))`,
    );
    return `[${counts.join(', ')}] AS pairs_${index}`;
  });
  const numbers = parts.flatMap((_, index) => [
    `arrayMap(pair -> bitAnd(pair, ${(1n << laneBits) - 1n}), pairs_${index})`,
    `arrayMap(pair -> bitShiftRight(pair, ${laneBits}), pairs_${index})`,
  ]);
  return `SELECT [${parts.map(({ part }) => part).join(', ')}][intDiv(at, ${2 * half}) + 1] AS part, at % ${2 * half} AS place, number
    FROM (SELECT arrayConcat(${numbers.join(', ')}) AS numbers FROM (SELECT ${sums.join(', ')} FROM (${users})))
    ARRAY JOIN numbers AS number, range(${2 * half * parts.length}) AS at WHERE number > 0`;
}

/** A lane counts the users of a place: four billion at most. */
const laneBits = 32n;
const lowestOfLanes = (1n << laneBits) + 1n;
