// One value for the whole range: a figure where it stands alone, a ranking where there are series or groups.

import type { SegmentationResult } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { BarList } from '../charts/bar-list.tsx';
import { DataTable } from '../charts/data-table.tsx';
import { change, figure } from '../ui/figures.ts';
import { formatOf, seriesName } from './names.ts';
import type { Shown } from './shown.ts';

export function Segments(shown: Shown<SegmentationResult>) {
  const { spec, result, previous, label, onOpen } = shown;
  const format = formatOf(spec);
  const isAlone = spec.breakdowns.length === 0 && result.series.length <= 1;
  if (isAlone) {
    const value = result.series[0]?.value ?? result.total ?? 0;
    const before = previous ? (previous.series[0]?.value ?? previous.total ?? 0) : undefined;
    return <BigFigure value={value} before={before} format={format} />;
  }
  const named = result.series.map((series) => ({ series, name: seriesName(spec, series) }));
  const former = new Map(
    previous?.series.map((series) => [seriesName(spec, series), series.value ?? 0]),
  );
  return (
    <>
      <BarList
        label={label}
        bars={named.map(({ series, name }) => ({
          name,
          value: series.value ?? 0,
          isRest: series.isOthers,
        }))}
        format={format}
        {...(onOpen
          ? {
              onOpen: ({ name }: { name: string }) => {
                const found = named.find((one) => one.name === name)?.series;
                if (found)
                  onOpen({
                    kind: found.eventKind,
                    eventIndex: found.eventIndex,
                    breakdown: found.breakdown,
                  });
              },
            }
          : {})}
      />
      {shown.isTile ? null : (
        <DataTable
          label={label}
          grid={{
            columns: ['Group', 'Value', ...(previous ? ['Before'] : [])],
            rows: named.map(({ series, name }) => [
              name,
              series.value ?? 0,
              ...(previous ? [former.get(name) ?? 0] : []),
            ]),
          }}
        />
      )}
    </>
  );
}

export function BigFigure(props: {
  value: number;
  before?: number | undefined;
  format: (value: number) => string;
}) {
  const { value, before, format } = props;
  const changed = before === undefined ? undefined : change(value, before);
  return (
    <p class="big-figure">
      <b title={figure(value)}>{format(value)}</b>
      {before === undefined ? null : (
        <small>
          {changed ? <span class="badge">{changed}</span> : null} {format(before)} before
        </small>
      )}
    </p>
  );
}
