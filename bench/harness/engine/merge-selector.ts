// The next merge of `events` as ClickHouse 26.7 chooses it (SimpleMergeSelector) in the embedded engine with our
// migrations' settings. Only the choice is here; when parts come and merges end is merge-simulation.ts's.

export interface Part {
  rows: number;
  bytes: number;
  writtenSeconds: number;
}

/** Neighbours from `from` up to, not including, `to`. */
export interface Range {
  from: number;
  to: number;
}

interface State {
  nowSeconds: number;
  /** Active parts of the partition, those that are being merged included. */
  partsInPartition: number;
  maxBytes: number;
}

const MiB = 1_048_576;
const GiB = 1_024 * MiB;

// From sql/migrations/0006_bounded_merges.sql and 0008_two_large_merges.sql.
const base = 15;
const maxPartsAtOnce = 16;
const bytesWhereNoSlotIsFree = 16_384;
// From sql/engine/engine-arguments.ts: background_pool_size times the ratio.
export const mergeSlots = 3;
/** `number_of_free_entries_in_pool_to_lower_max_size_of_merge`. */
const freeSlotsOfLargeMerges = 3;

// ClickHouse's own.
const bytesWhereSlotsAreFree = 150 * GiB;
const partsThatStopInserts = 3_000;
const fullnessExponent = 5;
/** A part costs this much, however small it is. */
const fixedBytes = 5 * MiB;
/** Parts of one range; from the first number on the base is lowered, up to the second. */
const partsThatLower = { from: 10, to: 50 };
/** Bytes of a range; the larger it is, the older it must be to be merged at a lower base. */
const bytesThatLower = { from: MiB, to: 100 * GiB };
const youngestSeconds = 10;
const oldestSeconds = { ofSmall: 3_600, ofLarge: 30 * 86_400 };
const lowestBase = 2;
/** A part at a range's end that is less than this of the range is left out. */
const smallShare = 0.01;
/** A range nearly as large as the part before it, within half a power of two, is preferred. */
const likeThePartBefore = { least: 0.9, powersOfTwo: 0.5, bestFactor: 0.75 };

/** The bytes that a further merge may have beside `running` ones. */
export function maxMergeBytes(running: number): number {
  const free = mergeSlots - running;
  if (running <= 1 || free >= freeSlotsOfLargeMerges) return bytesWhereSlotsAreFree;
  const growth = bytesWhereSlotsAreFree / bytesWhereNoSlotIsFree;
  return bytesWhereNoSlotIsFree * growth ** (free / freeSlotsOfLargeMerges);
}

/** The best merge within `parts`, which are neighbours that no merge has; undefined where none is worth it. */
export function chooseMerge(
  parts: readonly Part[],
  state: State,
): (Range & { score: number }) | undefined {
  let best: (Range & { score: number }) | undefined;
  const most = mostPartsAtOnce(state.partsInPartition);
  for (let from = 0; from < parts.length; from++) {
    let bytes = 0;
    let largest = 0;
    let newestSeconds = Number.NEGATIVE_INFINITY;
    for (let to = from + 1; to <= Math.min(parts.length, from + most); to++) {
      const part = parts[to - 1];
      if (part === undefined) break;
      bytes += part.bytes;
      largest = Math.max(largest, part.bytes);
      newestSeconds = Math.max(newestSeconds, part.writtenSeconds);
      if (to === from + 1) continue;
      if (bytes > state.maxBytes) break;
      const ageSeconds = Math.floor(state.nowSeconds) - Math.floor(newestSeconds);
      const ratio = (bytes + (to - from) * fixedBytes) / (largest + fixedBytes);
      // The lowered base takes two logarithms, and most ranges are far from it.
      if (ratio < lowestBase || ratio < baseOf(parts.length, bytes, ageSeconds)) continue;
      const range = withScore(parts, { from, to }, bytes);
      // Of equal ranges the later one is taken, whose parts are likely to be the smaller ones.
      if (best === undefined || range.score <= best.score) best = range;
    }
  }
  return best;
}

/** Fewer, the nearer the partition is to the number of parts at which inserts stop. */
function mostPartsAtOnce(partsInPartition: number): number {
  if (partsInPartition < base) return maxPartsAtOnce;
  const fullness = (partsInPartition - base) / (partsThatStopInserts - base);
  // Rounded down, it is 15 in place of 16 from eighteen parts on.
  return Math.floor(
    base + (maxPartsAtOnce - base) * (1 - Math.min(1, fullness) ** fullnessExponent),
  );
}

/** How many times its largest part a range must be: less where many parts lie side by side, or where they are old. */
function baseOf(parts: number, bytes: number, ageSeconds: number): number {
  const { from, to } = bytesThatLower;
  const size = share(Math.log(1 + bytes), Math.log(1 + from), Math.log(1 + to));
  const { ofSmall, ofLarge } = oldestSeconds;
  const age = share(ageSeconds, youngestSeconds, ofSmall + size * (ofLarge - ofSmall));
  const number = share(parts, partsThatLower.from, partsThatLower.to);
  return base - Math.min(1, age + number) * (base - lowestBase);
}

/** The range without small parts at its end, and its cost for each part that it saves: the least is the best. */
function withScore(
  parts: readonly Part[],
  { from, to }: Range,
  allBytes: number,
): Range & { score: number } {
  let bytes = allBytes;
  for (; to - from >= 3; to--) {
    const last = parts[to - 1]?.bytes ?? 0;
    if (last >= smallShare * allBytes) break;
    bytes -= last;
  }
  const cost = (bytes + fixedBytes * (to - from)) / (to - from - 1.9);
  return { from, to, score: cost * alignment(bytes, parts[from - 1]?.bytes ?? 0) };
}

function alignment(bytes: number, bytesBefore: number): number {
  const { least, powersOfTwo, bestFactor } = likeThePartBefore;
  if (bytesBefore <= least * bytes) return 1;
  const apart = Math.abs(Math.log2(bytes / bytesBefore));
  return apart < powersOfTwo ? bestFactor + (1 - bestFactor) * (apart / powersOfTwo) : 1;
}

/** Where `value` lies between both ends, from 0 to 1. */
function share(value: number, from: number, to: number): number {
  return Math.min(1, Math.max(0, (value - from) / (to - from)));
}
