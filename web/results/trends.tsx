// Values over time: a line for each series and group, the range before in dashes.

import { useMemo } from 'preact/hooks';
import { plural } from '../../platform/words/figures.ts';
import {
  type InsightQuerySpec,
  InsightType,
  type TrendSeries,
  type TrendsResult,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { DataTable } from '../charts/data-table.tsx';
import { maxLines } from '../charts/line.ts';
import type { PlotKind } from '../charts/plot/layers.ts';
import { TimeChart } from '../charts/time-chart.tsx';
import { namer } from '../text/namer.ts';
import { labelDay } from '../time/labels.ts';
import { openFrom, openName } from '../time/open-buckets.ts';
import { currentZone, formatLabel, toDate } from '../time/time.tsx';
import { useZoom } from '../time/use-zoom.ts';
import { labelAt } from '../time/zone.ts';
import { Loaded } from '../ui/loaded.tsx';
import { currentProject } from '../workspace.ts';
import { plotOf } from './drawings/drawings.ts';
import { sumsOf } from './drawings/sums.ts';
import { drawnSeries, formatOf, seriesName, unitOf } from './names.ts';
import { ownCurrencyFirst } from './own-currency-first.ts';
import { bucketOf, type Figure, type Rows, type Shown, timeStyle } from './shown.ts';

/** The series as they are shown. */
type Ordered = { series: readonly TrendSeries[] };

/** A double tells so many decimal digits apart. */
const sureDigits = 15;

/** Hardly any trend is drawn as numbers. */
const loadRanking = async () => (await import('./drawings/ranking.tsx')).Ranking;

export function Trends(shown: Shown<TrendsResult>) {
  const { spec, labels, label } = shown;
  const result = useOrdered(shown.result);
  const alone = result.series.length === 1 ? shown.name : undefined;
  const named = namer(
    [...result.series, ...(shown.previous?.series ?? [])],
    (series: TrendSeries, isExact) => seriesName(spec, series, isExact),
  );
  const nameOf = (series: TrendSeries): string => alone ?? named(series);
  if (result.series.length === 0) return <p class="hint">Nothing in this range.</p>;
  const style = timeStyle(shown.granularity);
  const open = openFrom(labels, result.series[0]?.incompleteFrom);
  return (
    <>
      <Drawing {...{ shown, result, nameOf, open }} />
      {hasSeveralCurrencies(result) ? (
        <p class="hint">Currencies are not added up: there is no rate between them.</p>
      ) : null}
      <DataTable
        label={label}
        isAlone={shown.drawn === 'table'}
        grid={{
          // Drawings alone leave out what is exact: a file goes to who knows nothing of the others.
          columns: ['Time', ...result.series.map((series) => alone ?? seriesName(spec, series))],
          rows: labels.map((from, index) => [
            openName(formatLabel(from, style), index >= open),
            ...result.series.map(({ points }) => inTable(spec, points[index]?.value)),
          ]),
        }}
      />
    </>
  );
}

type Drawn = {
  shown: Shown<TrendsResult>;
  result: Ordered;
  nameOf: (series: TrendSeries) => string;
  /** The place of the first bucket that is not over. */
  open: number;
};

function Drawing(props: Drawn) {
  const { shown, result, nameOf } = props;
  const { drawn = 'line' } = shown;
  if (drawn === 'table') return null;
  const kind = plotOf(drawn);
  if (kind) return <Course {...props} kind={kind} />;
  const values = sumsOf(drawnSeries(result.series), shown.previous?.series, nameOf);
  const format = formatOf(shown.spec);
  const { label } = shown;
  return (
    <Loaded
      key={drawn}
      load={loadRanking}
      name="the numbers"
      with={{ drawn, label, values, format }}
    />
  );
}

function Course({ shown, result, nameOf, open, kind }: Drawn & { kind: PlotKind }) {
  const { spec, previous, labels } = shown;
  const lines = useMemo(() => {
    const drawn = drawnSeries(result.series).slice(0, maxLines);
    return drawn.flatMap((series) => {
      const name = nameOf(series);
      // A formula that divides by zero has no value.
      const values = series.points.map(({ value }) => value ?? null);
      const before = previous?.series.find((one) => nameOf(one) === name);
      if (!before) return [{ name, values }];
      // The range before has no more buckets than this one; what is still to come has no pair.
      const beforeValues = labels.map((_, index) => before.points[index]?.value ?? null);
      return [
        { name, values },
        { name: `${name}, before`, values: beforeValues, isPrevious: true },
      ];
    });
  }, [result, previous, spec, labels]);
  const hidden = drawnSeries(result.series).length - maxLines;
  return (
    <>
      <TimeChart
        label={shown.label}
        labels={labels}
        labelsBefore={shown.labelsBefore ?? labelsOf(previous)}
        lines={lines}
        kind={kind}
        format={formatOf(spec)}
        unit={unitOf(spec)}
        unitName={onlyCurrency(result)}
        style={timeStyle(shown.granularity)}
        height={shown.height}
        openFrom={open}
        isTile={shown.isTile}
        onPick={pickOf(shown, result, nameOf)}
        onZoom={useZoom(labels)}
      />
      {hidden > 0 ? (
        <p class="hint">The table has {plural(hidden, 'more group')} than the chart.</p>
      ) : null}
    </>
  );
}

/** Opens who or what a bucket counts; undefined where nobody may see it. */
function pickOf(
  { labels, granularity, onOpen, onPersons }: Shown<TrendsResult>,
  result: Ordered,
  nameOf: (series: TrendSeries) => string,
): ((at: number) => void) | undefined {
  if (!onOpen && !onPersons) return undefined;
  return (at) => {
    const from = labels[at];
    if (!from) return;
    const rows = { ...onlySeries(result), day: labelDay(from) };
    const figures = figuresAt(result, nameOf, from);
    if (!onPersons || figures.length === 0) onOpen?.(rows);
    else onPersons({ title: formatLabel(from, timeStyle(granularity)), figures, rows });
  };
}

/** Of an answer that came without its buckets' labels. */
function labelsOf(trends: TrendsResult | undefined): string[] | undefined {
  const zone = currentZone();
  return trends?.series[0]?.points.map(({ time }) => (time ? labelAt(toDate(time), zone) : ''));
}

/** Of payments in one currency. */
function onlyCurrency({ series }: Ordered): string | undefined {
  const [first, ...others] = new Set(series.map(({ currency }) => currency || undefined));
  return others.length === 0 ? first : undefined;
}

/** The project's currency comes first. */
function useOrdered({ series }: TrendsResult): Ordered {
  const own = currentProject.value?.currency;
  return useMemo(() => ({ series: ownCurrencyFirst(series, own) }), [series, own]);
}

/** Money as people add it up: 0.1 and 0.2 are 0.3, and the doubles that stand for them a bit more. */
function inTable({ insightType }: InsightQuerySpec, value: number | undefined): number | string {
  if (value === undefined) return '';
  return insightType === InsightType.REVENUE ? Number(value.toPrecision(sureDigits)) : value;
}

/** Only payments have any. */
function hasSeveralCurrencies({ series }: Ordered): boolean {
  return new Set(series.map(({ currency }) => currency)).size > 1;
}

/** The numbers of a bucket that count persons: a formula has none, and all others are no group. */
function figuresAt(
  { series }: Ordered,
  nameOf: (series: TrendSeries) => string,
  label: string,
): Figure[] {
  return series
    .filter(({ formulaIndex, isOthers }) => formulaIndex === undefined && !isOthers)
    .map((one) => ({
      name: nameOf(one),
      point: {
        ...{ series: one.eventIndex, breakdown: one.breakdown, bucket: bucketOf(label) },
        ...(one.currency !== undefined && { currency: one.currency }),
      },
    }));
}

/** A click on a chart of one line means its events; among several lines, all events of the bucket. */
function onlySeries({ series }: Ordered): Rows {
  const [first, ...others] = series;
  if (!first) return { kind: '' };
  if (others.some(({ eventKind }) => eventKind !== first.eventKind)) return { kind: '' };
  const { eventKind: kind, eventIndex, breakdown, currency } = first;
  return others.length > 0 ? { kind } : { kind, eventIndex, breakdown, payment: { currency } };
}
