// Chooses the columns of stored events and their order. What is pressed is shown at once, and kept.

import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import { figure } from '../../platform/words/figures.ts';
import { PropertySource } from '../../proto/gen/common/v1/filter_pb.js';
import { Field } from '../fields/field.tsx';
import { useSchema } from '../filter/schema.ts';
import { Dialog } from '../ui/dialog.tsx';
import { Fault } from '../ui/fault.tsx';
import { Icon } from '../ui/icon.tsx';
import { Loading } from '../ui/loading.tsx';
import { columnName } from './columns.tsx';
import {
  fieldIds,
  maxColumns,
  moved,
  propertyId,
  propertyOf,
  type ShownColumn,
  toggled,
  usualColumns,
} from './shown-columns.ts';

/** In the list below; a text finds the others. */
const maxOffered = 100;

type Part = 'check' | 'up' | 'down';
type Focus = { id: string; part: Part };

export function ColumnsDialog(props: {
  columns: readonly ShownColumn[];
  onChange: (next: readonly ShownColumn[]) => void;
  onClose: () => void;
}) {
  const { columns, onChange } = props;
  const [text, setText] = useState('');
  const box = useRef<HTMLDivElement>(null);
  const pressed = useRef<Focus | undefined>(undefined);
  // What was pressed moves, or goes to the other list: the focus goes with it.
  useLayoutEffect(() => {
    if (box.current && pressed.current) focusOn(box.current, pressed.current);
    pressed.current = undefined;
  }, [columns]);
  const change = (next: readonly ShownColumn[], id: string, part: Part): void => {
    pressed.current = { id, part };
    onChange(next);
  };
  const toggle = (id: string): void => change(toggled(columns, id), id, 'check');
  const isFull = columns.length >= maxColumns;
  return (
    <Dialog title="Columns" onClose={props.onClose}>
      <div class="stack columns-choice" ref={box}>
        <fieldset>
          <legend>Shown</legend>
          <ol>
            {columns.map(({ id }, at) => (
              <li key={id} data-column={id}>
                <Check id={id} isShown isFixed={columns.length === 1} onToggle={toggle} />
                <Move
                  {...{ id, part: 'up', isFixed: at === 0 }}
                  onMove={() => change(moved(columns, id, -1), id, 'up')}
                />
                <Move
                  {...{ id, part: 'down', isFixed: at === columns.length - 1 }}
                  onMove={() => change(moved(columns, id, 1), id, 'down')}
                />
              </li>
            ))}
          </ol>
        </fieldset>
        <p class="hint" role="status">
          {isFull
            ? `${maxColumns} columns at most: take one away to add another.`
            : `${columns.length} of at most ${maxColumns} columns.`}
        </p>
        <Field label="Filter columns" type="search" value={text} onValue={setText} />
        <Offered columns={columns} text={text} isFull={isFull} onToggle={toggle} />
        <div class="row end">
          <button type="button" onClick={() => onChange(usualColumns)}>
            Usual columns
          </button>
          <button type="button" class="primary" onClick={props.onClose}>
            Done
          </button>
        </div>
      </div>
    </Dialog>
  );
}

function Offered(props: {
  columns: readonly ShownColumn[];
  text: string;
  isFull: boolean;
  onToggle: (id: string) => void;
}) {
  const { columns, isFull, onToggle } = props;
  const schema = useSchema();
  const text = props.text.trim().toLowerCase();
  const properties = (schema.data?.properties ?? []).flatMap(({ property, source }) =>
    source === PropertySource.PROFILE ? [] : propertyId(property),
  );
  const found = [...fieldIds, ...properties].filter(
    (id) =>
      !columns.some((one) => one.id === id) &&
      `${columnName(id)} ${propertyOf(id) ?? ''}`.toLowerCase().includes(text),
  );
  return (
    <fieldset>
      <legend>More</legend>
      <ul>
        {found.slice(0, maxOffered).map((id) => (
          <li key={id} data-column={id}>
            <Check id={id} isFixed={isFull} onToggle={onToggle} />
          </li>
        ))}
      </ul>
      {schema.data ? null : schema.error ? (
        <Fault cause={schema.error} retry={schema.reload} />
      ) : (
        <Loading of="properties" />
      )}
      {schema.data && found.length === 0 ? <p class="hint">No other column.</p> : null}
      {found.length > maxOffered ? (
        <p class="hint">{`${figure(found.length - maxOffered)} more: filter to find them.`}</p>
      ) : null}
    </fieldset>
  );
}

function Check(props: {
  id: string;
  isShown?: boolean;
  isFixed: boolean;
  onToggle: (id: string) => void;
}) {
  const { id, isShown = false } = props;
  const raw = propertyOf(id);
  const name = columnName(id);
  return (
    <label class="check grow">
      <input
        type="checkbox"
        data-part="check"
        checked={isShown}
        disabled={props.isFixed}
        onChange={() => props.onToggle(id)}
      />
      <span class="clip">{name}</span>
      {raw === undefined || raw === name ? null : <small class="mono clip">{raw}</small>}
    </label>
  );
}

function Move(props: { id: string; part: 'up' | 'down'; isFixed: boolean; onMove: () => void }) {
  const label = `Move ${columnName(props.id)} ${props.part}`;
  return (
    <button
      type="button"
      class="quiet"
      data-part={props.part}
      aria-label={label}
      title={label}
      disabled={props.isFixed}
      onClick={props.onMove}
    >
      <Icon name={props.part} />
    </button>
  );
}

/** At an end of the list a button takes no focus: the other one does. What is gone leaves it to the field. */
function focusOn(box: HTMLElement, { id, part }: Focus): void {
  const items = [...box.querySelectorAll<HTMLElement>('[data-column]')];
  const item = items.find(({ dataset }) => dataset['column'] === id);
  const places = [
    item?.querySelector<HTMLElement>(`[data-part=${part}]:enabled`),
    item?.querySelector<HTMLElement>('button:enabled'),
    item?.querySelector<HTMLElement>('input:enabled'),
    box.querySelector<HTMLElement>('input[type=search]'),
  ];
  places.find((one) => one)?.focus();
}
