// One value for the whole range: a figure where it stands alone, a ranking where there are series or groups.

import { isMoreBetterOf } from '../../platform/words/insight-words.ts';
import type {
  InsightQuerySpec,
  SegmentationResult,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { DataTable } from '../charts/data-table.tsx';
import { namer } from '../text/namer.ts';
import { hasShares } from './drawings/drawings.ts';
import { Numbers } from './drawings/numbers.tsx';
import { Ranking } from './drawings/ranking.tsx';
import { GroupMark } from './group-mark.tsx';
import { drawnSeries, formatOf, seriesName } from './names.ts';
import type { Shown } from './shown.ts';

export function Segments(shown: Shown<SegmentationResult>) {
  const { spec, result, previous, label, onOpen, onPersons } = shown;
  const format = formatOf(spec);
  const drawn = drawnSeries(result.series);
  if (spec.breakdowns.length === 0 && drawn.length <= 1) return <One {...shown} />;
  const nameOf = namer([...result.series, ...(previous?.series ?? [])], (series, isExact) =>
    seriesName(spec, series, isExact),
  );
  const named = result.series.map((series) => ({ series, name: nameOf(series) }));
  const former = new Map(previous?.series.map((series) => [nameOf(series), series.value ?? 0]));
  return (
    <>
      <Ranking
        drawn={shown.drawn}
        hasShares={hasShares(spec)}
        label={label}
        values={named
          .filter(({ series }) => drawn.includes(series) && series.value !== undefined)
          .map(({ series, name }) => ({
            ...{ name, value: series.value ?? 0, isRest: series.isOthers },
            mark: series.isOthers ? null : marksOf(spec, series.breakdown),
            ...(previous && { before: former.get(name) ?? 0 }),
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
        isAlone={shown.drawn === 'table'}
        label={label}
        grid={{
          columns: ['Group', 'Value', ...(previous ? ['Before'] : [])],
          // Drawings alone leave out what is exact: a file goes to who knows nothing of the others.
          rows: named.map(({ series, name }) => [
            seriesName(spec, series),
            series.value ?? '',
            ...(previous ? [former.get(name) ?? 0] : []),
          ]),
        }}
      />
    </>
  );
}

/** Of the values that the series is of. */
function marksOf(spec: InsightQuerySpec, breakdown: { [property: string]: string }) {
  return spec.breakdowns.map(({ property }) => (
    <GroupMark key={property} spec={spec} property={property} value={breakdown[property]} />
  ));
}

/** The only number of the question. */
function One(shown: Shown<SegmentationResult>) {
  const { spec, result, previous, label } = shown;
  const format = formatOf(spec);
  const drawn = drawnSeries(result.series);
  const isMade = drawn[0]?.formulaIndex !== undefined;
  const value = drawn[0]?.value ?? (isMade ? undefined : (result.total ?? 0));
  if (value === undefined) return <p class="hint">No value: the formula divides by zero.</p>;
  const [earlier] = drawnSeries(previous?.series ?? []);
  const before = previous && (earlier?.value ?? (isMade ? undefined : (previous.total ?? 0)));
  return (
    <>
      {shown.drawn === 'table' ? null : (
        <Numbers
          values={[{ name: label, value, before }]}
          format={format}
          isMoreBetter={isMoreBetterOf(spec)}
        />
      )}
      <DataTable
        isHidden={shown.isTile}
        isAlone={shown.drawn === 'table'}
        label={label}
        grid={{
          columns: ['Value', ...(previous ? ['Before'] : [])],
          rows: [[value, ...(previous ? [before ?? ''] : [])]],
        }}
      />
    </>
  );
}
