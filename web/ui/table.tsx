// A table that holds any number of rows: only those in sight are in the document. Rows are 34 px high, so that a
// position is a multiplication.

import type { ComponentChildren } from 'preact';
import { useEffect, useId, useLayoutEffect, useRef, useState } from 'preact/hooks';

export type Column<T> = {
  name: string;
  /** Tells columns of one name apart. */
  id?: string;
  /** Stands at the right edge of its head. */
  edge?: ComponentChildren;
  /** A share of the width for columns that may shrink, or a width in px. */
  width?: string;
  isNumber?: boolean;
  /** What `onSort` gets for it; a column without one cannot be sorted by. */
  order?: string;
  cell: (row: T) => ComponentChildren;
};

export type Sorting = { order: string; isAscending: boolean; onSort: (order: string) => void };

const rowPx = 34;
/** Above and below the window, so that a quick scroll shows no hole. */
const spareRows = 8;

type TableProps<T> = {
  label: string;
  rows: readonly T[];
  columns: readonly Column<T>[];
  rowKey: (row: T) => string;
  onOpen?: (row: T) => void;
  onEnd?: () => void;
  height?: string;
  /** Rows that the service knows, where it is more than those loaded. */
  total?: number;
  /** How the rows are sorted, by whoever reads them. */
  sorting?: Sorting;
};

/** `onOpen` makes rows selectable by click, Enter and arrow keys. `onEnd` is called when the end comes near. */
export function Table<T>(props: TableProps<T>) {
  const { rows, columns, onOpen } = props;
  const box = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 600 });
  const [at, setAt] = useState(0);
  const id = useId();
  const look = (): void => {
    const element = box.current;
    if (element) setView({ top: element.scrollTop, height: element.clientHeight });
  };
  useLayoutEffect(look, [rows.length]);
  const first = Math.max(0, Math.floor(view.top / rowPx) - spareRows);
  const last = Math.min(rows.length, Math.ceil((view.top + view.height) / rowPx) + spareRows);
  useEffect(() => {
    if (rows.length > 0 && last >= rows.length - spareRows) props.onEnd?.();
  }, [last, rows.length]);
  const move = (to: number): void => {
    const next = Math.max(0, Math.min(rows.length - 1, to));
    setAt(next);
    if (box.current) scrollTo(box.current, next * rowPx);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const to = stepOf(event.key, at, Math.floor(view.height / rowPx) - 1, rows.length - 1);
    const row = rows[at];
    if (to !== undefined) move(to);
    else if (event.key === 'Enter' && row !== undefined && event.target === box.current)
      onOpen?.(row);
    else return;
    event.preventDefault();
  };
  const template = columns.map(({ width }) => width ?? 'minmax(110px, 1fr)').join(' ');
  return (
    <div
      ref={box}
      class="table"
      role="grid"
      style={{ '--columns': template, ...(props.height ? { '--table-height': props.height } : {}) }}
      tabIndex={0}
      aria-label={props.label}
      aria-rowcount={(props.total ?? rows.length) + 1}
      aria-activedescendant={onOpen && rows[at] !== undefined ? `${id}-${at}` : undefined}
      onScroll={look}
      onKeyDown={onKeyDown}
    >
      {headOf(columns, props.sorting)}
      <Spacer rows={first} />
      {rows.slice(first, last).map((row, offset) => {
        const index = first + offset;
        return (
          <div
            key={props.rowKey(row)}
            id={`${id}-${index}`}
            class="table-row"
            role="row"
            aria-rowindex={index + 2}
            data-at={onOpen && index === at}
            data-opens={onOpen !== undefined}
            onClick={() => {
              setAt(index);
              onOpen?.(row);
            }}
          >
            {cellsOf(columns, row)}
          </div>
        );
      })}
      <Spacer rows={rows.length - last} />
    </div>
  );
}

/** Brings a row below the head into sight. */
function scrollTo(box: HTMLElement, top: number): void {
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + 2 * rowPx > box.scrollTop + box.clientHeight)
    box.scrollTop = top + 2 * rowPx - box.clientHeight;
}

/** The row that a key leads to; undefined where it leads to none. */
function stepOf(key: string, at: number, page: number, last: number): number | undefined {
  const steps: Record<string, number> = {
    ArrowDown: at + 1,
    ArrowUp: at - 1,
    PageDown: at + page,
    PageUp: at - page,
    Home: 0,
    End: last,
  };
  return steps[key];
}

function headOf<T>(columns: readonly Column<T>[], sorting: Sorting | undefined): ComponentChildren {
  return (
    <div class="table-head" role="row" aria-rowindex={1}>
      {columns.map((column) => (
        <Head key={column.id ?? column.name} {...column} sorting={sorting} />
      ))}
    </div>
  );
}

function cellsOf<T>(columns: readonly Column<T>[], row: T): ComponentChildren {
  return columns.map(({ name, id, isNumber, cell }) => (
    <span key={id ?? name} role="gridcell" class={isNumber ? 'number' : 'clip'}>
      {cell(row)}
    </span>
  ));
}

function Head(props: {
  name: string;
  isNumber?: boolean;
  order?: string;
  edge?: ComponentChildren;
  sorting: Sorting | undefined;
}) {
  const { name, order, sorting } = props;
  const style = props.isNumber ? 'number' : '';
  if (props.edge)
    return (
      <span role="columnheader" class="edged" aria-label={name}>
        <span class="clip" title={name}>
          {name}
        </span>
        {props.edge}
      </span>
    );
  if (!sorting || order === undefined)
    return (
      <span role="columnheader" class={style}>
        {name}
      </span>
    );
  const isSorted = sorting.order === order;
  const way = sorting.isAscending ? 'ascending' : 'descending';
  return (
    <span role="columnheader" class={style} aria-sort={isSorted ? way : 'none'}>
      <button type="button" class="sort" onClick={() => sorting.onSort(order)}>
        {name}
        {isSorted ? (
          <span aria-hidden="true">{sorting.isAscending ? '\u00a0↑' : '\u00a0↓'}</span>
        ) : null}
      </button>
    </span>
  );
}

/** Takes the place of rows that are out of sight. */
function Spacer({ rows }: { rows: number }) {
  return <div role="presentation" style={{ height: `${rows * rowPx}px` }} />;
}
