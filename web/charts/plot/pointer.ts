// The pointer at a chart.

import { useRef, useState } from 'preact/hooks';
import { type Area, nearest } from './area.ts';

/** `at`: the bucket that is chosen; `anchor`: where a choice of several began. */
export type Chosen = { at: number | undefined; anchor: number | undefined };

/** Walks the buckets with the pointer, chooses several by dragging it, and opens one by a click. */
export function usePointer(of: {
  box: { current: SVGSVGElement | null };
  area: Area;
  chosen: Chosen;
  onChoose: (chosen: Chosen) => void;
  onPick: ((at: number) => void) | undefined;
  onZoom: ((from: number, to: number) => void) | undefined;
}) {
  const { box, area, chosen, onChoose, onPick, onZoom } = of;
  const [y, setY] = useState<number>();
  const drag = useRef<number | undefined>(undefined);
  const wasDragged = useRef(false);
  const bucketAt = (event: PointerEvent): number | undefined =>
    nearest(area.xs, event.clientX - (box.current?.getBoundingClientRect().left ?? 0));
  const onPointerMove = (event: PointerEvent): void => {
    setY(event.clientY - (box.current?.getBoundingClientRect().top ?? 0));
    const at = bucketAt(event);
    if (at !== chosen.at || drag.current !== chosen.anchor) onChoose({ at, anchor: drag.current });
  };
  const end = (event: PointerEvent): void => {
    const from = drag.current;
    drag.current = undefined;
    const to = bucketAt(event);
    if (from === undefined) return;
    onChoose({ at: to, anchor: undefined });
    wasDragged.current = to !== undefined && to !== from;
    if (wasDragged.current && to !== undefined) onZoom?.(from, to);
  };
  return {
    /** In the drawing; undefined while the pointer is elsewhere. */
    y,
    handlers: {
      onPointerMove,
      onPointerDown: (event: PointerEvent) => {
        onPointerMove(event);
        wasDragged.current = false;
        // A finger scrolls the page and walks the buckets.
        if (!onZoom || event.pointerType === 'touch' || event.button !== 0) return;
        drag.current = bucketAt(event);
        box.current?.setPointerCapture(event.pointerId);
      },
      onPointerUp: end,
      onPointerCancel: () => {
        drag.current = undefined;
        onChoose({ at: chosen.at, anchor: undefined });
      },
      onPointerLeave: (event: PointerEvent) => {
        if (event.pointerType === 'touch' || drag.current !== undefined) return;
        setY(undefined);
        onChoose({ at: undefined, anchor: undefined });
      },
      onClick: () => {
        if (!wasDragged.current && chosen.at !== undefined) onPick?.(chosen.at);
      },
    },
  };
}
