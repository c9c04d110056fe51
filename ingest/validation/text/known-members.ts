// Blanks the members of a JSON body that no rule knows, before JSON.parse makes objects: V8 takes up to 200 ns for each
// new name, so that a body of unknown names would hold the event loop for seconds. Takes valid JSON and checks nothing.

import type { DescField, DescMessage } from '@bufbuild/protobuf';
import {
  backslash,
  closeBrace,
  closeBracket,
  comma,
  openBrace,
  openBracket,
  quote,
  space,
} from '../../../proto/wire/json-characters.ts';

/** The part of a value that a reader looks at. */
export type Known =
  /** A text, a number, a boolean; of an object or an array only that it is one. */
  | 'scalar'
  /** All of it, because another bound holds. */
  | 'whole'
  | { readonly members: ReadonlyMap<string, Known> }
  /** An object whose names are all known. */
  | { readonly values: Known }
  | { readonly items: Known };

/** The members of a message, in both spellings, and theirs. A google.protobuf.Struct in it is `structs`. */
export function knownMembers(message: DescMessage, structs: Known = 'whole'): Known {
  if (message.typeName === 'google.protobuf.Struct') return structs;
  if (message.typeName.startsWith('google.protobuf.')) return 'scalar';
  const members = new Map<string, Known>();
  for (const field of message.fields) {
    const known = knownValue(field, structs);
    members.set(field.jsonName, known).set(field.name, known);
  }
  return { members };
}

function knownValue(field: DescField, structs: Known): Known {
  const value = field.message === undefined ? 'scalar' : knownMembers(field.message, structs);
  if (field.fieldKind === 'list') return { items: value };
  return field.fieldKind === 'map' ? { values: value } : value;
}

/** Overwrites the unknown members of `json` with spaces, in place, each with one of its commas. */
export function blankUnknown(json: Buffer, known: Known): void {
  new Blanking(json).value(0, known);
}

class Blanking {
  readonly #json: Buffer;

  constructor(json: Buffer) {
    this.#json = json;
  }

  /** Blanks the unknown part of the value at or after `at`; returns the place behind the value. */
  value(at: number, known: Known): number {
    const start = this.#visible(at);
    const opening = this.#json[start];
    if (opening !== openBrace && opening !== openBracket) return this.#skip(start);
    if (known === 'whole') return this.#skip(start);
    if (opening === openBrace && typeof known === 'object' && 'members' in known) {
      return this.#members(start, known.members);
    }
    if (opening === openBrace && typeof known === 'object' && 'values' in known) {
      return this.#each(start, closeBrace, known.values);
    }
    if (opening === openBracket && typeof known === 'object' && 'items' in known) {
      return this.#each(start, closeBracket, known.items);
    }
    const end = this.#skip(start);
    this.#json.fill(space, start + 1, end - 1);
    return end;
  }

  #members(start: number, members: ReadonlyMap<string, Known>): number {
    const json = this.#json;
    // The comma behind the known member read last.
    let lastComma = 0;
    let at = this.#visible(start + 1);
    while (json[at] === quote) {
      const nameEnd = this.#skip(at);
      const known = members.get(this.#nameAt(at, nameEnd));
      const value = this.#visible(nameEnd) + 1;
      const end = this.#visible(known === undefined ? this.#skip(value) : this.value(value, known));
      const isLast = json[end] !== comma;
      if (known === undefined) json.fill(space, at, isLast ? end : end + 1);
      else lastComma = isLast ? 0 : end;
      at = isLast ? end : this.#visible(end + 1);
    }
    if (lastComma !== 0) json[lastComma] = space;
    return at + 1;
  }

  /** All items of an array, or all values of an object. */
  #each(start: number, closing: number, known: Known): number {
    const json = this.#json;
    let at = this.#visible(start + 1);
    while (json[at] !== closing) {
      const value = closing === closeBrace ? this.#visible(this.#skip(at)) + 1 : at;
      at = this.#visible(this.value(value, known));
      if (json[at] === comma) at = this.#visible(at + 1);
    }
    return at + 1;
  }

  #nameAt(start: number, end: number): string {
    const name = this.#json.toString('latin1', start + 1, end - 1);
    return name.includes('\\') ? String(JSON.parse(`"${name}"`)) : name;
  }

  #visible(at: number): number {
    while ((this.#json[at] ?? 0xff) <= space) at++;
    return at;
  }

  /** The place behind the value at or after `at`. */
  #skip(at: number): number {
    const json = this.#json;
    let depth = 0;
    for (at = this.#visible(at); at < json.length; at++) {
      switch (json[at]) {
        case quote:
          at = this.#closingQuote(at);
          if (depth === 0) return at + 1;
          break;
        case openBrace:
        case openBracket:
          depth++;
          break;
        case closeBrace:
        case closeBracket:
          // A number or a word ends where its object or array does.
          if (depth === 0) return at;
          if (--depth === 0) return at + 1;
          break;
        case comma:
          if (depth === 0) return at;
          break;
      }
    }
    return at;
  }

  #closingQuote(start: number): number {
    const json = this.#json;
    let at = start + 1;
    while (json[at] !== quote && at < json.length) at += json[at] === backslash ? 2 : 1;
    return at;
  }
}
