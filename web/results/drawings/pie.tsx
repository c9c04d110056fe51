// A pie with the names of its slices. Each slice may open what it counts, by its name.

import { percent, shortFigure } from '../../../platform/words/figures.ts';
import { absentName, othersName } from '../../../platform/words/insight-words.ts';
import { readablePath } from '../../../platform/words/readable-path.ts';
import type { Bar } from '../../charts/bar-list.tsx';
import { slicesOf } from './slices.ts';

export function Pie(props: {
  label: string;
  bars: readonly Bar[];
  format?: (value: number) => string;
  onOpen?: (bar: Bar) => void;
}) {
  const { label, bars, format = shortFigure, onOpen } = props;
  const slices = slicesOf(bars, othersName);
  if (!slices) return <p class="hint">A value below zero is no part of a whole: choose bars.</p>;
  if (slices.length === 0) return <p class="hint">Nothing in this range.</p>;
  return (
    <div class="pie">
      <svg viewBox="-51 -51 102 102" role="img" aria-label={`${label}. The list has every part.`}>
        {slices.map(({ name, path }, index) => (
          <path key={name} class="pie-slice" data-series={index} d={path} />
        ))}
      </svg>
      <ol class="bars" aria-label={label}>
        {slices.map(({ name, value, share, isRest }, index) => {
          const inside = (
            <>
              <span class="pie-color" data-series={index} />
              <span class="clip grow" title={name}>
                {readablePath(name) || absentName}
              </span>
              <small>{percent(share)}</small>
              <b>{format(value)}</b>
            </>
          );
          return (
            <li key={name} data-rest={isRest}>
              {onOpen && !isRest ? (
                <button type="button" onClick={() => onOpen({ name, value })}>
                  {inside}
                </button>
              ) : (
                <div>{inside}</div>
              )}
            </li>
          );
        })}
      </ol>
    </div>
  );
}
