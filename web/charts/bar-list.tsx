// A ranking: a bar behind each name, its figure and its share. Each row may open what it counts.

import type { ComponentChildren } from 'preact';
import { percent, shortFigure } from '../../platform/words/figures.ts';
import { absentName } from '../../platform/words/insight-words.ts';
import { readablePath } from '../../platform/words/readable-path.ts';

export type Bar = {
  name: string;
  value: number;
  /** In the place of the name. */
  label?: ComponentChildren;
  /** Before it. */
  mark?: ComponentChildren;
  isRest?: boolean;
};

/** Each bar has its share of `total`, or of the sum of the bars where that is left out. With a total of 0 none has. */
export function BarList(props: {
  label: string;
  bars: readonly Bar[];
  format?: (value: number) => string;
  total?: number;
  onOpen?: (bar: Bar) => void;
}) {
  const { bars, format = shortFigure, onOpen } = props;
  // All others are no single thing: beside a bar of theirs the others' would be stubs.
  const most = Math.max(1e-9, ...bars.map(({ value, isRest }) => (isRest ? 0 : value)));
  const total = props.total ?? bars.reduce((sum, { value }) => sum + value, 0);
  if (bars.length === 0) return <p class="hint">Nothing in this range.</p>;
  return (
    <ol class="bars" aria-label={props.label}>
      {bars.map((bar) => {
        const inside = (
          <>
            {bar.isRest ? null : <i style={{ width: `${(bar.value / most) * 100}%` }} />}
            {bar.mark}
            <span class="clip grow" title={bar.name}>
              {bar.label ?? (readablePath(bar.name) || absentName)}
            </span>
            <small>{total > 0 ? percent(bar.value / total) : ''}</small>
            <b>{format(bar.value)}</b>
          </>
        );
        return (
          <li key={bar.name + String(bar.isRest)} data-rest={bar.isRest ?? false}>
            {onOpen && !bar.isRest ? (
              <button type="button" onClick={() => onOpen(bar)}>
                {inside}
              </button>
            ) : (
              <div>{inside}</div>
            )}
          </li>
        );
      })}
    </ol>
  );
}
