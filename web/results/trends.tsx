// Values over time: a line for each series and group, the range before in dashes.

import { useMemo } from 'preact/hooks';
import {
  type InsightQuerySpec,
  InsightType,
  type TrendSeries,
  type TrendsResult,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { DataTable } from '../charts/data-table.tsx';
import { maxLines } from '../charts/line.ts';
import { LineChart } from '../charts/line-chart.tsx';
import { labelDay } from '../time/labels.ts';
import { formatLabel } from '../time/time.tsx';
import { plural } from '../ui/figures.ts';
import { currentProject } from '../workspace.ts';
import { drawnSeries, formatOf, seriesName } from './names.ts';
import { ownCurrencyFirst } from './own-currency-first.ts';
import {
  bucketOf,
  type Figure,
  openFrom,
  openName,
  type Rows,
  type Shown,
  timeStyle,
} from './shown.ts';

/** The series as they are shown. */
type Ordered = { series: readonly TrendSeries[] };

/** A double tells so many decimal digits apart. */
const sureDigits = 15;

export function Trends(shown: Shown<TrendsResult>) {
  const { spec, previous, granularity, labels, label, onOpen, onPersons } = shown;
  const result = useOrdered(shown.result);
  const alone = result.series.length === 1 ? shown.name : undefined;
  const nameOf = (series: TrendSeries): string => alone ?? seriesName(spec, series);
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
  const style = timeStyle(granularity);
  const open = openFrom(labels, result.series[0]?.incompleteFrom);
  const format = formatOf(spec);
  if (result.series.length === 0) return <p class="hint">Nothing in this range.</p>;
  const hidden = drawnSeries(result.series).length - maxLines;
  return (
    <>
      <LineChart
        label={label}
        labels={labels}
        lines={lines}
        format={format}
        style={style}
        height={shown.height}
        openFrom={open}
        isTile={shown.isTile}
        {...(onOpen || onPersons
          ? {
              onPick: (at: number) => {
                const from = labels[at];
                if (!from) return;
                const rows = { ...onlySeries(result), day: labelDay(from) };
                const figures = figuresAt(result, nameOf, from);
                if (!onPersons || figures.length === 0) onOpen?.(rows);
                else onPersons({ title: formatLabel(from, style), figures, rows });
              },
            }
          : {})}
      />
      {hasSeveralCurrencies(result) ? (
        <p class="hint">Currencies are not added up: there is no rate between them.</p>
      ) : null}
      {hidden > 0 ? (
        <p class="hint">The table has {plural(hidden, 'more group')} than the chart.</p>
      ) : null}
      <DataTable
        label={label}
        grid={{
          columns: ['Time', ...result.series.map((series) => nameOf(series))],
          rows: labels.map((from, index) => [
            openName(formatLabel(from, style), index >= open),
            ...result.series.map(({ points }) => inTable(spec, points[index]?.value)),
          ]),
        }}
      />
    </>
  );
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
