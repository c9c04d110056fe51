// The field of a statement: line numbers, Tab indents, Ctrl and Enter runs. Esc and then Tab leaves it, so that nobody
// is held in it.

import type { RefObject } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';
import { brokenLine, type Edit, indented, outdented } from './editor-keys.ts';

const leastRows = 9;
const mostRows = 24;
/** What POST /sql takes. */
const maxCharacters = 262_144;

export function SqlEditor(props: {
  area: RefObject<HTMLTextAreaElement | null>;
  value: string;
  onValue: (value: string) => void;
  onRun: () => void;
  /** The line of the fault. */
  badLine: number | undefined;
}) {
  const { area, value, onValue, onRun, badLine } = props;
  const numbers = useRef<HTMLDivElement>(null);
  const isLeaving = useRef(false);
  const lines = value.split('\n').length;
  const follow = (): void => {
    if (numbers.current && area.current) numbers.current.scrollTop = area.current.scrollTop;
  };
  useLayoutEffect(follow, [value]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const field = area.current;
    if (!field) return;
    const isAlone = !event.ctrlKey && !event.metaKey && !event.altKey;
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      onRun();
    } else if (event.key === 'Tab' && isAlone && !isLeaving.current) {
      event.preventDefault();
      const change = event.shiftKey ? outdented : indented;
      apply(field, change(field.value, field.selectionStart, field.selectionEnd));
    } else if (event.key === 'Enter' && isAlone && !event.shiftKey && !event.isComposing) {
      event.preventDefault();
      apply(field, brokenLine(field.value, field.selectionStart, field.selectionEnd));
    }
    // Shift is pressed before Tab.
    if (event.key !== 'Shift') isLeaving.current = event.key === 'Escape';
  };
  return (
    <div class="sql-editor">
      <div class="sql-lines" ref={numbers} aria-hidden="true">
        {Array.from({ length: lines }, (_, index) => (
          <span key={index} data-bad={index + 1 === badLine}>
            {index + 1}
          </span>
        ))}
      </div>
      <textarea
        ref={area}
        aria-label="Statement"
        aria-describedby="sql-keys"
        aria-invalid={badLine === undefined ? undefined : true}
        wrap="off"
        spellcheck={false}
        autocomplete="off"
        autocapitalize="off"
        maxLength={maxCharacters}
        rows={Math.min(Math.max(lines + 1, leastRows), mostRows)}
        value={value}
        onInput={(event) => onValue(event.currentTarget.value)}
        onKeyDown={onKeyDown}
        onScroll={follow}
        onBlur={() => (isLeaving.current = false)}
      />
    </div>
  );
}

/** Changes the field as typing does, so that the browser's undo takes it back. Nothing for undefined. */
export function apply(field: HTMLTextAreaElement, edit: Edit | undefined): void {
  if (edit === undefined) return;
  field.focus();
  field.setSelectionRange(edit.from, edit.to);
  // The one way that undo knows of; every browser has it, whatever the standard calls it.
  const isDone = document.execCommand(edit.text === '' ? 'delete' : 'insertText', false, edit.text);
  if (!isDone) {
    field.setRangeText(edit.text);
    field.dispatchEvent(new Event('input', { bubbles: true }));
  }
  field.setSelectionRange(...edit.selection);
}
