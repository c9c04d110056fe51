// Finds the place of a byte of a body in its request: an event's index and a path. Runs only for refused bodies, and
// only for bodies that are JSON.

import { propertyPath, shown } from '../violation-path.ts';

interface TextPlace {
  /** The event's place in the request, from 0; -1 where the byte is in no event. */
  index: number;
  /** The path inside the event, or inside the request where index is -1. */
  field: string;
}

interface Level {
  isObject: boolean;
  name: string;
  position: number;
}

/** Whole strings, and the characters that open, close and separate. */
const token = /"(?:[^"\\]|\\.)*"|[[\]{},]/gs;

/** The place of the token that holds the byte at `offset`. */
export function placeInText(body: Uint8Array, offset: number): TextPlace {
  const text = new TextDecoder().decode(body);
  const target = new TextDecoder().decode(body.subarray(0, offset)).length;
  const levels: Level[] = [];
  for (const { 0: found, index } of text.matchAll(token)) {
    if (index > target) break;
    const level = levels.at(-1);
    if (found === '{' || found === '[') {
      levels.push({ isObject: found === '{', name: '', position: 0 });
    } else if (found === '}' || found === ']') levels.pop();
    else if (level === undefined) continue;
    else if (found === ',') level.position++;
    else if (level.isObject && isName(text, index + found.length)) level.name = textOf(found);
  }
  return placeOf(levels);
}

function isName(text: string, end: number): boolean {
  return /^\s*:/.test(text.slice(end, text.indexOf(':', end) + 1));
}

function textOf(found: string): string {
  const value: unknown = JSON.parse(found);
  return typeof value === 'string' ? value : '';
}

function placeOf(levels: readonly Level[]): TextPlace {
  const [root, list, event, properties, value] = levels;
  if (root?.name !== 'events' || list === undefined || list.isObject) {
    return { index: -1, field: shown(root?.name || 'body') };
  }
  if (event === undefined) return { index: -1, field: 'events' };
  const map =
    properties?.isObject === true
      ? propertyPath(shown(event.name), properties.name)
      : shown(event.name);
  const variant = value?.isObject === true ? `.${shown(value.name)}` : '';
  return { index: list.position, field: `${map}${variant}` };
}
