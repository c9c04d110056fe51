// A chart of buckets of time, with the annotations of the project, and with a range of the page that is chosen in it.

import { useMemo, useState } from 'preact/hooks';
import { shortFigure } from '../../platform/words/figures.ts';
import { annotationsByBucket } from '../annotations/annotations-by-bucket.ts';
import { ChartAnnotations } from '../annotations/chart-annotations.tsx';
import { useAnnotations } from '../annotations/known-annotations.ts';
import { openName } from '../time/open-buckets.ts';
import { formatLabel, type TimeStyle } from '../time/time.tsx';
import { Chart } from './chart.tsx';
import type { Line } from './line.ts';
import { sharesOf } from './plot/area.ts';
import type { PlotKind } from './plot/layers.ts';
import { timeTicks } from './plot/time-axis.ts';
import type { Unit } from './plot/value-axis.ts';

const heightPx = 280;

export function TimeChart(props: {
  label: string;
  /** Of the buckets, as the service writes them. */
  labels: readonly string[];
  /** Those of the range before, whose buckets stand beside these. */
  labelsBefore?: readonly string[] | undefined;
  lines: readonly Line[];
  kind?: PlotKind;
  format?: (value: number) => string;
  unit?: Unit;
  /** Stands over the axis of values: a currency. */
  unitName?: string | undefined;
  style?: TimeStyle;
  height?: number;
  /** A bucket was clicked, or Enter was pressed on it. */
  onPick?: ((at: number) => void) | undefined;
  /** Buckets were chosen, from one place to another. */
  onZoom?: ((from: number, to: number) => void) | undefined;
  /** The place of the first bucket that is not over yet. */
  openFrom?: number;
  /** Leaves out the way to the annotations; those of the chosen bucket are shown all the same. */
  isTile?: boolean;
}) {
  const { labels, labelsBefore, style = 'short', openFrom = labels.length } = props;
  // By their names: a newer answer may have other buckets.
  const [chosen, choose] = useState<{ at?: string | undefined; anchor?: string | undefined }>({});
  const placeOf = (label: string | undefined): number | undefined => {
    const place = labels.indexOf(label ?? '');
    return place === -1 ? undefined : place;
  };
  const at = placeOf(chosen.at);
  const annotations = useAnnotations();
  const found = useMemo(() => annotationsByBucket(labels, annotations), [labels, annotations]);
  const notes = useMemo(
    () => new Map([...found].map(([place, some]) => [place, some.map(({ text }) => text)])),
    [found],
  );
  const shares = useMemo(() => sharesOf(labels.map((label) => Date.parse(label))), [labels]);
  return (
    <Chart
      label={props.label}
      lines={props.lines}
      kind={props.kind ?? 'line'}
      unit={props.unit ?? 'number'}
      unitName={props.unitName}
      format={props.format ?? shortFigure}
      height={props.height ?? heightPx}
      shares={shares}
      nameOf={(place) => openName(formatLabel(labels[place] ?? '', style), place >= openFrom)}
      beforeNameOf={(place) => {
        const before = labelsBefore?.[place];
        return before && formatLabel(before, style);
      }}
      ticksOf={(most) => timeTicks(labels, most)}
      openFrom={openFrom}
      notes={notes}
      onPick={props.onPick}
      onZoom={props.onZoom}
      chosen={{ at, anchor: placeOf(chosen.anchor) }}
      onChoose={(next) => choose({ at: labels[next.at ?? -1], anchor: labels[next.anchor ?? -1] })}
    >
      <ChartAnnotations
        shown={found.get(at ?? -1) ?? []}
        at={labels[at ?? -1]}
        isTile={props.isTile ?? false}
      />
    </Chart>
  );
}
