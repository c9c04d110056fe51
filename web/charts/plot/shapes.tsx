// Lines, areas and bars of a chart. What is not over is dashed or hatched; what is compared with is dotted.

import { useId } from 'preact/hooks';
import { type Line, seriesOf } from '../line.ts';
import { type Area, barsOf, hasSlots, pointsOf } from './area.ts';
import type { Layer, PlotKind } from './layers.ts';
import { areaPath, type Bar, barsPath, linePath, type Point, splitAt, thinned } from './paths.ts';

type Drawn = {
  area: Area;
  layers: readonly Layer[];
  /** All of the chart, for their colours. */
  lines: readonly Line[];
  kind: PlotKind;
  openFrom: number;
};

export function Shapes(props: Drawn) {
  const { layers, lines, kind } = props;
  const id = useId();
  const isAlone = layers.filter(({ isMark }) => !isMark).length === 1;
  return (
    <>
      {layers.map((layer) => {
        const series = seriesOf(lines, layer.index) % 8;
        return (
          <g key={layer.index} data-series={series} data-mark={layer.isMark}>
            {hasSlots(kind) ? (
              <Bars {...props} layer={layer} hatch={`${id}-${series}`} />
            ) : (
              <Course
                {...props}
                layer={layer}
                isFilled={!layer.isMark && (kind === 'area' || isAlone)}
              />
            )}
          </g>
        );
      })}
    </>
  );
}

function Course(props: Drawn & { layer: Layer; isFilled: boolean }) {
  const { area, layer, kind, isFilled } = props;
  const openFrom = layer.line.openFrom ?? props.openFrom;
  const tops = pointsOf(area, layer.to);
  // What was before is over.
  const line = splitAt(tops, layer.isMark ? tops.length : openFrom);
  return (
    <>
      {isFilled ? (
        <Ground {...{ kind, openFrom, tops }} bottoms={pointsOf(area, layer.from)} />
      ) : null}
      <path class="plot-line" d={linePath(fine(area, line.over))} />
      <path class="plot-line" data-open="true" d={linePath(fine(area, line.open))} />
    </>
  );
}

/** What lies below a line; the step that is not over lies apart, so that it can be paler. */
function Ground(props: {
  kind: PlotKind;
  openFrom: number;
  tops: readonly (Point | null)[];
  bottoms: readonly (Point | null)[];
}) {
  const { kind, openFrom } = props;
  const tops = splitAt(props.tops, openFrom);
  const bottoms = splitAt(props.bottoms, openFrom);
  return (
    <>
      <path class="plot-area" data-kind={kind} d={areaPath(tops.over, bottoms.over)} />
      <path
        class="plot-area"
        data-kind={kind}
        data-open="true"
        d={areaPath(tops.open, bottoms.open)}
      />
    </>
  );
}

/** Where there are more points than px. */
function fine({ left, right }: Area, points: readonly (Point | null)[]) {
  return points.length > 2 * (right - left) ? thinned(points) : points;
}

function Bars(props: Drawn & { layer: Layer; hatch: string }) {
  const { area, layer, layers, kind, hatch } = props;
  const openFrom = layer.line.openFrom ?? props.openFrom;
  const bars = barsOf(area, layer, layers, kind);
  const known = (from: number, to: number): Bar[] =>
    bars.slice(from, to).flatMap((bar) => (bar ? [bar] : []));
  if (layer.isMark) return <path class="plot-level" d={barsPath(known(0, bars.length))} />;
  const open = barsPath(known(openFrom, bars.length));
  return (
    <>
      <path class="plot-bar" d={barsPath(known(0, openFrom))} />
      {open === '' ? null : (
        <>
          <pattern
            id={hatch}
            width={6}
            height={6}
            patternUnits="userSpaceOnUse"
            patternTransform="rotate(45)"
          >
            <path class="plot-hatch" d="M0,0v6" />
          </pattern>
          <path class="plot-bar" data-open="true" fill={`url(#${hatch})`} d={open} />
        </>
      )}
    </>
  );
}
