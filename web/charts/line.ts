// A line of a chart, and its colour.

export type Line = {
  name: string;
  /** One for each moment; null where nothing is known. */
  values: readonly (number | null)[];
  /** Drawn in dashes in the colour of the line before it: the range before. */
  isPrevious?: boolean;
  /** The place of its first value that is not over, where that is another than the chart's. */
  openFrom?: number;
};

/** More lines than the theme has colours cannot be told apart. */
export const maxLines = 8;

/** The colour's number: a dashed line has that of the line it is compared with. */
export function seriesOf(lines: readonly Line[], index: number): number {
  let count = -1;
  for (const line of lines.slice(0, index + 1)) if (!line.isPrevious) count += 1;
  return Math.max(0, count);
}
