// Writes the properties of one event as JSON text of the typed shape. Whatever value an SDK sends fits: what is too
// long is cut and named in `$cut`, what nests becomes JSON text. The rules of events are checked later, on whole texts.

import { isObject } from '../../../platform/json.ts';
import {
  hasMoreCodePoints,
  maxBodyDepth,
  maxPropertiesPerMap,
  maxPropertyKeyCodePoints,
  maxStringValueCodePoints,
} from '../../../platform/limits.ts';
import { setBounded } from '../../../platform/memory/bounded-map.ts';
import { parseTimestamp } from '../../validation/text/checked-timestamp.ts';

/** Texts that JSON writes as they are. */
const plain = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const surrogate = /\p{Surrogate}/gu;
/** What Date's toJSON writes: SDKs send a Date in this form, and hardly anybody else writes one. */
const writtenDate = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const writtenDateLength = 24;
/** The caller's address, which is written nowhere. */
const addressKeys: ReadonlySet<string> = new Set(['$ip', 'ip', 'ip_address', 'ipAddress']);
/** Room in a map for the names that are added last. */
const ownKeys = 2;

interface Name {
  /** As it is written. */
  key: string;
  isAuto: boolean;
  isAddress: boolean;
  /** `"key":`, and the same behind another property. */
  first: string;
  next: string;
}

/** Programs use the same names again and again, and each part of such a text costs as much as its value. */
const remembered = new Map<string, Name>();
const maxRemembered = 2_000;

function nameOf(name: string): Name {
  const known = remembered.get(name);
  if (known !== undefined) return known;
  const key = name === '' ? '_' : cutTo(name, maxPropertyKeyCodePoints);
  const first = `${quoted(key)}:`;
  const made = {
    ...{ key, first, next: `,${first}` },
    ...{ isAuto: key.startsWith('$'), isAddress: addressKeys.has(name) },
  };
  // A longer one would be kept whole as the map's key.
  if (key === name) setBounded(remembered, name, made, maxRemembered);
  return made;
}

/** JSON text of a string; half a surrogate pair, which JSON of ours may not hold, becomes U+FFFD. */
export function quoted(text: string): string {
  if (plain.test(text)) return `"${text}"`;
  return JSON.stringify(text.replace(surrogate, '\ufffd'));
}

/** The first code points of a text, as many as a property may have. */
export function cutTo(text: string, maxCodePoints: number): string {
  if (!hasMoreCodePoints(text, maxCodePoints)) return text;
  let end = 0;
  for (let count = 0; count < maxCodePoints; count++) {
    end += (text.codePointAt(end) ?? 0) > 0xffff ? 2 : 1;
  }
  return text.slice(0, end);
}

export class PropertyText {
  readonly #names = new Set<string>();
  #auto = '';
  #autoCount = 0;
  #custom = '';
  #customCount = 0;
  #cut = '';

  /** Adds a property under its own name, `$` names to the automatic ones. The first of a name stays. */
  put(name: string, value: unknown): void {
    if (value === undefined || value === null) return;
    const known = nameOf(name);
    if (known.isAddress || this.#names.has(name)) return;
    const { key } = known;
    if (key !== name) this.#noteCut(key);
    if (!this.#hasRoom(known.isAuto)) {
      this.#noteCut(key);
      return;
    }
    const text = this.#valueText(key, value);
    if (text === undefined) return;
    this.#names.add(name);
    if (key !== name) {
      if (this.#names.has(key)) return;
      this.#names.add(key);
    }
    this.#add(known, text);
  }

  /** Adds a property whose column holds texts. */
  putText(name: string, value: unknown): void {
    const isText = typeof value === 'string' || typeof value === 'number';
    if (isText && value !== '') this.put(name, String(value));
  }

  /** Adds a value whose type the source tells: `text` is the JSON of a PropertyValue. The first of a name stays. */
  putTyped(name: string, text: string): void {
    const known = nameOf(name);
    if (this.#names.has(name)) return;
    if (known.key !== name || !this.#hasRoom(known.isAuto)) {
      this.#noteCut(known.key);
      return;
    }
    this.#names.add(name);
    this.#add(known, text);
  }

  /** Adds all members of an object. */
  putAll(members: unknown): void {
    if (!isObject(members)) return;
    for (const name in members) this.put(name, members[name]);
  }

  has(name: string): boolean {
    return this.#names.has(name);
  }

  /** `"autoProperties":{…},"customProperties":{…}`. `name` is the event's own, where its kind does not say it. */
  text(name: string | undefined): string {
    if (name !== undefined) this.#addOwn('$name', name);
    if (this.#cut !== '') this.#addOwn('$cut', this.#cut);
    return `"autoProperties":{${this.#auto}},"customProperties":{${this.#custom}}`;
  }

  #addOwn(key: string, value: string): void {
    if (this.#names.has(key)) return;
    this.#names.add(key);
    this.#add(nameOf(key), stringText(cutTo(value, maxStringValueCodePoints)));
  }

  #hasRoom(isAuto: boolean): boolean {
    return isAuto
      ? this.#autoCount < maxPropertiesPerMap - ownKeys
      : this.#customCount < maxPropertiesPerMap;
  }

  #add({ isAuto, first, next }: Name, text: string): void {
    if (isAuto) this.#auto += (this.#autoCount++ === 0 ? first : next) + text;
    else this.#custom += (this.#customCount++ === 0 ? first : next) + text;
  }

  #noteCut(key: string): void {
    if (this.#cut.length > maxStringValueCodePoints) return;
    this.#cut += this.#cut === '' ? key : `, ${key}`;
  }

  #valueText(key: string, value: unknown): string | undefined {
    switch (typeof value) {
      case 'string':
        return this.#stringText(key, value);
      case 'boolean':
        return `{"boolValue":${value}}`;
      case 'number':
        if (Number.isSafeInteger(value)) return `{"intValue":"${value}"}`;
        return Number.isFinite(value) ? `{"doubleValue":${value}}` : undefined;
      case 'object':
        if (isDeep(value, maxBodyDepth)) {
          this.#noteCut(key);
          return undefined;
        }
        return this.#cutText(key, JSON.stringify(value, withoutAddress));
      default:
        return undefined;
    }
  }

  #stringText(key: string, value: string): string {
    const isDate =
      value.length === writtenDateLength &&
      writtenDate.test(value) &&
      !Number.isNaN(parseTimestamp(value));
    return isDate ? `{"timestampValue":"${value}"}` : this.#cutText(key, value);
  }

  #cutText(key: string, value: string): string {
    const text = cutTo(value, maxStringValueCodePoints);
    if (text !== value) this.#noteCut(key);
    return stringText(text);
  }
}

function stringText(text: string): string {
  return plain.test(text) ? `{"stringValue":"${text}"}` : `{"stringValue":${quoted(text)}}`;
}

/** For JSON.stringify: an object loses its caller's address, however deep it is. */
function withoutAddress(key: string, value: unknown): unknown {
  return addressKeys.has(key) ? undefined : value;
}

/** Whether objects and lists lie in one another more than `levels` times. */
export function isDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const inner of Object.values(value)) if (isDeep(inner, levels - 1)) return true;
  return false;
}
