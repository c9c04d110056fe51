// Reads single values of other vendors' requests: ids, times of each unit, JSON in a text. Knows no family.

import { isObject, type JsonObject } from '../../../platform/json.ts';
import { parseTimestamp } from '../../validation/text/checked-timestamp.ts';
import { readCheckedJson } from './checked-json.ts';

/** The text of an id, which may be a number; undefined where there is none. */
export function idText(value: unknown): string | undefined {
  if (typeof value === 'string') return value === '' ? undefined : value;
  return typeof value === 'number' && Number.isFinite(value) ? String(value) : undefined;
}

export function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}

/** Longer texts are no times. */
const maxTimeCharacters = 40;
/** A time without a zone, which is UTC's: Date would read it by the zone of the machine. */
const zoneless = /^\d{4}-\d\d-\d\d[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/;
/** An offset of whole hours, as Postgres writes it: behind a `T` Date reads none without minutes. */
const shortOffset = /(T\d\d:\d\d:\d\d(?:\.\d+)?[+-]\d\d)$/;

/** Milliseconds of an ISO time, or of a number of milliseconds; undefined where it is neither. */
export function timeMsOf(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? Math.round(value) : undefined;
  if (typeof value !== 'string' || value.length > maxTimeCharacters) return undefined;
  // Of the forms that Date reads, the one that nearly all write takes it several times as long.
  const writtenMs = parseTimestamp(value);
  if (!Number.isNaN(writtenMs)) return writtenMs;
  const whole = zoneless.test(value) ? `${value}Z` : value.replace(shortOffset, '$1:00');
  const ms = /^\d{10,16}$/.test(value) ? Number(value) : Date.parse(whole);
  return Number.isNaN(ms) ? undefined : ms;
}

/** Numbers below are seconds until the year 2286, and milliseconds from 1970-04-26 on. */
const secondsEnd = 10_000_000_000;

/** Milliseconds of a number of seconds, with a fraction or not, or of milliseconds. */
export function secondsOrMs(value: unknown): number | undefined {
  if (typeof value !== 'number') return timeMsOf(value);
  return timeMsOf(value < secondsEnd ? value * 1_000 : value);
}

/** The members of an object, or of an object's JSON text; undefined where it is neither. */
export function objectIn(value: unknown): JsonObject | undefined {
  const parsed = typeof value === 'string' ? parsedJson(value) : value;
  return isObject(parsed) ? parsed : undefined;
}

/** The value of base64 JSON, in the usual alphabet or in that of URLs. */
export function base64Json(text: unknown): unknown {
  return typeof text === 'string' ? parsedJson(Buffer.from(text, 'base64')) : undefined;
}

/** Undefined where the text is no JSON that keeps the rules of bodies. */
export function parsedJson(text: string | Buffer): unknown {
  const read = readCheckedJson(typeof text === 'string' ? Buffer.from(text) : text);
  return read.kind === 'parsed' ? read.value : undefined;
}
