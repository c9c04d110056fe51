// Finds faults in the text of a JSON body that JSON.parse hides: a member given twice, half a surrogate pair written as
// an escape, digits that a number lost. Takes valid JSON only.

import { maxBodyDepth, maxMembersPerObject } from '../../../platform/limits.ts';
import {
  backslash,
  closeBrace,
  closeBracket,
  colon,
  comma,
  minus,
  openBrace,
  openBracket,
  quote,
  space,
  zero,
} from '../../../proto/wire/json-characters.ts';
import type { Rule } from '../../../proto/wire/rules.ts';
import { propertyPath, shown } from '../../../proto/wire/violation-path.ts';
import { variantNamed } from '../property.ts';
import type { Violation } from '../violation.ts';

/** Decides which numbers are int64: intValue in the typed shape, whole numbers in the properties of the short one. */
export type Shape = 'typed' | 'short';

/** An open object, with its names so far and the current name, or an open array, with the position. */
interface Level {
  names: Set<string> | undefined;
  name: string;
  position: number;
}

/** The first violation in `text`, or undefined. Takes about as long as JSON.parse. */
export function checkText(text: string, shape: Shape): Violation | undefined {
  const levels: Level[] = [];
  let level: Level | undefined;
  for (let at = 0; at < text.length; ) {
    switch (text.charCodeAt(at)) {
      case openBrace:
      case openBracket:
        if (levels.length === maxBodyDepth) return { index: -1, field: 'body', rule: 'body_depth' };
        level = newLevel(text.charCodeAt(at) === openBrace);
        levels.push(level);
        at++;
        break;
      case closeBrace:
      case closeBracket:
        levels.pop();
        level = levels.at(-1);
        at++;
        break;
      case comma:
        if (level !== undefined) level.position++;
        at++;
        break;
      case quote: {
        const end = endOfString(text, at);
        const rule = checkString(text, at, end, level);
        if (rule !== undefined) return violationAt(levels, rule);
        at = end;
        break;
      }
      case minus:
      case zero:
      case zero + 1:
      case zero + 2:
      case zero + 3:
      case zero + 4:
      case zero + 5:
      case zero + 6:
      case zero + 7:
      case zero + 8:
      case zero + 9: {
        const end = endOfNumber(text, at);
        if (isLossyInt(text, at, end, levels, shape)) return violationAt(levels, 'int64_number');
        at = end;
        break;
      }
      default:
        at++;
    }
  }
  return undefined;
}

function newLevel(isObject: boolean): Level {
  return { names: isObject ? new Set() : undefined, name: '', position: 0 };
}

/** The index after the closing quote of the string that opens at `start`. */
function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (isEscaped(text, end)) end = text.indexOf('"', end + 1);
  return end + 1;
}

/** Whether an odd number of backslashes precedes `at`. */
function isEscaped(text: string, at: number): boolean {
  let first = at;
  while (text.charCodeAt(first - 1) === backslash) first--;
  return (at - first) % 2 === 1;
}

function endOfNumber(text: string, at: number): number {
  while (/[-+.0-9eE]/.test(text.charAt(at))) at++;
  return at;
}

function checkString(
  text: string,
  start: number,
  end: number,
  level: Level | undefined,
): Rule | undefined {
  const raw = text.slice(start + 1, end - 1);
  const hasEscapes = raw.includes('\\');
  const value = hasEscapes ? String(JSON.parse(text.slice(start, end))) : raw;
  if (level?.names !== undefined && isName(text, end)) {
    level.name = value;
    if (level.names.size === maxMembersPerObject) return 'members_count';
    if (level.names.has(value)) return 'member_once';
    level.names.add(value);
  }
  return hasEscapes && /\p{Surrogate}/u.test(value) ? 'body_unicode' : undefined;
}

/** A string is a member's name where a colon follows. */
function isName(text: string, end: number): boolean {
  while (text.charCodeAt(end) <= space) end++;
  return text.charCodeAt(end) === colon;
}

function isLossyInt(
  text: string,
  start: number,
  end: number,
  levels: readonly Level[],
  shape: Shape,
): boolean {
  if (levels.length !== (shape === 'typed' ? 5 : 4)) return false;
  const token = text.slice(start, end);
  const [root, , event, properties, value] = levels;
  if (root?.name !== 'events' || event === undefined || properties === undefined) return false;
  if (shape === 'short') {
    return (
      event.name === 'properties' &&
      /^-?[0-9]+$/.test(token) &&
      !Number.isSafeInteger(Number(token))
    );
  }
  const isMap = /^(auto|custom)(Properties|_properties)$/.test(event.name);
  return isMap && variantNamed(value?.name ?? '') === 'intValue' && !isIntegral(token);
}

/** Whether a JSON number as written, with all its digits, is whole. */
function isIntegral(token: string): boolean {
  const [mantissa = '', exponent = '0'] = token.replace(/^-/, '').toLowerCase().split('e');
  const [whole = '', fraction = ''] = mantissa.split('.');
  const digits = whole + fraction;
  // An expression such as /0+$/ would take time that grows with the square of a run of zeros.
  let end = digits.length;
  while (digits.charCodeAt(end - 1) === zero) end--;
  const droppedZeros = digits.length - end;
  return end === 0 || Number(exponent) - fraction.length + droppedZeros >= 0;
}

/** Names the current place of the walk as event-rules.ts names places. */
function violationAt(levels: readonly Level[], rule: Rule): Violation {
  const [root, list, event, properties, value] = levels;
  if (root?.name !== 'events' || list === undefined || list.names !== undefined) {
    return { index: -1, field: shown(root?.name || 'body'), rule };
  }
  if (event === undefined) return { index: -1, field: 'events', rule };
  const map =
    properties?.names === undefined
      ? shown(event.name)
      : propertyPath(shown(event.name), properties.name);
  const variant = value?.names === undefined ? '' : `.${shown(value.name)}`;
  return { index: list.position, field: `${map}${variant}`, rule };
}
