// What keys do to the text of the editor, as edits: a part of the text, what comes in its place, and what is selected
// afterwards.

import type { Place } from '../statement-failure.ts';

export interface Edit {
  from: number;
  to: number;
  text: string;
  /** Of the whole text after the edit. */
  selection: readonly [start: number, end: number];
}

const step = '  ';

/** Tab: spaces at the caret; where several lines are selected, in front of each. */
export function indented(text: string, start: number, end: number): Edit {
  if (!text.slice(start, end).includes('\n')) {
    const after = start + step.length;
    return { from: start, to: end, text: step, selection: [after, after] };
  }
  const from = lineStart(text, start);
  const lines = text.slice(from, end).split('\n');
  const moved = lines.map((line) => step + line).join('\n');
  return { from, to: end, text: moved, selection: [from, from + moved.length] };
}

/** Shift and Tab: takes up to two spaces away in front of each line; undefined where there are none. */
export function outdented(text: string, start: number, end: number): Edit | undefined {
  const from = lineStart(text, start);
  const lineEnd = text.indexOf('\n', end);
  const to = lineEnd === -1 ? text.length : lineEnd;
  const before = text.slice(from, to);
  const lines = before.split('\n');
  const moved = lines.map((line) => line.replace(/^ {1,2}/, ''));
  const after = moved.join('\n');
  if (after === before) return undefined;
  const ofFirst = (lines[0]?.length ?? 0) - (moved[0]?.length ?? 0);
  const nextStart = Math.max(from, start - ofFirst);
  const nextEnd = Math.max(nextStart, end - (before.length - after.length));
  return { from, to, text: after, selection: [nextStart, nextEnd] };
}

/** Enter: the next line begins below this one. */
export function brokenLine(text: string, start: number, end: number): Edit {
  const [blank = ''] = /^ */.exec(text.slice(lineStart(text, start), start)) ?? [];
  const after = start + 1 + blank.length;
  return { from: start, to: end, text: `\n${blank}`, selection: [after, after] };
}

/** A name in place of what is selected. Of a map, the caret comes to the place of its key. */
export function inserted(start: number, end: number, name: string, isMap: boolean): Edit {
  const text = isMap ? `${name}['']` : name;
  const after = start + text.length - (isMap ? 2 : 0);
  return { from: start, to: end, text, selection: [after, after] };
}

function lineStart(text: string, at: number): number {
  return text.lastIndexOf('\n', at - 1) + 1;
}

/** Where a place is in the text; its nearest one where the text has no such line or column. */
export function offsetOf(text: string, { line, column }: Place): number {
  const lines = text.split('\n');
  const before = lines.slice(0, line - 1);
  const start = before.reduce((sum, one) => sum + one.length + 1, 0);
  return Math.min(start + Math.min(column - 1, lines[line - 1]?.length ?? 0), text.length);
}
