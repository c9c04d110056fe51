// A field with suggestions: typing narrows them, arrow keys walk them, and any other text may be taken as well. Until
// something is typed, all of them are shown; what is typed first takes the place of what the field held. A value that
// has a name is shown by it, with the value itself beside it.

import { useEffect, useId, useRef, useState } from 'preact/hooks';
import { foldCase } from './fold-case.ts';

/** `says` is a line that tells what the value means. Suggestions of one `group` follow each other below its name. */
export type Suggestion = {
  value: string;
  name?: string;
  note?: string | undefined;
  group?: string;
  says?: string | undefined;
};

const maxShown = 50;

type ComboProps = {
  label: string;
  value: string;
  suggestions: readonly Suggestion[];
  onValue: (value: string) => void;
  onTake?: (value: string) => void;
  placeholder?: string;
  hint?: string;
  /** The field was added just now: it takes the focus, because what is typed next is meant for it. */
  isNew?: boolean;
};

/** `onValue` is called for each letter typed and each suggestion taken; `onTake` for the latter and for Enter. */
export function Combo(props: ComboProps) {
  const id = useId();
  const field = useFocus(props.isNew);
  const [isOpen, setOpen] = useState(false);
  const [at, setAt] = useState(-1);
  // What the field held before says nothing about what it is to hold.
  const [typed, setTyped] = useState('');
  const fitting = fittingOf(props.suggestions, foldCase(typed));
  const isShown = isOpen && fitting.length > 0;
  const held = props.suggestions.find(({ value }) => value === props.value);
  const more = saysMore(id, props.hint, typed ? undefined : held);
  const close = (): void => {
    setTyped('');
    setOpen(false);
    setAt(-1);
  };
  const take = (value: string): void => {
    props.onValue(value);
    props.onTake?.(value);
    close();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') {
      setOpen(true);
      setAt(Math.min(at + 1, fitting.length - 1));
    } else if (event.key === 'ArrowUp') setAt(Math.max(at - 1, -1));
    else if (event.key === 'Enter' && isShown && fitting[at]) take(fitting[at].value);
    else if (event.key === 'Enter' && props.onTake && props.value) take(props.value);
    else if (event.key === 'Escape' && isShown) {
      // Closes the list alone, not the dialog around it.
      event.stopPropagation();
      setOpen(false);
    } else return;
    event.preventDefault();
  };
  return (
    <div class="field combo">
      <label for={id}>{props.label}</label>
      <input
        ref={field}
        id={id}
        type="text"
        role="combobox"
        autoComplete="off"
        aria-expanded={isShown}
        aria-controls={`${id}-list`}
        aria-autocomplete="list"
        aria-describedby={more ? `${id}-more` : undefined}
        aria-activedescendant={isShown && at >= 0 ? `${id}-${at}` : undefined}
        placeholder={props.placeholder}
        value={typed || (held?.name ?? props.value)}
        onInput={({ currentTarget: { value: text } }) => {
          props.onValue(meantBy(text, props.suggestions));
          setTyped(text);
          setOpen(true);
          setAt(-1);
        }}
        onMouseDown={focusWhole}
        onFocus={(event) => {
          event.currentTarget.select();
          setOpen(true);
        }}
        onBlur={close}
        onKeyDown={onKeyDown}
      />
      {listOf({ id, at, isShown, fitting, take, label: props.label })}
      {more}
    </div>
  );
}

/** The hint, and beside the label the value that the field shows by its name. */
function saysMore(id: string, hint = '', held?: Suggestion) {
  const isNamed = held?.name !== undefined && held.name !== held.value;
  if (!hint && !isNamed) return null;
  return (
    <div id={`${id}-more`} class="combo-more">
      {isNamed ? <small class="combo-value clip">{held.value}</small> : null}
      {hint ? <p class="hint">{hint}</p> : null}
    </div>
  );
}

/** A new field has the focus as it appears. */
function useFocus(isNew = false) {
  const field = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (isNew) field.current?.focus();
  }, []);
  return field;
}

/** The press would put the caret between the letters that the focus selects. */
function focusWhole(event: Event): void {
  const field = event.currentTarget;
  if (field === document.activeElement || !(field instanceof HTMLElement)) return;
  event.preventDefault();
  field.focus();
}

/**
 * The value whose name this is, letter by letter, where no other value has it; else the text itself: `country` may be a
 * property that has not come yet, where `$country` is "Country".
 */
function meantBy(text: string, suggestions: readonly Suggestion[]): string {
  if (suggestions.some(({ value }) => value === text)) return text;
  const [named, ...others] = suggestions.filter(({ name }) => name === text);
  return named && others.length === 0 ? named.value : text;
}

/** `text` is in the form that letters of any case have in common. */
function fittingOf(suggestions: readonly Suggestion[], text: string): Suggestion[] {
  const fits = (one: string): boolean => foldCase(one).includes(text);
  return suggestions
    .filter(({ value, name }) => fits(value) || fits(name ?? ''))
    .slice(0, maxShown);
}

/** `first`: the place of its first one in the whole list. */
type Group = { group: string | undefined; first: number; rows: Suggestion[] };

function groupsOf(fitting: readonly Suggestion[]): Group[] {
  const groups: Group[] = [];
  for (const [first, row] of fitting.entries()) {
    const last = groups.at(-1);
    if (last && last.group === row.group) last.rows.push(row);
    else groups.push({ group: row.group, first, rows: [row] });
  }
  return groups;
}

/** `at` is the one that arrow keys have walked to; -1 where there is none. */
type List = {
  id: string;
  label: string;
  isShown: boolean;
  fitting: readonly Suggestion[];
  at: number;
  take: (value: string) => void;
};

function listOf(list: List) {
  return (
    <div id={`${list.id}-list`} role="listbox" aria-label={list.label} hidden={!list.isShown}>
      {groupsOf(list.fitting).map(({ group, first, rows }) =>
        group === undefined ? (
          rows.map((row, index) => optionOf(list, row, first + index))
        ) : (
          <div key={group} role="group" aria-label={group}>
            <div class="group-name" aria-hidden="true">
              {group}
            </div>
            {rows.map((row, index) => optionOf(list, row, first + index))}
          </div>
        ),
      )}
    </div>
  );
}

function optionOf({ id, at, take }: List, { value, name, note, says }: Suggestion, index: number) {
  return (
    <div
      key={value}
      id={`${id}-${index}`}
      role="option"
      aria-selected={index === at}
      // Before the field loses the focus, and with it the list.
      onPointerDown={(event) => {
        event.preventDefault();
        take(value);
      }}
    >
      <span class="clip grow">
        {name ?? value}
        {says ? <small class="says">{says}</small> : null}
      </span>
      {note ? <small>{note}</small> : null}
    </div>
  );
}
