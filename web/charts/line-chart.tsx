// Lines over time, drawn by uPlot on a canvas. Arrow keys walk the points, each point is read aloud, and a table has
// them all.

import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type uPlot from 'uplot';
import { annotationsByBucket } from '../annotations/annotations-by-bucket.ts';
import { ChartAnnotations } from '../annotations/chart-annotations.tsx';
import { drawMarks } from '../annotations/draw-marks.ts';
import { useAnnotations } from '../annotations/known-annotations.ts';
import 'uplot/dist/uPlot.min.css';
import { openName } from '../results/shown.ts';
import { repaints } from '../shell/theme.ts';
import { clockOf } from '../time/labels.ts';
import { formatLabel, type TimeStyle } from '../time/time.tsx';
import { zoneFormat } from '../time/zone.ts';
import { Fault } from '../ui/fault.tsx';
import { shortFigure } from '../ui/figures.ts';
import { seriesColors, textColors } from './colors.ts';
import { drawOpen } from './draw-open.ts';
import { LegendItems } from './legend-items.tsx';
import { type Line, seriesOf } from './line.ts';
import { loadPlot, plotCode, plotFault } from './plot-code.ts';

void loadPlot();

const heightPx = 280;

/** `onPick`: a point was clicked, or Enter was pressed on it. */
export function LineChart(props: {
  label: string;
  /** Of the buckets, as the service writes them. */
  labels: readonly string[];
  lines: readonly Line[];
  format?: (value: number) => string;
  style?: TimeStyle;
  height?: number;
  onPick?: (moment: number, line: number) => void;
  /** The place of the first bucket that is not over yet. */
  openFrom?: number;
  /** Leaves out the way to the annotations; those of the chosen bucket are shown all the same. */
  isTile?: boolean;
}) {
  const { label, labels, lines, format = shortFigure, style = 'short', height = heightPx } = props;
  // By its name: a newer answer may have other buckets.
  const [chosen, choose] = useState<string>();
  const openFrom = props.openFrom ?? labels.length;
  const index = labels.indexOf(chosen ?? '');
  const at = index === -1 ? undefined : index;
  const shown = at === undefined ? undefined : labels[at];
  const time = shown ? openName(formatLabel(shown, style), index >= openFrom) : ' ';
  const annotations = useAnnotations();
  const notes = useMemo(() => annotationsByBucket(labels, annotations), [labels, annotations]);
  const { box, plot } = usePlot({ labels, lines, format, height, notes, openFrom }, shown, choose);
  const walk = (event: KeyboardEvent): void => {
    const to = stepOf(event.key, at, labels.length - 1);
    if (to !== undefined) {
      event.preventDefault();
      choose(labels[to]);
      if (plot.current) point(plot.current, labels[to]);
    } else if (event.key === 'Enter' && at !== undefined && props.onPick) {
      // It would press the first button of what opens, too.
      event.preventDefault();
      props.onPick(at, 0);
    }
  };
  return (
    <figure class="chart">
      <Fault cause={plotFault.value} retry={() => void loadPlot()} />
      <div
        ref={box}
        class="plot"
        style={{ minHeight: `${height}px` }}
        role="img"
        tabIndex={0}
        aria-label={`${label}. Arrow keys walk the points; the table below has them all.`}
        onKeyDown={walk}
        onClick={() => {
          if (at !== undefined) props.onPick?.(at, 0);
        }}
      />
      <figcaption class="legend" aria-live="polite">
        <span class="legend-time">{time}</span>
        <LegendItems lines={lines} at={at} format={format} />
        <ChartAnnotations shown={notes.get(index) ?? []} at={shown} isTile={!!props.isTile} />
      </figcaption>
    </figure>
  );
}

/** Draws into `box`, with the cursor at the bucket `shown`; `choose` hears which bucket the pointer is at. */
function usePlot(
  { labels, lines, format, height, notes, openFrom }: Drawn,
  shown: string | undefined,
  choose: (label: string | undefined) => void,
) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const newest = useRef(shown);
  newest.current = shown;
  const round = repaints.value;
  const Plot = plotCode.value;
  useEffect(() => {
    const element = box.current;
    if (!element || !Plot) return;
    const { width } = element.getBoundingClientRect();
    const chart = new Plot(
      options({
        dateAt: (ms) => Plot.tzDate(new Date(ms), 'UTC'),
        width,
        height,
        lines,
        format,
        clock: clockOf(labels),
        marked: [...notes.keys()],
        openFrom,
        onReady: (ready) => point(ready, newest.current),
        onCursor: (bucket) => choose(labels[bucket ?? -1]),
      }),
      [labels.map(secondsOf), ...lines.map(({ values }) => [...values])],
      element,
    );
    plot.current = chart;
    const size = new ResizeObserver(([entry]) => {
      if (entry) chart.setSize({ width: entry.contentRect.width, height });
    });
    size.observe(element);
    return () => {
      size.disconnect();
      chart.destroy();
    };
  }, [labels, lines, round, height, notes, openFrom, Plot]);
  return { box, plot };
}

