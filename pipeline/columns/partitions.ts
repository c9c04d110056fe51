// How many partitions of the table `events` a batch has rows for: that is how many parts its insert makes, and what it
// costs beside its rows. sql/migrations/0028_years.sql has the partitions.

/** All before this year are one partition, and each year from then on is one. */
const firstYear = 2024;
const oldBeforeMs = Date.UTC(firstYear, 0);

/** `occurTimes` has two words a row, the lower one first: milliseconds since the epoch. */
export function countPartitions(occurTimes: Uint32Array): number {
  const years = new Set<number>();
  // Nearly always it is the year of the event before.
  let [fromMs, toMs] = [0, 0];
  for (let at = 0; at < occurTimes.length; at += 2) {
    const timeMs = (occurTimes[at] ?? 0) + ((occurTimes[at + 1] ?? 0) | 0) * 4_294_967_296;
    if (timeMs >= fromMs && timeMs < toMs) continue;
    const isOld = timeMs < oldBeforeMs;
    const year = isOld ? 0 : new Date(timeMs).getUTCFullYear();
    years.add(year);
    fromMs = isOld ? Number.NEGATIVE_INFINITY : Date.UTC(year, 0);
    toMs = isOld ? oldBeforeMs : Date.UTC(year + 1, 0);
  }
  return years.size;
}
