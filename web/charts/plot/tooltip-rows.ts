// What stands at the pointer: the values of all lines at a bucket, beside what they were before.

import { change } from '../../../platform/words/figures.ts';
import { openName } from '../../time/open-buckets.ts';
import { type Line, seriesOf } from '../line.ts';

/** `before` and `change` are undefined where nothing is compared, or nothing is known. */
export type TooltipRow = {
  name: string;
  /** The number of its colour. */
  series: number;
  isPrevious: boolean;
  value: string;
  before?: string;
  change?: string;
};

/** `lines`: all of the chart. `hidden`: the names of those that are switched off. */
export function tooltipRows(
  lines: readonly Line[],
  hidden: ReadonlySet<string>,
  at: number,
  format: (value: number) => string,
): TooltipRow[] {
  return lines.flatMap((line, index) => {
    const before = lines[index + 1];
    const value = line.values[at] ?? undefined;
    const isOfOther = line.isPrevious && isPair(lines[index - 1], line);
    if (hidden.has(line.name) || isOfOther) return [];
    const isOpen = value !== undefined && at >= (line.openFrom ?? Number.POSITIVE_INFINITY);
    const row = {
      name: openName(line.name, isOpen),
      series: seriesOf(lines, index),
      isPrevious: line.isPrevious ?? false,
      value: value === undefined ? '–' : format(value),
    };
    const former = isPair(line, before) ? (before?.values[at] ?? undefined) : undefined;
    if (former === undefined) return [row];
    const changed = value === undefined ? undefined : change(value, former);
    return [{ ...row, before: format(former), ...(changed && { change: changed }) }];
  });
}

/** Whether a line is the other's of the range before. */
export function isPair(line: Line | undefined, before: Line | undefined): boolean {
  return before?.isPrevious === true && before.name === `${line?.name}, before`;
}

/** The same in a sentence, for who listens. */
export function saidOf(
  name: string,
  rows: readonly TooltipRow[],
  notes: readonly string[] = [],
): string {
  const parts = rows.map(({ name: line, value, before, change: changed }) =>
    [
      `${line} ${value}`,
      ...(before === undefined ? [] : [`${before} before`]),
      ...(changed === undefined ? [] : [changed]),
    ].join(', '),
  );
  return `${name}: ${[...parts, ...notes].join('; ')}`;
}