type Drawn = {
  labels: readonly string[];
  lines: readonly Line[];
  format: (value: number) => string;
  height: number;
  /** By bucket. */
  notes: ReturnType<typeof annotationsByBucket>;
  openFrom: number;
};

/** The point that a key leads to; undefined where it leads to none. */
function stepOf(key: string, at: number | undefined, last: number): number | undefined {
  const here = at ?? (key === 'ArrowLeft' ? last + 1 : -1);
  const steps: Record<string, number> = {
    ArrowRight: here + 1,
    ArrowLeft: here - 1,
    Home: 0,
    End: last,
  };
  const to = steps[key];
  return to === undefined ? undefined : Math.max(0, Math.min(last, to));
}

/** Puts the cursor at a bucket. */
function point(plot: uPlot, label: string | undefined): void {
  if (label !== undefined)
    plot.setCursor({ left: plot.valToPos(secondsOf(label), 'x'), top: 0 }, false);
}

/** Where a bucket begins on the axis. */
function secondsOf(label: string): number {
  return Date.parse(label) / 1000;
}

function options(chart: {
  /** A moment with the clock of UTC in place of the browser's. */
  dateAt: (ms: number) => Date;
  width: number;
  height: number;
  lines: readonly Line[];
  format: (value: number) => string;
  /** What the zone's clock shows at a moment, as if it were UTC. */
  clock: (ms: number) => number;
  /** The buckets that have annotations. */
  marked: readonly number[];
  openFrom: number;
  onReady: (plot: uPlot) => void;
  onCursor: (bucket: number | null | undefined) => void;
}): uPlot.Options {
  const { ink, grid, card } = textColors();
  const isWhole = chart.lines.every(({ values }) => values.every(isWholeOrNull));
  const axis = {
    stroke: ink,
    grid: { stroke: grid, width: 1 },
    ticks: { show: false },
    font: '12px system-ui',
  };
  return {
    width: chart.width,
    height: chart.height,
    tzDate: (seconds) => chart.dateAt(chart.clock(seconds * 1000)),
    legend: { show: false },
    cursor: { y: false, points: { size: 7 } },
    axes: [
      {
        ...axis,
        space: 70,
        size: 30,
        incrs: ({ data: [times] }) => {
          const bucketSeconds = (times[1] ?? 0) - (times[0] ?? 0);
          return axisSeconds.filter((step) => step >= bucketSeconds);
        },
        values: (_, splits, _axis, _space, step) => splits.map(momentText(chart.clock, step)),
      },
      {
        ...axis,
        ...(isWhole ? { incrs: wholeSteps } : {}),
        size: 56,
        values: (_, splits) => splits.map(chart.format),
      },
    ],
    scales: { y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.08 : 1] } },
    series: [{}, ...seriesOptions(chart.lines, ink)],
    hooks: {
      ready: [chart.onReady],
      draw: [
        (plot) => drawOpen(plot, chart.openFrom, card),
        (plot) => drawMarks(plot, chart.marked, ink),
      ],
      // A plot that is drawn anew begins without a point; the reader's stays.
      setCursor: [(plot) => plot.status === 1 && chart.onCursor(plot.cursor.idx)],
    },
  };
}

function seriesOptions(lines: readonly Line[], ink: string): uPlot.Series[] {
  const colors = seriesColors();
  return lines.map((line, index) => {
    const color = colors[seriesOf(lines, index) % colors.length] ?? ink;
    return {
      stroke: color,
      width: line.isPrevious ? 1.5 : 2,
      ...(line.isPrevious ? { dash: [4, 4] } : {}),
      ...(lines.length === 1 ? { fill: `color-mix(in srgb, ${color} 12%, transparent)` } : {}),
      points: { show: lines[0] !== undefined && lines[0].values.length < 2, size: 7 },
    };
  });
}

const minuteSeconds = 60;
const hourSeconds = 3_600;
/** Of an axis of counts: there is no half of an event. */
const wholeSteps = Array.from({ length: 16 }, (_, power) =>
  [1, 2, 5].map((step) => step * 10 ** power),
).flat();

function isWholeOrNull(value: number | null): boolean {
  return value === null || Number.isInteger(value);
}

const daySeconds = 86_400;
/** Steps of the axis of time; none is shorter than a bucket, because between two buckets there is no point. */
const axisSeconds = [
  ...[1, 5, 15, 30].map((count) => count * minuteSeconds),
  ...[1, 3, 6, 12].map((count) => count * hourSeconds),
  ...[1, 2, 3, 7, 14, 30, 61, 91, 182, 365].map((count) => count * daySeconds),
];

/** What stands at the axis: the day, with steps shorter than a day the clock, with those of months the month. */
function momentText(
  clock: (ms: number) => number,
  stepSeconds: number,
): (seconds: number) => string {
  const style: Intl.DateTimeFormatOptions =
    stepSeconds < daySeconds
      ? { hour: '2-digit', minute: '2-digit' }
      : stepSeconds < 28 * daySeconds
        ? { day: 'numeric', month: 'short' }
        : { month: 'short', year: 'numeric' };
  return (seconds) => zoneFormat('UTC', style).format(clock(seconds * 1000));
}
