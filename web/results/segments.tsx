// One value for the whole range: a figure where it stands alone, a ranking where there are series or groups.

import type { SegmentationResult } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { BarList } from '../charts/bar-list.tsx';
import { DataTable } from '../charts/data-table.tsx';
import { figure } from '../ui/figures.ts';
import { Change } from './change.tsx';
import { drawnSeries, formatOf, isMoreBetterOf, seriesName } from './names.ts';
import type { Shown } from './shown.ts';

export function Segments(shown: Shown<SegmentationResult>) {
  const { spec, result, previous, label, onOpen, onPersons } = shown;
  const format = formatOf(spec);
  const drawn = drawnSeries(result.series);
  if (spec.breakdowns.length === 0 && drawn.length <= 1) {
    const isMade = drawn[0]?.formulaIndex !== undefined;
    const value = drawn[0]?.value ?? (isMade ? undefined : (result.total ?? 0));
    if (value === undefined) return <p class="hint">No value: the formula divides by zero.</p>;
    const [earlier] = drawnSeries(previous?.series ?? []);
    const before = previous && (earlier?.value ?? (isMade ? undefined : (previous.total ?? 0)));
    return (
      <>
        <BigFigure {...{ value, before, format }} isMoreBetter={isMoreBetterOf(spec)} />
        <DataTable
          isHidden={shown.isTile}
          label={label}
          grid={{
            columns: ['Value', ...(previous ? ['Before'] : [])],
            rows: [[value, ...(previous ? [before ?? ''] : [])]],
          }}
        />
      </>
    );
  }
  const named = result.series.map((series) => ({ series, name: seriesName(spec, series) }));
  const former = new Map(
    previous?.series.map((series) => [seriesName(spec, series), series.value ?? 0]),
  );
  return (
    <>
      <BarList
        label={label}
        bars={named
          .filter(({ series }) => drawn.includes(series) && series.value !== undefined)
          .map(({ series, name }) => ({
            name,
            value: series.value ?? 0,
            isRest: series.isOthers,
          }))}
        format={format}
        {...(onOpen || onPersons
          ? {
              onOpen: ({ name }: { name: string }) => {
                const found = named.find((one) => one.name === name)?.series;
                if (!found) return;
                const { eventKind: kind, eventIndex, breakdown, formulaIndex } = found;
                const rows = { kind, eventIndex, breakdown };
                if (!onPersons || formulaIndex !== undefined) return onOpen?.(rows);
                const point = { series: eventIndex, breakdown };
                onPersons({ title: name, figures: [{ name, point }], rows });
              },
            }
          : {})}
      />
      <DataTable
        isHidden={shown.isTile}
        label={label}
        grid={{
          columns: ['Group', 'Value', ...(previous ? ['Before'] : [])],
          rows: named.map(({ series, name }) => [
            name,
            series.value ?? '',
            ...(previous ? [former.get(name) ?? 0] : []),
          ]),
        }}
      />
    </>
  );
}

export function BigFigure(props: {
  value: number;
  before?: number | undefined;
  format: (value: number) => string;
  isMoreBetter?: boolean | undefined;
}) {
  const { value, before, format, isMoreBetter } = props;
  return (
    <p class="big-figure">
      <b title={figure(value)}>{format(value)}</b>
      {before === undefined ? null : <Change {...{ value, before, format, isMoreBetter }} />}
    </p>
  );
}
