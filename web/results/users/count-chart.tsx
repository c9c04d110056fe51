// A chart over counts that are no time: on how many days, how often, or how long after the beginning.

import { useMemo, useState } from 'preact/hooks';
import { figure } from '../../../platform/words/figures.ts';
import { Chart } from '../../charts/chart.tsx';
import type { Line } from '../../charts/line.ts';
import { sharesOf } from '../../charts/plot/area.ts';
import type { PlotKind } from '../../charts/plot/layers.ts';
import type { Plotted } from '../../charts/plot/plot.tsx';
import type { Chosen } from '../../charts/plot/pointer.ts';
import type { Unit } from '../../charts/plot/value-axis.ts';

const noNotes: Plotted['notes'] = new Map();

/** `names`: one for each value of the lines. Bars of numbers unless given. */
export function CountChart(props: {
  label: string;
  names: readonly string[];
  lines: readonly Line[];
  height: number;
  kind?: PlotKind;
  unit?: Unit;
  format?: (value: number) => string;
  onPick: ((at: number) => void) | undefined;
}) {
  const { label, names, lines, height, onPick } = props;
  const { kind = 'bars', unit = 'number', format = figure } = props;
  const [chosen, choose] = useState<Chosen>({ at: undefined, anchor: undefined });
  const shares = useMemo(() => sharesOf(names.map((_, index) => index)), [names.length]);
  return (
    <Chart
      {...{ label, lines, height, shares, chosen, onPick, kind, unit, format }}
      nameOf={(at) => names[at] ?? ''}
      ticksOf={(most) => everySoMany(names, most)}
      openFrom={names.length}
      notes={noNotes}
      onChoose={choose}
    />
  );
}

function everySoMany(names: readonly string[], most: number) {
  const every = Math.max(1, Math.ceil(names.length / most));
  return names.map((text, index) => ({ text, index })).filter(({ index }) => index % every === 0);
}
