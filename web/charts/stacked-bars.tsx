// Stacked bars, the parts below zero hanging down. Arrow keys walk the bars, each bar is read aloud.

import type { ComponentChildren } from 'preact';
import { useState } from 'preact/hooks';
import { readablePath } from '../text/readable-path.ts';
import { shortFigure } from '../ui/figures.ts';

/** `before`: what the parts above zero were in the period before. */
export type Stack = { name: string; parts: readonly number[]; before?: number | undefined };

/** `parts`: the names of the parts in the order of each bar's values; values below zero hang down. */
export function StackedBars(props: {
  label: string;
  parts: readonly string[];
  stacks: readonly Stack[];
  height: number;
  onPick?: (at: number) => void;
  /** The bars that get a flag. */
  marked?: Pick<ReadonlySet<number>, 'has'>;
  /** What stands below, by the bar that is chosen. */
  below?: (at: number | undefined) => ComponentChildren;
}) {
  const { label, parts, stacks, height } = props;
  const [at, setAt] = useState<number>();
  const heights = stacks.map((stack) => sumOf(stack.parts, (value) => value > 0));
  const depths = stacks.map((stack) => -sumOf(stack.parts, (value) => value < 0));
  const top = Math.max(1e-9, ...heights, ...stacks.map(({ before = 0 }) => before));
  const bottom = Math.max(0, ...depths);
  const walk = (event: KeyboardEvent): void => {
    const to = stepOf(event.key, at, stacks.length - 1);
    if (to !== undefined) setAt(to);
    else if (event.key === 'Enter' && at !== undefined) props.onPick?.(at);
    else return;
    event.preventDefault();
  };
  const here = at === undefined ? undefined : stacks[at];
  return (
    <figure class="chart">
      <div class="stacks-frame" style={{ height: `${height}px` }}>
        <div class="stacks-axis" aria-hidden="true">
          <span>{shortFigure(top)}</span>
          {bottom > 0 ? <span>−{shortFigure(bottom)}</span> : <span>0</span>}
        </div>
        <div
          class="stacks"
          role="img"
          tabIndex={0}
          aria-label={`${label}. Arrow keys walk the bars; the table below has them all.`}
          style={{ '--above': `${(top / (top + bottom)) * 100}%` }}
          onKeyDown={walk}
          onPointerLeave={() => setAt(undefined)}
        >
          {stacks.map((stack, index) => (
            <div
              key={stack.name}
              class="stack-bar"
              data-at={index === at}
              data-marked={props.marked?.has(index) ?? false}
              onPointerEnter={() => setAt(index)}
              onClick={() => props.onPick?.(index)}
            >
              <Parts class="stack-above" {...{ parts, stack }} share={(value) => value / top}>
                {stack.before === undefined ? null : (
                  <span class="stack-before" style={{ bottom: `${(stack.before / top) * 100}%` }} />
                )}
              </Parts>
              <Parts class="stack-below" {...{ parts, stack }} share={(value) => -value / bottom} />
            </div>
          ))}
        </div>
      </div>
      <Names {...{ stacks }} />
      <figcaption class="legend" aria-live="polite">
        <span class="legend-time">{here?.name ?? ' '}</span>
        <Values {...{ parts }} of={here} />
        {stacks.some(({ before }) => before !== undefined) ? <Before of={here} /> : null}
        {props.below?.(at)}
      </figcaption>
    </figure>
  );
}

/** Each part's colour and name, with its value in the bar that is chosen. */
function Values({ parts, of }: { parts: readonly string[]; of: Stack | undefined }) {
  return (
    <>
      {parts.map((name, part) => (
        <span key={name} class="legend-item">
          <i data-series={part % 8} />
          {readablePath(name)}
          <b>{of ? shortFigure(Math.abs(of.parts[part] ?? 0)) : ''}</b>
        </span>
      ))}
    </>
  );
}

function Before({ of }: { of: Stack | undefined }) {
  return (
    <span class="legend-item">
      <i class="stack-before" />
      The range before
      <b>{of?.before === undefined ? '' : shortFigure(of.before)}</b>
    </span>
  );
}

/** The bar that a key leads to; undefined where it leads to none. */
function stepOf(key: string, at: number | undefined, last: number): number | undefined {
  const steps: Record<string, number> = {
    ArrowRight: (at ?? -1) + 1,
    ArrowLeft: (at ?? last + 1) - 1,
    Home: 0,
    End: last,
  };
  const to = steps[key];
  return to === undefined ? undefined : Math.max(0, Math.min(last, to));
}

/** The parts whose share of the height is above zero. */
function Parts(props: {
  class: string;
  parts: readonly string[];
  stack: Stack;
  share: (value: number) => number;
  children?: ComponentChildren;
}) {
  const { parts, stack, share } = props;
  return (
    <div class={props.class}>
      {stack.parts.map((value, part) =>
        share(value) > 0 ? (
          <i
            key={parts[part]}
            data-series={part % 8}
            style={{ height: `${share(value) * 100}%` }}
          />
        ) : null,
      )}
      {props.children}
    </div>
  );
}

function Names({ stacks }: { stacks: readonly Stack[] }) {
  const every = Math.max(1, Math.ceil(stacks.length / 6));
  return (
    <div class="stacks-names" aria-hidden="true">
      {stacks.flatMap(({ name }, index) =>
        index % every === 0 ? [<span key={name}>{name}</span>] : [],
      )}
    </div>
  );
}

function sumOf(values: readonly number[], counts: (value: number) => boolean): number {
  return values.reduce((sum, value) => (counts(value) ? sum + value : sum), 0);
}
