// The edge of a column: dragged, or moved with arrow keys, it makes the column wider; a double click and Enter leave
// the width to the table again.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { maxWidthPx, minWidthPx } from './shown-columns.ts';

const stepPx = 16;

export function ColumnEdge(props: {
  /** Of the column. */
  name: string;
  /** While the reader moves the edge. */
  onWidth: (widthPx: number) => void;
  /** The reader let go. */
  onEnd: () => void;
  onAutomatic: () => void;
}) {
  const { name, onWidth, onEnd, onAutomatic } = props;
  const edge = useRef<HTMLSpanElement>(null);
  const drag = useRef<{ fromX: number; widthPx: number } | undefined>(undefined);
  const [widthPx, setWidthPx] = useState(minWidthPx);
  const measure = (): number => edge.current?.parentElement?.offsetWidth ?? widthPx;
  useLayoutEffect(() => setWidthPx(measure()));
  const onKeyDown = (event: KeyboardEvent): void => {
    const steps: Record<string, number> = {
      ArrowLeft: measure() - stepPx,
      ArrowRight: measure() + stepPx,
      Home: minWidthPx,
      End: maxWidthPx,
    };
    const next = steps[event.key];
    if (next !== undefined) onWidth(next);
    else if (event.key === 'Enter') onAutomatic();
    else return;
    // The table would go to a row.
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <span
      ref={edge}
      class="column-edge"
      role="separator"
      tabIndex={0}
      aria-orientation="vertical"
      aria-label={`Width of ${name}`}
      aria-valuemin={minWidthPx}
      aria-valuemax={maxWidthPx}
      aria-valuenow={widthPx}
      aria-valuetext={`${widthPx} pixels`}
      title="Drag, or use the arrow keys. Double click or Enter: automatic."
      onKeyDown={onKeyDown}
      onKeyUp={onEnd}
      onBlur={onEnd}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        drag.current = { fromX: event.clientX, widthPx: measure() };
      }}
      onPointerMove={({ clientX }) => {
        const from = drag.current;
        // A click alone sets no width.
        if (from && clientX !== from.fromX) onWidth(from.widthPx + clientX - from.fromX);
      }}
      onLostPointerCapture={() => {
        drag.current = undefined;
        onEnd();
      }}
      onDblClick={onAutomatic}
    />
  );
}
