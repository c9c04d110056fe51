// What is counted of users by their bits. A user is in some cells, as the bits tell, and a cell's number is that of its
// users.

/** Bits of all stretches of time in two words, the low one first. */
export type Bits = readonly [number, number];

const wordBits = 32;
/** The most stretches. */
export const maxStretches = 2 * wordBits;

export interface Tally {
  /** The same for tallies that count alike. */
  name: string;
  /** The number of cells. */
  cells: number;
  /** Tells each cell of a user with these bits, each once. */
  each(low: number, high: number, found: (cell: number) => void): void;
}

/** A cell for each of `counted`: the users who have one of its bits. */
export function havingOneOf(counted: readonly Bits[]): Tally {
  const cellsOfPlace: number[][] = Array.from({ length: maxStretches }, () => []);
  const several: { low: number; high: number; cell: number }[] = [];
  for (const [cell, bits] of counted.entries()) {
    const place = onlyPlace(bits);
    if (place === undefined) several.push({ low: bits[0], high: bits[1], cell });
    else cellsOfPlace[place]?.push(cell);
  }
  return {
    ...{ name: JSON.stringify(['one of', counted]), cells: counted.length },
    each(low, high, found) {
      eachPlace(low, high, (place) => {
        for (const cell of cellsOfPlace[place] ?? []) found(cell);
      });
      for (const one of several) {
        if (((low & one.low) | (high & one.high)) !== 0) found(one.cell);
      }
    },
  };
}

/** The cell of a user is the number of their bits. */
export const byNumber: Tally = {
  ...{ name: 'number', cells: maxStretches + 1 },
  each(low, high, found) {
    let number = 0;
    eachPlace(low, high, () => number++);
    found(number);
  },
};

/** Cells by a user's first place, and each of their places. */
export const byFirst: Tally = {
  ...{ name: 'first', cells: maxStretches * maxStretches },
  each(low, high, found) {
    const first = low === 0 ? wordBits + lowestPlace(high) : lowestPlace(low);
    eachPlace(low, high, (place) => found(cellByFirst(first, place)));
  },
};

export function cellByFirst(first: number, place: number): number {
  return first * maxStretches + place;
}

/** The places of a lifecycle: an event before all others, the bucket before the first one, and the buckets. */
export interface LifecyclePlaces {
  earlier: number;
  before: number;
  /** A part of the first bucket outside the range. */
  gap: number | undefined;
  first: number;
}

/** What users are in a bucket; a cell is that of cellOfState. */
export const lifecycleStates = { active: 0, activeTwice: 1, born: 2 } as const;

/** `bucket` is 0 for the one before the first. */
export function cellOfState(state: number, bucket: number): number {
  return state * maxStretches + bucket;
}

export function byState(places: LifecyclePlaces): Tally {
  const { earlier, before, gap, first } = places;
  const { active, activeTwice, born } = lifecycleStates;
  return {
    ...{ name: JSON.stringify(['state', places]), cells: cellOfState(born + 1, 0) },
    each(low, high, found) {
      let isOld = false;
      let isInGap = false;
      let last = -1;
      eachPlace(low, high, (place) => {
        if (place === earlier) isOld = true;
        else if (place === gap) isInGap = true;
        else {
          const bucket = place === before ? 0 : place - first + 1;
          found(cellOfState(active, bucket));
          if (last === bucket - 1 && bucket > 0) found(cellOfState(activeTwice, bucket));
          // Who came in the part outside the range is new in the first bucket alone.
          if (!isOld && (!isInGap || bucket === 1)) found(cellOfState(born, bucket));
          isOld = true;
          last = bucket;
        }
      });
    },
  };
}

export function bitOf(place: number): Bits {
  return place < wordBits ? [1 << place, 0] : [0, 1 << (place - wordBits)];
}

export function bitsOf(places: readonly number[]): Bits {
  return places.map(bitOf).reduce(([low, high], bit) => [low | bit[0], high | bit[1]], [0, 0]);
}

function eachPlace(low: number, high: number, found: (place: number) => void): void {
  for (let rest = low; rest !== 0; rest &= rest - 1) found(lowestPlace(rest));
  for (let rest = high; rest !== 0; rest &= rest - 1) found(wordBits + lowestPlace(rest));
}

/** Of a word that is not 0. */
function lowestPlace(word: number): number {
  return wordBits - 1 - Math.clz32(word & -word);
}

/** The only place whose bit is set, if there is one. */
function onlyPlace([low, high]: Bits): number | undefined {
  const [word, other, first] = low === 0 ? [high, low, wordBits] : [low, high, 0];
  const isOne = other === 0 && word !== 0 && (word & (word - 1)) === 0;
  return isOne ? first + lowestPlace(word) : undefined;
}
