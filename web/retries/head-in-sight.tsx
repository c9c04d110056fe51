// The head of a page whose figures are of what it names: it stays under the top bar, so that whoever reads further down
// sees which days and whom they count.

import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { Updating } from './updating.tsx';

/** `children`: what is chosen. `isUpdating`: the figures are those of the choice before. */
export function HeadInSight(props: {
  name: string;
  isUpdating?: boolean;
  children: ComponentChildren;
}) {
  const chosen = useRef<HTMLDivElement>(null);
  useLayoutEffect(() => keepClear(chosen.current), []);
  return (
    <div class="page-head in-sight">
      <Updating isOn={props.isUpdating ?? false}>
        <h1 tabIndex={-1}>{props.name}</h1>
      </Updating>
      <div class="row" ref={chosen}>
        {props.children}
      </div>
    </div>
  );
}

/**
 * What gets the focus is scrolled clear of it, however many lines it takes. One of more than a third of the window
 * would leave too little of the page, and scrolls away. The answer ends that.
 */
function keepClear(chosen: HTMLElement | null): (() => void) | undefined {
  const head = chosen?.parentElement;
  if (!chosen || !head) return undefined;
  const { style } = document.documentElement;
  const measure = (): void => {
    // Where there is little room the heading scrolls away: the head has no box of its own.
    const heightPx = head.offsetHeight || chosen.offsetHeight;
    const isTall = heightPx > window.innerHeight / 3;
    head.dataset['tall'] = String(isTall);
    style.setProperty('--in-sight', `${isTall ? 0 : heightPx}px`);
  };
  const watch = new ResizeObserver(measure);
  for (const box of [head, chosen]) watch.observe(box);
  window.addEventListener('resize', measure);
  return () => {
    watch.disconnect();
    window.removeEventListener('resize', measure);
    style.removeProperty('--in-sight');
  };
}
