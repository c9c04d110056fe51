// The search for the highest rate that an instance holds: a decision from the steps so far. Runs nothing itself.

/** A step holds where both are kept. */
export interface Bounds {
  /** The 99th percentile of the answers' latencies. */
  p99Ms: number;
  /** The longest time until a marked event was listed. */
  listedMs: number;
}

export interface Sample {
  eventsPerSecond: number;
  /** Infinite where nothing was acknowledged. */
  p99Ms: number;
  /** Infinite where a marked event was not listed at all; undefined where nobody looked. */
  listedMs: number | undefined;
  /** Answers other than 200, and requests without an answer. */
  failures: number;
  /** Requests that were due and not sent, as a share of all that were due. */
  unsentShare: number;
}

export type Breach = 'answers' | 'behind' | 'p99' | 'listed';

export interface Found {
  /** Undefined where no rate held. */
  held: number | undefined;
  /** The lowest rate above it that did not hold; undefined where none was met. */
  broke: { eventsPerSecond: number; breach: Breach; tries: number } | undefined;
}

export interface Search {
  first: number;
  /** One request a second. */
  lowest: number;
  highest: number;
  bounds: Bounds;
}

/** Between a rate that held and one that did not, no finer step is looked for. */
const fineRatio = 1.1;
/** A pause of the machine can break one step: a rate breaks by its second. */
const triesOfRate = 2;
const maxSteps = 30;
const maxUnsentShare = 0.01;

/**
 * The rate of the next step; undefined where the highest is found. Doubles until a rate breaks, halves while none has
 * held, then narrows the two down.
 */
export function nextRate(samples: readonly Sample[], search: Search): number | undefined {
  const { held, broke } = foundSoFar(samples, search.bounds);
  if (samples.length >= maxSteps) return undefined;
  if (broke !== undefined && broke.tries < triesOfRate) return broke.eventsPerSecond;
  const rate = clamp(rateBetween(held, broke?.eventsPerSecond, search.first), search);
  const isKnown = rate === held || rate === broke?.eventsPerSecond;
  return isKnown || isFine(held, broke?.eventsPerSecond) ? undefined : rate;
}

export function foundSoFar(samples: readonly Sample[], bounds: Bounds): Found {
  const heldRates = samples
    .filter((sample) => breachOf(sample, bounds) === undefined)
    .map(({ eventsPerSecond }) => eventsPerSecond);
  const held = heldRates.length === 0 ? undefined : Math.max(...heldRates);
  const above = samples.filter(({ eventsPerSecond }) => eventsPerSecond > (held ?? 0));
  const eventsPerSecond = Math.min(...above.map((sample) => sample.eventsPerSecond));
  const tried = above.filter((sample) => sample.eventsPerSecond === eventsPerSecond);
  const [first] = tried;
  const breach = first && breachOf(first, bounds);
  if (breach === undefined) return { held, broke: undefined };
  return { held, broke: { eventsPerSecond, breach, tries: tried.length } };
}

/** Undefined where the step held. Refusals first: a latency of few answers says little. */
export function breachOf(sample: Sample, bounds: Bounds): Breach | undefined {
  if (sample.failures > 0) return 'answers';
  if (sample.p99Ms > bounds.p99Ms) return 'p99';
  if (sample.unsentShare > maxUnsentShare) return 'behind';
  if (sample.listedMs !== undefined && sample.listedMs > bounds.listedMs) return 'listed';
  return undefined;
}

function rateBetween(held: number | undefined, broke: number | undefined, first: number): number {
  if (held === undefined) return broke === undefined ? first : broke / 2;
  return broke === undefined ? 2 * held : Math.sqrt(held * broke);
}

/** Two figures are enough for a rate, and read better. */
function clamp(rate: number, { lowest, highest }: Search): number {
  return Math.min(highest, Math.max(lowest, Number(rate.toPrecision(2))));
}

function isFine(held: number | undefined, broke: number | undefined): boolean {
  return held !== undefined && broke !== undefined && broke / held <= fineRatio;
}
