// The time zones of the package moment-timezone, as offsets between moments. Its data alone is read, none of its code
// runs. The data names each change of a clock until 2499.

import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { isTextList } from '../json.ts';
import { remembered } from '../memory/remembered.ts';

/** One zone's clock: `offsets[i]`, in minutes east of UTC, holds until `untilMs[i]`, and from there on the next one. */
export interface Offsets {
  untilMs: readonly number[];
  offsets: readonly number[];
}

export interface PackedZones {
  /** Of the IANA's database, such as 2026f. */
  version: string;
  /** The IANA's spelling by the name in lower case. */
  names: ReadonlyMap<string, string>;
  /** Undefined for a name that is no key of `names`' values. */
  offsetsOf(name: string): Offsets | undefined;
}

const dataFile = 'moment-timezone/data/packed/latest.json';
/** There are some six hundred names, and few are asked for. */
const maxUnpacked = 100;

/** Throws where the package's data is not in the form that is read here. */
export function readPackedZones(): PackedZones {
  const path = createRequire(import.meta.url).resolve(dataFile);
  const { version, zones, links } = checked(JSON.parse(readFileSync(path, 'utf8')));
  const packed = new Map<string, string>();
  for (const text of zones) packed.set(text.slice(0, text.indexOf('|')), text);
  for (const link of links) {
    const [one = '', other = ''] = link.split('|');
    const text = packed.get(one) ?? packed.get(other);
    if (text === undefined) throw new Error(`${dataFile} links ${link}, which it lacks`);
    packed.set(one, text).set(other, text);
  }
  const names = new Map([...packed.keys()].map((name) => [name.toLowerCase(), name]));
  const unpacked = remembered(maxUnpacked, (name) => {
    const text = packed.get(name);
    return text === undefined ? undefined : unpack(text);
  });
  return { version, names, offsetsOf: unpacked };
}

/** The minutes east of UTC at a moment. */
export function offsetAt({ untilMs, offsets }: Offsets, ms: number): number {
  let [low, high] = [0, untilMs.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (ms < (untilMs[middle] ?? Number.POSITIVE_INFINITY)) high = middle;
    else low = middle + 1;
  }
  return offsets[low] ?? 0;
}

function checked(data: unknown): {
  version: string;
  zones: readonly string[];
  links: readonly string[];
} {
  if (typeof data === 'object' && data !== null && 'version' in data) {
    const { version } = data;
    const zones = 'zones' in data ? data.zones : undefined;
    const links = 'links' in data ? data.links : undefined;
    if (typeof version === 'string' && isTextList(zones) && isTextList(links)) {
      return { version, zones, links };
    }
  }
  throw new Error(`${dataFile} does not have the texts version, zones and links`);
}

/** name|abbreviations|minutes west of UTC|an index of these for each period|minutes from change to change. */
function unpack(text: string): Offsets {
  const [, , west = '', places = '', steps = ''] = text.split('|');
  const kinds = west.split(' ').map((minutes) => 0 - inBase60(minutes));
  const offsets = [...places].map((place) => kinds[inBase60(place)] ?? 0);
  let minutes = 0;
  const untilMs = (steps === '' ? [] : steps.split(' ')).map((step) => {
    minutes += inBase60(step);
    return Math.round(minutes * 60_000);
  });
  return { untilMs, offsets };
}

const digits = '0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWX';

function inBase60(text: string): number {
  const [whole = '', fraction = ''] = (text.startsWith('-') ? text.slice(1) : text).split('.');
  let value = 0;
  for (const digit of whole) value = value * 60 + digits.indexOf(digit);
  let unit = 1;
  for (const digit of fraction) {
    unit /= 60;
    value += digits.indexOf(digit) * unit;
  }
  return text.startsWith('-') ? -value : value;
}
