// The one place that tells which names are time zones, and how far the clock of a zone is from UTC at a moment. The
// newest rules that are at hand count: those of a package (packed-zones.ts), or Node's own where these are newer.

import { dayMs } from '../clock.ts';
import { remembered } from '../memory/remembered.ts';
import { type Offsets, offsetAt, type PackedZones, readPackedZones } from './packed-zones.ts';

/** Versions of the IANA's database, such as 2026f. */
export interface ZoneVersions {
  /** The newer one of the two. */
  used: string;
  package: string;
  /** Empty where Node does not tell. */
  node: string;
}

export interface Zones {
  versions: ZoneVersions;
  /** The IANA's spelling; undefined for what is no zone. Node also takes offsets such as +01:00, which are none. */
  nameOf(text: string): string | undefined;
  /** Minutes east of UTC. `zone` is a name that `nameOf` answers. */
  offsetMinutes(zone: string, ms: number): number;
  /** The first moment of the years 2000 to 2039 at which Node's rules and the package's tell different clocks. */
  differFromMs(zone: string): number | undefined;
}

/** No name is longer than America/Argentina/ComodRivadavia, 32 characters. */
const maxNameCharacters = 64;
const maxNames = 2_000;
const comparedMs = { from: Date.UTC(2000, 0), to: Date.UTC(2040, 0) };
/** No zone changes its clock and back within it. */
export const stepMs = 20 * dayMs;

/** `nodeVersion`: of the rules that Intl follows. */
export function createZones(packed: PackedZones, nodeVersion: string): Zones {
  const node = /^\d{4}[a-z]+$/.test(nodeVersion) ? nodeVersion : '';
  const isNodes = node > packed.version;
  const nameOf = remembered(
    maxNames,
    (text) => packed.names.get(text.toLowerCase()) ?? nameInNode(text),
  );
  const clockOf = remembered(maxNames, (zone): ((ms: number) => number) => {
    if (zone === 'UTC') return () => 0;
    const offsets = packed.offsetsOf(zone);
    if (offsets === undefined || (isNodes && nameInNode(zone) !== undefined))
      return nodesClock(zone);
    return (ms) => offsetAt(offsets, ms);
  });
  return {
    versions: { used: isNodes ? node : packed.version, package: packed.version, node },
    nameOf: (text) =>
      text.length <= maxNameCharacters && /^[A-Za-z]/.test(text) ? nameOf(text) : undefined,
    offsetMinutes: (zone, ms) => clockOf(zone)(ms),
    differFromMs: remembered(maxNames, (zone) => {
      const offsets = packed.offsetsOf(zone);
      const isComparable = offsets !== undefined && nameInNode(zone) !== undefined;
      if (!isComparable || node === packed.version) return undefined;
      return firstDifference(offsets, nodesClock(zone));
    }),
  };
}

/** To find out takes half a millisecond. */
function nameInNode(text: string): string | undefined {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: text }).resolvedOptions().timeZone;
  } catch {
    return undefined;
  }
}

/** Reads the end of a text such as "2026, GMT-03:30", the shortest that names the offset. */
function nodesClock(zone: string): (ms: number) => number {
  const options = { timeZone: zone, timeZoneName: 'longOffset', year: 'numeric' } as const;
  const format = new Intl.DateTimeFormat('en-US', options);
  return (ms) => {
    const found = /GMT(?:([+-])(\d\d):(\d\d)(?::(\d\d))?)?$/.exec(format.format(ms));
    const [, sign = '+', hours = 0, minutes = 0, seconds = 0] = found ?? [];
    const east = Number(hours) * 60 + Number(minutes) + Number(seconds) / 60;
    return sign === '-' ? 0 - east : east;
  };
}

function firstDifference(offsets: Offsets, node: (ms: number) => number): number | undefined {
  const differs = (ms: number): boolean => offsetAt(offsets, ms) !== node(ms);
  const isCompared = (ms: number): boolean => ms >= comparedMs.from && ms < comparedMs.to;
  const moments = offsets.untilMs.flatMap((ms) => [ms - 1, ms]).filter(isCompared);
  for (let ms = comparedMs.from; ms < comparedMs.to; ms += stepMs) moments.push(ms);
  moments.sort((one, other) => one - other);
  const place = moments.findIndex(differs);
  const [before, after] = [moments[place - 1], moments[place]];
  if (after === undefined || before === undefined) return after;
  return firstWhere(differs, before, after);
}

/** The first moment after `before`, up to `after`, where the condition holds: it does at `after`. */
export function firstWhere(
  condition: (ms: number) => boolean,
  before: number,
  after: number,
): number {
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (condition(middle)) after = middle;
    else before = middle;
  }
  return after;
}

export const zones = createZones(readPackedZones(), process.versions['tz'] ?? '');
