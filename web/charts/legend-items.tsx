// The names of a chart's lines, each in its colour, with its value at the chosen bucket.

import { readablePath } from '../text/readable-path.ts';
import { type Line, seriesOf } from './line.ts';

export function LegendItems(props: {
  lines: readonly Line[];
  at: number | undefined;
  format: (value: number) => string;
}) {
  const { lines, at, format } = props;
  return (
    <>
      {lines.map((line, number) => {
        const value = at === undefined ? undefined : line.values[at];
        return (
          <span key={line.name} class="legend-item">
            <i data-series={seriesOf(lines, number) % 8} data-previous={line.isPrevious ?? false} />
            {readablePath(line.name)}
            <b>{value === undefined || value === null ? '' : format(value)}</b>
          </span>
        );
      })}
    </>
  );
}
