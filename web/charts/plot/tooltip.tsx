// The figures of a bucket at the pointer, or at the point that keys have walked to. They lie over the page, so that no
// tile cuts them; who listens hears them from the chart.

import { useLayoutEffect, useRef } from 'preact/hooks';
import { readablePath } from '../../../platform/words/readable-path.ts';
import type { TooltipRow } from './tooltip-rows.ts';

const gapPx = 14;
const edgePx = 8;

/** `spot` answers where the bucket is in the window. */
export function Tooltip(props: {
  name: string;
  beforeName: string | undefined;
  rows: readonly TooltipRow[];
  notes: readonly string[];
  hint: string | undefined;
  /** Whether what was before is drawn as levels. */
  hasLevels: boolean;
  spot: () => { x: number; y: number };
}) {
  const { name, beforeName, rows, notes, hint, hasLevels, spot } = props;
  const box = useRef<HTMLDivElement>(null);
  const place = (): void => {
    const element = box.current;
    if (!element) return;
    const { x, y } = spot();
    const { offsetWidth, offsetHeight } = element;
    const isLeft = x + gapPx + offsetWidth + edgePx > window.innerWidth;
    const left = isLeft ? x - gapPx - offsetWidth : x + gapPx;
    const lowest = window.innerHeight - offsetHeight - edgePx;
    element.style.left = `${Math.max(edgePx, left)}px`;
    element.style.top = `${Math.max(edgePx, Math.min(lowest, y))}px`;
  };
  useLayoutEffect(() => box.current?.showPopover(), []);
  useLayoutEffect(() => {
    place();
    const again = (): void => place();
    window.addEventListener('scroll', again, { capture: true, passive: true });
    return () => window.removeEventListener('scroll', again, { capture: true });
  });
  const isCompared = rows.some(({ before }) => before !== undefined);
  return (
    <div ref={box} class="tip" popover="manual" aria-hidden="true">
      <p class="tip-time">{name}</p>
      {isCompared && beforeName ? <p>before: {beforeName}</p> : null}
      <ul>
        {rows.map((row) => (
          <li key={row.name}>
            <i
              data-series={row.series % 8}
              data-previous={row.isPrevious}
              data-level={row.isPrevious && hasLevels}
            />
            <span class="clip">{readablePath(row.name)}</span>
            <b>{row.value}</b>
            {isCompared ? (
              <small>
                {row.before === undefined ? '' : `${row.before} before`}
                {row.change ? <strong> {row.change}</strong> : null}
              </small>
            ) : null}
          </li>
        ))}
      </ul>
      {notes.map((note) => (
        <p key={note} class="annotation">
          {note}
        </p>
      ))}
      {hint ? <p>{hint}</p> : null}
    </div>
  );
}
