// The drawing of a chart as SVG: axes, lines, areas and bars, what is not over in dashes or hatched, and a tooltip at
// the pointer. Its colours are those of the theme, so that legend, tooltip and chart have the same.

import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { type Line, seriesOf } from '../line.ts';
import { type Area, areaOf, hasSlots } from './area.ts';
import { extentOf, type Layer, layersOf, type PlotKind } from './layers.ts';
import { type Chosen, usePointer } from './pointer.ts';
import { Shapes } from './shapes.tsx';
import type { Tick } from './time-axis.ts';
import { Tooltip } from './tooltip.tsx';
import { tooltipRows } from './tooltip-rows.ts';
import { tickText, type Unit, valueAxis } from './value-axis.ts';

/** What a chart is drawn from. */
export type Plotted = {
  lines: readonly Line[];
  /** The names of those that are switched off. */
  hidden: ReadonlySet<string>;
  kind: PlotKind;
  unit: Unit;
  /** Stands over the axis of values: a currency. */
  unitName?: string | undefined;
  format: (value: number) => string;
  height: number;
  /** Of each bucket, between 0 and 1. */
  shares: readonly number[];
  nameOf: (at: number) => string;
  beforeNameOf?: ((at: number) => string | undefined) | undefined;
  /** The names that stand at the axis, at most so many. */
  ticksOf: (most: number) => readonly Tick[];
  openFrom: number;
  /** The notes of the buckets that have some. */
  notes: ReadonlyMap<number, readonly string[]>;
};

const tickPx = 52;
const namePx = 84;

export function Plot(
  props: Plotted & {
    chosen: Chosen;
    onChoose: (chosen: Chosen) => void;
    /** Whether the keyboard is at the chart. */
    isFocused: boolean;
    onPick?: ((at: number) => void) | undefined;
    onZoom?: ((from: number, to: number) => void) | undefined;
  },
) {
  const { lines, hidden, chosen, onChoose, onPick, onZoom } = props;
  const box = useRef<SVGSVGElement>(null);
  const widthPx = useWidth(box);
  const drawing = useMemo(
    () => drawingOf(props, widthPx),
    [lines, hidden, props.kind, props.unit, props.height, widthPx, props.shares],
  );
  const { area, layers } = drawing;
  const pointer = usePointer({ box, area, chosen, onChoose, onPick, onZoom });
  const { at, anchor } = chosen;
  const x = at === undefined ? undefined : area.xs[at];
  return (
    <>
      <svg
        ref={box}
        width="100%"
        height={props.height}
        // A sheet of paper is narrower than the screen that the chart was drawn for.
        viewBox={widthPx > 0 ? `0 0 ${widthPx} ${props.height}` : undefined}
        aria-hidden="true"
        {...pointer.handlers}
      >
        {widthPx === 0 ? null : (
          <>
            <Axes {...props} drawing={drawing} />
            <Selection area={area} from={anchor} to={at} />
            <Shapes {...{ area, layers, lines }} kind={props.kind} openFrom={props.openFrom} />
            <Marks area={area} notes={props.notes} />
            {x === undefined ? null : (
              <line class="plot-cursor" x1={x} x2={x} y1={area.top} y2={area.bottom} />
            )}
            <Dots {...{ area, lines, at }} layers={hasSlots(props.kind) ? [] : layers} />
          </>
        )}
      </svg>
      {at !== undefined && x !== undefined && (pointer.y !== undefined || props.isFocused) ? (
        <Tooltip
          name={props.nameOf(at)}
          beforeName={props.beforeNameOf?.(at)}
          rows={tooltipRows(lines, hidden, at, props.format)}
          notes={props.notes.get(at) ?? []}
          hint={selectionHint(props, chosen)}
          hasLevels={hasSlots(props.kind)}
          spot={() => {
            const frame = box.current?.getBoundingClientRect();
            return { x: (frame?.left ?? 0) + x, y: (frame?.top ?? 0) + (pointer.y ?? area.top) };
          }}
        />
      ) : null}
    </>
  );
}

type Drawing = { area: Area; layers: readonly Layer[]; ticks: { at: number; text: string }[] };

