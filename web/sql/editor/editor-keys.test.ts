import { expect, it } from 'vitest';
import { brokenLine, type Edit, indented, inserted, offsetOf, outdented } from './editor-keys.ts';

/** The text after an edit, with its selection in brackets. */
function shown(text: string, edit: Edit | undefined): string | undefined {
  if (edit === undefined) return undefined;
  const after = text.slice(0, edit.from) + edit.text + text.slice(edit.to);
  const [start, end] = edit.selection;
  return `${after.slice(0, start)}[${after.slice(start, end)}]${after.slice(end)}`;
}

it('indents at the caret, and every line that is selected', () => {
  expect(shown('SELECT', indented('SELECT', 0, 0))).toBe('  []SELECT');
  expect(shown('abc', indented('abc', 1, 2))).toBe('a  []c');
  const text = 'SELECT\nkind,\nday\nFROM events';
  expect(shown(text, indented(text, 8, 16))).toBe('SELECT\n[  kind,\n  day]\nFROM events');
});

it('takes indentation back, at most two spaces of each line', () => {
  const text = 'SELECT\n    kind,\n day\nFROM';
  expect(shown(text, outdented(text, 12, 12))).toBe('SELECT\n  k[]ind,\n day\nFROM');
  expect(shown(text, outdented(text, 8, 19))).toBe('SELECT\n[  kind,\nd]ay\nFROM');
  expect(outdented(text, 2, 2)).toBeUndefined();
});

it('begins a line below the one before', () => {
  expect(shown('  kind', brokenLine('  kind', 6, 6))).toBe('  kind\n  []');
  expect(shown('  kind', brokenLine('  kind', 1, 1))).toBe(' \n [] kind');
});

it('puts names in place of what is selected, and asks for the key of a map', () => {
  expect(shown('SELECT x', inserted(7, 8, 'kind', false))).toBe('SELECT kind[]');
  expect(shown('SELECT ', inserted(7, 7, 'int_properties', true))).toBe(
    "SELECT int_properties['[]']",
  );
});

it('finds the place that a fault names', () => {
  const text = 'SELECT\n  count(\nFROM';
  expect(text.slice(offsetOf(text, { line: 2, column: 8 }))).toBe('(\nFROM');
  expect(offsetOf(text, { line: 1, column: 99 })).toBe(6);
  expect(offsetOf(text, { line: 9, column: 1 })).toBe(text.length);
});
