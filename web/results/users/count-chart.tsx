// Bars of counts that are no time: on how many days, or how often.

import { useMemo, useState } from 'preact/hooks';
import { Chart } from '../../charts/chart.tsx';
import type { Line } from '../../charts/line.ts';
import { sharesOf } from '../../charts/plot/area.ts';
import type { Plotted } from '../../charts/plot/plot.tsx';
import type { Chosen } from '../../charts/plot/pointer.ts';
import { figure } from '../../ui/figures.ts';

const noNotes: Plotted['notes'] = new Map();

/** `names`: one for each value of the lines. */
export function CountChart(props: {
  label: string;
  names: readonly string[];
  lines: readonly Line[];
  height: number;
  onPick: ((at: number) => void) | undefined;
}) {
  const { label, names, lines, height, onPick } = props;
  const [chosen, choose] = useState<Chosen>({ at: undefined, anchor: undefined });
  const shares = useMemo(() => sharesOf(names.map((_, index) => index)), [names.length]);
  return (
    <Chart
      {...{ label, lines, height, shares, chosen, onPick }}
      kind="bars"
      unit="number"
      format={figure}
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
