// Sets of stream sequences as ascending inclusive ranges that neither meet nor touch.

export type SequenceRange = readonly [first: number, last: number];

/** Both sets as one; each need only be ascending. */
export function unionOf(
  a: readonly SequenceRange[],
  b: readonly SequenceRange[],
): [number, number][] {
  const union: [number, number][] = [];
  for (const [first, last] of [...a, ...b].sort((one, other) => one[0] - other[0])) {
    const before = union.at(-1);
    if (before !== undefined && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else union.push([first, last]);
  }
  return union;
}

/** The part of the set above a sequence. */
export function above(ranges: readonly SequenceRange[], seq: number): [number, number][] {
  return ranges
    .filter(([, last]) => last > seq)
    .map(([first, last]) => [Math.max(first, seq + 1), last]);
}

/** The number of sequences in the set. */
export function countOf(ranges: readonly SequenceRange[]): number {
  return ranges.reduce((count, [first, last]) => count + last - first + 1, 0);
}

/** Whether the set has a sequence: a binary search. */
export function includes(ranges: readonly SequenceRange[], seq: number): boolean {
  let from = 0;
  let to = ranges.length;
  while (from < to) {
    const middle = (from + to) >>> 1;
    if ((ranges[middle]?.[1] ?? 0) < seq) from = middle + 1;
    else to = middle;
  }
  return (ranges[from]?.[0] ?? Number.POSITIVE_INFINITY) <= seq;
}

/** A condition in SQL that the set has a value of `column`; the numbers stand in its text. */
export function inRangesSql(column: string, ranges: readonly SequenceRange[]): string {
  const firsts = ranges.map(([first]) => first).join(',');
  const lasts = ranges.map(([, last]) => last).join(',');
  return `arrayExists((first, last) -> ${column} BETWEEN first AND last, [${firsts}], [${lasts}])`;
}