function drawingOf(
  { lines, hidden, kind, height, shares, ...plotted }: Plotted,
  widthPx: number,
): Drawing {
  const shown = lines
    .map((line, index) => ({ line, index }))
    .filter(({ line }) => !hidden.has(line.name));
  const layers = layersOf(shown, kind);
  const isWhole = lines.every(({ values }) =>
    values.every((value) => value === null || Number.isInteger(value)),
  );
  const unit = kind === 'percent' ? 'share' : plotted.unit;
  const extent = kind === 'percent' ? { low: 0, high: 1 } : extentOf(layers);
  const most = Math.max(2, Math.floor(height / tickPx));
  const axis = valueAxis(extent, unit, most, isWhole && unit === 'number');
  const ticks = axis.ticks.map((tick) => ({ at: tick, text: tickText(tick, unit) }));
  const area = areaOf({
    ...{ widthPx, heightPx: height, kind, shares, axis },
    tickTexts: ticks.map(({ text }) => text),
    hasUnitName: plotted.unitName !== undefined && kind !== 'percent',
  });
  return { area, layers, ticks };
}

/** Of the element, as it changes; 0 before it is known. */
function useWidth(box: { current: SVGSVGElement | null }): number {
  const [widthPx, setWidth] = useState(0);
  useLayoutEffect(() => {
    const element = box.current;
    if (!element) return;
    setWidth(element.getBoundingClientRect().width);
    const size = new ResizeObserver(([entry]) => {
      if (entry) setWidth(entry.contentRect.width);
    });
    size.observe(element);
    return () => size.disconnect();
  }, []);
  return widthPx;
}

function Axes(props: Plotted & { drawing: Drawing }) {
  const { area, ticks } = props.drawing;
  const { left, right, bottom, yOf, xs } = area;
  const most = Math.max(1, Math.floor((right - left) / namePx));
  return (
    <>
      {props.unitName && props.kind !== 'percent' ? (
        <text class="plot-text" x={0} y={12}>
          {props.unitName}
        </text>
      ) : null}
      {ticks.map(({ at, text }) => (
        <g key={at}>
          <line
            class="plot-grid"
            data-zero={at === 0}
            x1={left}
            x2={right}
            y1={yOf(at)}
            y2={yOf(at)}
          />
          <text class="plot-text" x={left - 8} y={yOf(at) + 4} text-anchor="end">
            {text}
          </text>
        </g>
      ))}
      {props.ticksOf(most).map(({ index, text }) => {
        const x = xs[index] ?? left;
        const isLast = x > right - 24;
        return (
          <text
            key={index}
            class="plot-text"
            x={isLast ? right + 8 : x}
            y={bottom + 18}
            text-anchor={isLast ? 'end' : 'middle'}
          >
            {text}
          </text>
        );
      })}
    </>
  );
}

/** The buckets that are being chosen for a closer look. */
function Selection(props: { area: Area; from: number | undefined; to: number | undefined }) {
  const { area, from, to } = props;
  if (from === undefined || to === undefined || from === to) return null;
  const [one = 0, other = 0] = [area.xs[from], area.xs[to]];
  return (
    <rect
      class="plot-selection"
      x={Math.min(one, other)}
      y={area.top}
      width={Math.abs(other - one)}
      height={area.bottom - area.top}
    />
  );
}

function selectionHint({ nameOf }: Plotted, { at, anchor }: Chosen): string | undefined {
  if (anchor === undefined || at === undefined || anchor === at) return undefined;
  return `${nameOf(Math.min(at, anchor))} to ${nameOf(Math.max(at, anchor))}`;
}

/** A dashed line with a flag for each bucket that has annotations. */
function Marks({ area, notes }: { area: Area; notes: Plotted['notes'] }) {
  return (
    <>
      {[...notes.keys()].map((bucket) => {
        const x = area.xs[bucket];
        if (x === undefined) return null;
        return (
          <g key={bucket} class="plot-note">
            <line x1={x} x2={x} y1={area.top} y2={area.bottom} />
            <path d={`M${x},${area.top}h7v5h-7z`} />
          </g>
        );
      })}
    </>
  );
}

function Dots(props: {
  area: Area;
  layers: readonly Layer[];
  lines: readonly Line[];
  at: number | undefined;
}) {
  const { area, layers, lines, at = -1 } = props;
  const x = area.xs[at];
  if (x === undefined) return null;
  return (
    <>
      {layers.map(({ to, index }) => {
        const value = to[at] ?? null;
        if (value === null) return null;
        const series = seriesOf(lines, index) % 8;
        const y = area.yOf(value);
        return <circle key={index} class="plot-dot" data-series={series} cx={x} cy={y} r={3.5} />;
      })}
    </>
  );
}
