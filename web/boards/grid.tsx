// The grid of a board: 72 columns, one on a phone. While it is edited, a tile's handle moves it by mouse and by arrow
// keys, and sizes it with Shift.

import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';
import { Icon } from '../ui/icon.tsx';
import { bounded, columnStep, columns, type Place, placeInWords, rowStep } from './draft.ts';
import { rowPx } from './tile-view.tsx';
import '../styles/boards.css';

export type Placed = { key: string; title: string; place: Place; view: ComponentChildren };

export function Grid(props: {
  tiles: readonly Placed[];
  /** undefined while the board is only read. */
  onPlace?: ((key: string, place: Place) => void) | undefined;
}) {
  const { onPlace } = props;
  const box = useRef<HTMLDivElement>(null);
  const [said, setSaid] = useState('');
  /** A tile that is being dragged: the others make room when it is let go. */
  const [dragged, setDragged] = useState<{ key: string; place: Place }>();
  // In the order of reading, which is the order of a phone and of the Tab key.
  const tiles = props.tiles.toSorted((a, b) => a.place.y - b.place.y || a.place.x - b.place.x);
  const put = (tile: Placed, place: Place): void => {
    const next = bounded(place);
    onPlace?.(tile.key, next);
    setSaid(placeInWords(tile.title, next));
  };
  return (
    <>
      <div class="board-grid" ref={box} data-edited={onPlace !== undefined}>
        {tiles.map((tile) => {
          const { x, y, w, h } = dragged?.key === tile.key ? dragged.place : tile.place;
          return (
            <article
              key={tile.key}
              class="tile"
              data-dragged={dragged?.key === tile.key}
              aria-label={tile.title || 'Tile'}
              style={{
                '--column': `${x + 1} / span ${w}`,
                '--row': `${y + 1} / span ${h}`,
                '--height': `${h * rowPx}px`,
              }}
            >
              <div class="tile-card">
                {tile.view}
                {onPlace ? (
                  <Handles
                    tile={tile}
                    grid={box.current}
                    onPlace={(place) => put(tile, place)}
                    onDrag={(place) =>
                      setDragged(place ? { key: tile.key, place: bounded(place) } : undefined)
                    }
                  />
                ) : null}
              </div>
            </article>
          );
        })}
      </div>
      <p class="unseen" role="status">
        {said}
      </p>
    </>
  );
}

/** Columns and rows that a key moves or sizes a tile by. */
const keySteps: Readonly<Record<string, readonly [number, number]>> = {
  ArrowLeft: [-columnStep, 0],
  ArrowRight: [columnStep, 0],
  ArrowUp: [0, -rowStep],
  ArrowDown: [0, rowStep],
};

function Handles(props: {
  tile: Placed;
  grid: HTMLDivElement | null;
  onPlace: (place: Place) => void;
  /** undefined when it is let go. */
  onDrag: (place: Place | undefined) => void;
}) {
  const { tile, grid, onPlace, onDrag } = props;
  const { place } = tile;
  const drag = (event: PointerEvent, apply: (columnsBy: number, rowsBy: number) => Place): void => {
    const handle = event.currentTarget;
    if (!(handle instanceof HTMLElement) || !grid) return;
    event.preventDefault();
    handle.focus();
    handle.setPointerCapture(event.pointerId);
    const { clientX, clientY } = event;
    const columnPx = grid.clientWidth / columns;
    let to: Place | undefined;
    handle.onpointermove = (move) => {
      const across = stepped((move.clientX - clientX) / columnPx, columnStep);
      const down = stepped((move.clientY - clientY) / rowPx, rowStep);
      to = apply(across, down);
      onDrag(to);
    };
    handle.onlostpointercapture = () => {
      handle.onpointermove = null;
      handle.onlostpointercapture = null;
      onDrag(undefined);
      if (to) onPlace(to);
    };
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = keySteps[event.key];
    if (!step) return;
    event.preventDefault();
    const [across, down] = step;
    onPlace(
      event.shiftKey
        ? { ...place, w: place.w + across, h: place.h + down }
        : { ...place, x: place.x + across, y: place.y + down },
    );
  };
  const name = tile.title || 'tile';
  return (
    <>
      <button
        type="button"
        class="quiet tile-move"
        aria-label={`Move ${name}: arrow keys move it, Shift with arrow keys sizes it`}
        title="Drag to move. Arrow keys move, Shift and arrow keys size."
        onKeyDown={onKeyDown}
        onPointerDown={(event) =>
          drag(event, (across, down) => ({ ...place, x: place.x + across, y: place.y + down }))
        }
      >
        <Icon name="drag" />
      </button>
      <span
        class="tile-size"
        aria-hidden="true"
        onPointerDown={(event) =>
          drag(event, (across, down) => ({ ...place, w: place.w + across, h: place.h + down }))
        }
      />
    </>
  );
}

function stepped(value: number, step: number): number {
  return Math.round(value / step) * step;
}
