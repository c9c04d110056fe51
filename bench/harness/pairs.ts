// Compares two implementations of the same work: runs take turns (A B A B …), each pair gives a ratio, and the median
// of all pairs is the answer. A neighbour's load then hits both sides. CPU time is that of whole processes, so that
// garbage collection on other threads counts.

export interface Contender {
  /** Does the work once; returns a number that must be the same for each run. */
  run(): number | Promise<number>;
  /** Called before each run, not timed. */
  prepare?(): Promise<void>;
}

interface PairOptions {
  /** Pairs that count; fewer than 5 give no meaningful figure. */
  pairs: number;
  /** Pairs before them that do not count. */
  warmUps: number;
  /** The calibration begins every second pair: then neither side pays for what the other leaves behind. */
  swaps?: boolean;
  /** CPU milliseconds used so far by other processes that do a part of the work. */
  othersCpuMs?: () => number;
}

export interface Pairing {
  /** Median CPU milliseconds of one run. */
  subjectCpuMs: number;
  calibrationCpuMs: number;
  /** Median wall milliseconds of one run of the subject. */
  subjectWallMs: number;
  calibrationWallMs: number;
  /** The calibration's CPU over the subject's: above 1 the subject is faster. Median and range. */
  ratio: Spread;
  /** The number that every run returned. */
  subjectResult: number;
  calibrationResult: number;
}

export interface Spread {
  median: number;
  min: number;
  max: number;
  /** Between these the median of endless pairs lies, with 95 % confidence; the range where there are few. */
  low: number;
  high: number;
}

/** Runs both in turns. Throws where a contender's result is not the same for each run. */
export async function comparePairs(
  subject: Contender,
  calibration: Contender,
  { pairs, warmUps, swaps = false, othersCpuMs = () => 0 }: PairOptions,
): Promise<Pairing> {
  const measured: { subject: Timed; calibration: Timed }[] = [];
  for (let pair = 0; pair < warmUps + pairs; pair++) {
    const isSwapped = swaps && pair % 2 === 1;
    const [first, second] = isSwapped ? [calibration, subject] : [subject, calibration];
    const ofFirst = await time(first, othersCpuMs);
    const ofSecond = await time(second, othersCpuMs);
    if (pair < warmUps) continue;
    if (isSwapped) measured.push({ subject: ofSecond, calibration: ofFirst });
    else measured.push({ subject: ofFirst, calibration: ofSecond });
  }
  const ratios = measured.map((pair) => pair.calibration.cpuMs / pair.subject.cpuMs);
  return {
    subjectCpuMs: median(measured.map((pair) => pair.subject.cpuMs)),
    calibrationCpuMs: median(measured.map((pair) => pair.calibration.cpuMs)),
    subjectWallMs: median(measured.map((pair) => pair.subject.wallMs)),
    calibrationWallMs: median(measured.map((pair) => pair.calibration.wallMs)),
    ratio: spreadOf(ratios),
    subjectResult: sameResult(measured.map((pair) => pair.subject.result)),
    calibrationResult: sameResult(measured.map((pair) => pair.calibration.result)),
  };
}

/** The median of the pairs' ratios. */
export function ratioOf(over: readonly number[], under: readonly number[]): number {
  return median(over.map((value, index) => value / (under[index] ?? Number.NaN)));
}

/** The middle value; between two, their mean. Throws a RangeError where there are none. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const upper = sorted[sorted.length >> 1];
  const lower = sorted[(sorted.length - 1) >> 1];
  if (upper === undefined || lower === undefined) throw new RangeError('the median of nothing');
  return (lower + upper) / 2;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = Float64Array.from(values).sort();
  // The ranks of the normal approximation to the binomial distribution of values below the median.
  const rank = Math.max(0, Math.floor((sorted.length - normal95 * Math.sqrt(sorted.length)) / 2));
  const at = (place: number): number => sorted.at(place) ?? Number.NaN;
  return { median: median(values), min: at(0), max: at(-1), low: at(rank), high: at(-1 - rank) };
}

const normal95 = 1.96;

interface Timed {
  cpuMs: number;
  wallMs: number;
  result: number;
}

async function time(contender: Contender, othersCpuMs: () => number): Promise<Timed> {
  await contender.prepare?.();
  const othersBeforeMs = othersCpuMs();
  const startMs = performance.now();
  const before = process.cpuUsage();
  const result = await contender.run();
  const { user, system } = process.cpuUsage(before);
  const cpuMs = (user + system) / 1_000 + othersCpuMs() - othersBeforeMs;
  return { cpuMs, wallMs: performance.now() - startMs, result };
}

function sameResult(results: readonly number[]): number {
  const [first, ...others] = results;
  if (first === undefined || others.some((result) => result !== first)) {
    throw new Error(`a contender's results differ from run to run: ${results.join(', ')}`);
  }
  return first;
}
