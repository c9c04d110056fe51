// The fair share of a bounded thing among those who want some of it (max-min fairness): whoever wants less than the
// share gets all of it, and the others get the share each.

/** The share; Infinity where `capacity` is enough for all. `wanted` and `capacity` are in one unit, none below 0. */
export function fairShare(wanted: Iterable<number>, capacity: number): number {
  const ascending = [...wanted].sort((a, b) => a - b);
  let left = capacity;
  for (const [index, amount] of ascending.entries()) {
    const share = left / (ascending.length - index);
    if (amount > share) return share;
    left -= amount;
  }
  return Number.POSITIVE_INFINITY;
}
