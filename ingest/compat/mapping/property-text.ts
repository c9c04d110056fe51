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

/** A property's name, and what it was last about: programs send the same names and values again and again. */
interface Name {
  /** As it is written. */
  key: string;
  isAuto: boolean;
  isAddress: boolean;
  /** `,"key":`, and with the beginning of a text. */
  start: string;
  textStart: string;
  /** The number of the event that had it last, which is quicker than a set of names for each event. */
  holder: number;
  /** The last short values, each at the place that `placeOf` tells, and the property's text with them. */
  values: unknown[];
  texts: string[];
}

/** By key. Where all texts are as long as they may be, it holds some 5 MB. */
const remembered = new Map<string, Name>();
const maxRemembered = 1_000;
const maxRememberedCharacters = 64;
/** Of a name. A power of two. */
const places = 8;

function makeName(key: string): Name {
  const start = flat(`,${quoted(key)}:`);
  return {
    ...{ key, isAuto: key.startsWith('$'), isAddress: addressKeys.has(key), holder: 0 },
    ...{ start, textStart: flat(`${start}{"stringValue":"`) },
    ...{
      values: new Array<unknown>(places).fill(undefined),
      texts: new Array<string>(places).fill(''),
    },
  };
}

/** Where a value is remembered; -1 where it is not: text is told by its length and its ends. */
function placeOf(value: unknown): number {
  if (typeof value === 'number') return value & (places - 1);
  if (typeof value !== 'string') return typeof value === 'boolean' ? Number(value) : -1;
  const { length } = value;
  if (length === 0 || length > maxRememberedCharacters) return -1;
  return (length + value.charCodeAt(0) + 3 * value.charCodeAt(length - 1)) & (places - 1);
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

/** How many events there were. */
let events = 0;
/** The event that properties are added to: it holds the names that say so. */
let current: PropertyText | undefined;

export class PropertyText {
  readonly #number = ++events;
  /** Names of the properties that it has, in their order. */
  readonly #held: Name[] = [];
  #auto = '';
  #autoCount = 0;
  #custom = '';
  #customCount = 0;
  #cut = '';

  /** Adds a property under its own name, `$` names to the automatic ones. The first of a name stays. */
  put(name: string, value: unknown): void {
    if (value === undefined || value === null) return;
    if (current !== this) this.#takeUp();
    const known = remembered.get(name) ?? this.#newName(name);
    if (known.isAddress) return;
    if (known.key !== name) this.#noteCut(known.key);
    if (known.holder === this.#number) return;
    if (!this.#hasRoom(known)) this.#noteCut(known.key);
    else this.#putValue(known, value);
  }

  #putValue(known: Name, value: unknown): void {
    const place = placeOf(value);
    if (place >= 0 && known.values[place] === value) {
      this.#add(known, flat(known.texts[place] ?? ''));
      return;
    }
    const text = this.#valueText(known, value);
    if (text === undefined) return;
    if (place >= 0) {
      known.values[place] = value;
      known.texts[place] = text;
    }
    this.#add(known, text);
  }

  /** Adds a property whose column holds texts. */
  putText(name: string, value: unknown): void {
    if (typeof value === 'string') {
      if (value !== '') this.put(name, value);
    } else if (typeof value === 'number') this.put(name, String(value));
  }

  /** Adds a value whose type the source tells: `text` is the JSON of a PropertyValue. The first of a name stays. */
  putTyped(name: string, text: string): void {
    if (current !== this) this.#takeUp();
    const known = remembered.get(name) ?? this.#newName(name);
    if (known.holder === this.#number) return;
    if (known.key !== name || !this.#hasRoom(known)) this.#noteCut(known.key);
    else this.#add(known, known.start + text);
  }

  /** Adds all members of an object. */
  putAll(members: unknown): void {
    if (!isObject(members)) return;
    for (const name in members) this.put(name, members[name]);
  }

  /** `"autoProperties":{…},"customProperties":{…}`. `name` is the event's own, where its kind does not say it. */
  text(name: string | undefined): string {
    if (name !== undefined) this.#addOwn('$name', name);
    if (this.#cut !== '') this.#addOwn('$cut', this.#cut);
    return `"autoProperties":{${this.#auto}},"customProperties":{${this.#custom}}`;
  }

  #addOwn(key: string, value: string): void {
    if (this.#held.some((held) => held.key === key)) return;
    const known = remembered.get(key) ?? this.#newName(key);
    this.#add(known, stringText(known, cutTo(value, maxStringValueCodePoints)));
    // The name may have been another event's.
    current = undefined;
  }

  /** A name that is remembered no more, or was not yet. */
  #newName(name: string): Name {
    const key = name === '' ? '_' : cutTo(name, maxPropertyKeyCodePoints);
    const known =
      (key === name ? undefined : remembered.get(key)) ??
      this.#held.find((held) => held.key === key) ??
      makeName(key);
    setBounded(remembered, key, known, maxRemembered);
    return known;
  }

  /** Takes its names from the events that properties were added to meanwhile. */
  #takeUp(): void {
    current = this;
    for (const held of this.#held) {
      held.holder = this.#number;
      setBounded(remembered, held.key, held, maxRemembered);
    }
  }

  #hasRoom({ isAuto }: Name): boolean {
    return isAuto
      ? this.#autoCount < maxPropertiesPerMap - ownKeys
      : this.#customCount < maxPropertiesPerMap;
  }

  /** `text` begins with a comma. */
  #add(known: Name, text: string): void {
    known.holder = this.#number;
    this.#held.push(known);
    if (known.isAuto) this.#auto += this.#autoCount++ === 0 ? text.slice(1) : text;
    else this.#custom += this.#customCount++ === 0 ? text.slice(1) : text;
  }

  #noteCut(key: string): void {
    if (this.#cut.length > maxStringValueCodePoints) return;
    this.#cut += this.#cut === '' ? key : `, ${key}`;
  }

  /** With its name. */
  #valueText(known: Name, value: unknown): string | undefined {
    switch (typeof value) {
      case 'string':
        return isDate(value)
          ? `${known.start}{"timestampValue":"${value}"}`
          : this.#cutText(known, value);
      case 'boolean':
        return `${known.start}{"boolValue":${value}}`;
      case 'number':
        if (Number.isSafeInteger(value)) return `${known.start}{"intValue":"${value}"}`;
        return Number.isFinite(value) ? `${known.start}{"doubleValue":${value}}` : undefined;
      case 'object':
        if (isDeep(value, maxBodyDepth)) {
          this.#noteCut(known.key);
          return undefined;
        }
        return this.#cutText(known, JSON.stringify(value, withoutAddress));
      default:
        return undefined;
    }
  }

  #cutText(known: Name, value: string): string {
    const text = cutTo(value, maxStringValueCodePoints);
    if (text !== value) this.#noteCut(known.key);
    return stringText(known, text);
  }
}

function isDate(value: string): boolean {
  return (
    value.length === writtenDateLength &&
    writtenDate.test(value) &&
    !Number.isNaN(parseTimestamp(value))
  );
}

function stringText({ start, textStart }: Name, text: string): string {
  return plain.test(text) ? `${textStart}${text}"}` : `${start}{"stringValue":${quoted(text)}}`;
}

/** For JSON.stringify: an object loses its caller's address, however deep it is. */
function withoutAddress(key: string, value: unknown): unknown {
  return addressKeys.has(key) ? undefined : value;
}

/** V8 keeps what is added up as a tree of its parts, each an object, until a character is asked for. */
export function flat(text: string): string {
  text.charCodeAt(0);
  return text;
}

/** Whether objects and lists lie in one another more than `levels` times. */
export function isDeep(value: unknown, levels: number): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const inner of Object.values(value)) if (isDeep(inner, levels - 1)) return true;
  return false;
}
