// Values over time: a line for each series and group, the range before in dashes.

import { useMemo } from 'preact/hooks';
import type { TrendSeries, TrendsResult } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { DataTable } from '../charts/data-table.tsx';
import { LineChart } from '../charts/line-chart.tsx';
import { formatTime, toDate } from '../time/time.tsx';
import { formatOf, seriesName } from './names.ts';
import { type Rows, type Shown, timeStyle } from './shown.ts';

/** More lines than the theme has colours cannot be told apart. */
const maxLines = 8;

export function Trends(shown: Shown<TrendsResult>) {
  const { spec, result, previous, granularity, zone, label, onOpen } = shown;
  const alone = result.series.length === 1 ? shown.name : undefined;
  const nameOf = (series: TrendSeries): string => alone ?? seriesName(spec, series);
  const chart = useMemo(() => {
    const drawn = result.series.slice(0, maxLines);
    const moments = (result.series[0]?.points ?? []).flatMap(({ time }) =>
      time ? [toDate(time)] : [],
    );
    const lines = drawn.flatMap((series) => {
      const name = nameOf(series);
      const values = series.points.map(({ value }) => value ?? 0);
      const before = previous?.series.find((one) => nameOf(one) === name);
      if (!before) return [{ name, values }];
      // The range before has no more buckets than this one; what is still to come has no pair.
      const beforeValues = moments.map((_, index) => before.points[index]?.value ?? null);
      return [
        { name, values },
        { name: `${name}, before`, values: beforeValues, isPrevious: true },
      ];
    });
    return { moments, lines };
  }, [result, previous, spec]);
  const style = timeStyle(granularity);
  const format = formatOf(spec);
  if (result.series.length === 0) return <p class="hint">Nothing in this range.</p>;
  const hidden = result.series.length - maxLines;
  return (
    <>
      <LineChart
        label={label}
        moments={chart.moments}
        lines={chart.lines}
        format={format}
        style={style}
        zone={zone}
        height={shown.height}
        {...(onOpen
          ? {
              onPick: (at: number) => {
                const from = chart.moments[at];
                if (from) onOpen({ ...onlySeries(result), from });
              },
            }
          : {})}
      />
      {hidden > 0 ? <p class="hint">The table has {hidden} more groups than the chart.</p> : null}
      <DataTable
        label={label}
        grid={{
          columns: ['Time', ...result.series.map((series) => nameOf(series))],
          rows: chart.moments.map((moment, index) => [
            formatTime(moment, style, zone),
            ...result.series.map(({ points }) => points[index]?.value ?? 0),
          ]),
        }}
      />
    </>
  );
}

/** A click on a chart of one line means its events; among several lines, all events of the bucket. */
function onlySeries({ series }: TrendsResult): Rows {
  const [first, ...others] = series;
  if (!first) return { kind: '' };
  if (others.some(({ eventKind }) => eventKind !== first.eventKind)) return { kind: '' };
  const { eventKind: kind, eventIndex, breakdown } = first;
  return others.length > 0 ? { kind } : { kind, eventIndex, breakdown };
}
