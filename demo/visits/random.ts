// Seeded random numbers for demo and benches: the same seed gives the same draws on every machine. Not for secrets:
// keys and salts come from node:crypto.

export interface Random {
  /** Uniform over the unsigned 32-bit integers. */
  word(): number;
  /** Uniform in [0, 1). */
  next(): number;
  /** Uniform integer in [0, count). */
  below(count: number): number;
  /** Uniform integer in [min, max]. */
  between(min: number, max: number): number;
  /** True with this probability. */
  chance(probability: number): boolean;
  /** Exponentially distributed, at least 0. */
  exponential(mean: number): number;
  /** A version 4 UUID. */
  uuid(): string;
  /** One of `values`, each equally likely; throws a RangeError where there are none. */
  pick<T>(values: readonly T[]): T;
}

const hexBytes = Array.from({ length: 256 }, (_, byte) => byte.toString(16).padStart(2, '0'));

/** `seed` is any number; each `stream` of one seed has independent draws: one stream a visitor, for example. */
export function createRandom(seed: number, stream = 0): Random {
  const word = createWords(seed, stream);
  const next = (): number => word() / 0x1_0000_0000;
  const below = (count: number): number => Math.floor(next() * count);
  return {
    word,
    next,
    below,
    between: (min, max) => min + below(max - min + 1),
    chance: (probability) => next() < probability,
    exponential: (mean) => -mean * Math.log(1 - next()),
    uuid: () => uuidOf(word(), word(), word(), word()),
    pick: (values) => at(values, below(values.length)),
  };
}

/** Draws from `entries` in proportion to their weights. */
export function createWeighted<T>(
  entries: readonly (readonly [weight: number, value: T])[],
): (random: Random) => T {
  const bounds = cumulate(entries.map(([weight]) => weight));
  return (random) => at(entries, firstAbove(bounds, random.next()))[1];
}

/** Draws ranks 0 to count - 1, rank r in proportion to 1 / (r + 1)^exponent. */
export function createZipf(count: number, exponent: number): (random: Random) => number {
  const bounds = cumulate(Array.from({ length: count }, (_, rank) => (rank + 1) ** -exponent));
  return (random) => firstAbove(bounds, random.next());
}

// Small fast counting generator (sfc32): 128 bits of state, seeded through a mixing step so that near seeds differ.
function createWords(seed: number, stream: number): () => number {
  let a = mix(seed >>> 0);
  let b = mix(Math.floor(seed / 0x1_0000_0000) ^ a);
  let c = mix((stream + 0x9e37_79b9) ^ b);
  let counter = 1;
  const word = (): number => {
    const sum = (a + b + counter) | 0;
    counter = (counter + 1) | 0;
    a = b ^ (b >>> 9);
    b = (c + (c << 3)) | 0;
    c = (((c << 21) | (c >>> 11)) + sum) | 0;
    return sum >>> 0;
  };
  for (let round = 0; round < 12; round++) word();
  return word;
}

/** Spreads each bit of a 32-bit number over all of them. */
export function mix(value: number): number {
  value = Math.imul(value ^ (value >>> 16), 0x21f0_aaad);
  value = Math.imul(value ^ (value >>> 15), 0x735a_2d97);
  return value ^ (value >>> 15);
}

function uuidOf(a: number, b: number, c: number, d: number): string {
  const versioned = (b & 0xffff_0fff) | 0x4000;
  const variant = (c & 0x3fff_ffff) | 0x8000_0000;
  const [p, q, r, s] = [hexWord(a), hexWord(versioned), hexWord(variant), hexWord(d)];
  return `${p}-${q.slice(0, 4)}-${q.slice(4)}-${r.slice(0, 4)}-${r.slice(4)}${s}`;
}

function hexWord(word: number): string {
  const byte = (shift: number): string => hexBytes[(word >>> shift) & 0xff] ?? '';
  return byte(24) + byte(16) + byte(8) + byte(0);
}

function cumulate(weights: readonly number[]): Float64Array {
  const bounds = new Float64Array(weights.length);
  let sum = 0;
  weights.forEach((weight, index) => {
    sum += weight;
    bounds[index] = sum;
  });
  return bounds.map((bound) => bound / sum);
}

function firstAbove(bounds: Float64Array, value: number): number {
  let low = 0;
  let high = bounds.length - 1;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((bounds[middle] ?? 0) > value) high = middle;
    else low = middle + 1;
  }
  return low;
}

function at<T>(values: readonly T[], index: number): T {
  const value = values[index];
  if (value === undefined) throw new RangeError('a draw from an empty list');
  return value;
}
