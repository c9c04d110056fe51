// A chart with its legend, whose entries switch the lines. Arrow keys walk the buckets, with Shift they choose several,
// and each bucket is read aloud.

import type { ComponentChildren } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { readablePath } from '../../platform/words/readable-path.ts';
import { Fault } from '../ui/fault.tsx';
import { type Line, seriesOf } from './line.ts';
import { PictureButton } from './picture-button.tsx';
import { hasSlots } from './plot/area.ts';
import type { Plotted } from './plot/plot.tsx';
import type { Chosen } from './plot/pointer.ts';
import { isPair, saidOf, tooltipRows } from './plot/tooltip-rows.ts';
import { loadPlot, plotCode, plotFault, usePlot } from './plot-code.ts';

type Charted = Omit<Plotted, 'hidden'> & {
  label: string;
  /** A bucket was clicked, or Enter was pressed on it. */
  onPick?: ((at: number) => void) | undefined;
  /** Several buckets were chosen. */
  onZoom?: ((from: number, to: number) => void) | undefined;
  chosen: Chosen;
  onChoose: (chosen: Chosen) => void;
  /** What stands beside the legend. */
  children?: ComponentChildren;
};

export function Chart(props: Charted) {
  const { label, lines, chosen, onChoose, onPick, onZoom, height } = props;
  const [off, setOff] = useState<readonly string[]>([]);
  const hidden = useMemo(() => hiddenOf(lines, off), [lines, off]);
  const [isFocused, setFocused] = useState(false);
  const code = plotCode.value;
  usePlot();
  const { at } = chosen;
  const last = props.shares.length - 1;
  const walk = (event: KeyboardEvent): void => {
    const next = afterKey(event, chosen, last, onZoom !== undefined);
    if (next) onChoose(next);
    else if (event.key === 'Escape' && chosen.anchor !== undefined)
      onChoose({ at, anchor: undefined });
    else if (event.key === 'Enter' && at !== undefined) enter(at);
    else return;
    // Enter would press the first button of what opens, too, and Esc would close what is around the chart.
    event.preventDefault();
    event.stopPropagation();
  };
  const enter = (bucket: number): void => {
    const { anchor = bucket } = chosen;
    if (anchor === bucket) onPick?.(bucket);
    else {
      onChoose({ at, anchor: undefined });
      onZoom?.(anchor, bucket);
    }
  };
  const keys = onZoom ? ', with Shift they choose a range that Enter shows' : '';
  return (
    <figure class="chart">
      <Fault cause={plotFault.value} retry={() => void loadPlot()} />
      <div
        class="plot"
        data-opens={onPick !== undefined}
        style={{ minHeight: `${height}px` }}
        role="img"
        tabIndex={0}
        aria-label={`${label}. Arrow keys walk the points${keys}; the table below has them all.`}
        onKeyDown={walk}
        onFocus={() => setFocused(true)}
        onBlur={() => setFocused(false)}
      >
        {code ? <code.Plot {...props} {...{ hidden, isFocused }} /> : null}
      </div>
      <figcaption class="legend">
        <Legend {...{ lines, off, hidden }} onSwitch={setOff} hasLevels={hasSlots(props.kind)} />
        {props.children}
        <PictureButton label={label} />
        <span class="unseen" role="status">
          {at === undefined || at > last || !isFocused
            ? ''
            : saidOf(
                props.nameOf(at),
                tooltipRows(lines, hidden, at, props.format),
                props.notes.get(at),
              )}
        </span>
      </figcaption>
    </figure>
  );
}

/** With the range before of each line that is off. */
function hiddenOf(lines: readonly Line[], off: readonly string[]): ReadonlySet<string> {
  const names = new Set(off);
  for (const [index, line] of lines.entries())
    if (isPair(lines[index - 1], line) && names.has(lines[index - 1]?.name ?? ''))
      names.add(line.name);
  return names;
}

/** The names of the lines, each in its colour: one alone has nothing to switch. */
function Legend(props: {
  lines: readonly Line[];
  off: readonly string[];
  hidden: ReadonlySet<string>;
  onSwitch: (off: readonly string[]) => void;
  /** Whether what was before is drawn as levels, which have the colour of the text. */
  hasLevels: boolean;
}) {
  const { lines, off, hidden, onSwitch } = props;
  return (
    <>
      {lines.map((line, index) => {
        const isOff = off.includes(line.name);
        const next = isOff ? off.filter((name) => name !== line.name) : [...off, line.name];
        const inside = (
          <>
            <i
              data-series={seriesOf(lines, index) % 8}
              data-previous={line.isPrevious ?? false}
              data-level={props.hasLevels && line.isPrevious}
            />
            {readablePath(line.name)}
          </>
        );
        return lines.length < 2 ? (
          <span key={line.name} class="legend-item">
            {inside}
          </span>
        ) : (
          <button
            key={line.name}
            type="button"
            class="legend-item"
            data-hidden={hidden.has(line.name)}
            aria-pressed={!isOff}
            onClick={() => onSwitch(next)}
          >
            {inside}
          </button>
        );
      })}
    </>
  );
}

/** What is chosen after a key; undefined where it leads nowhere. */
function afterKey(
  { key, shiftKey }: KeyboardEvent,
  { at, anchor }: Chosen,
  last: number,
  mayChooseSeveral: boolean,
): Chosen | undefined {
  const here = at ?? (key === 'ArrowLeft' ? last + 1 : -1);
  const steps: Record<string, number> = {
    ArrowRight: here + 1,
    ArrowLeft: here - 1,
    Home: 0,
    End: last,
  };
  const to = steps[key];
  if (to === undefined || last < 0) return undefined;
  const isSeveral = shiftKey && mayChooseSeveral;
  return {
    at: Math.max(0, Math.min(last, to)),
    anchor: isSeveral ? (anchor ?? at) : undefined,
  };
}
