// What the clock on the wall of a time zone shows, and when it first does.

import { dayMs } from '../clock.ts';
import { remembered } from '../memory/remembered.ts';
import { firstWhere, stepMs, type Zones, zones } from './zones.ts';

/** No clock is further from UTC: 14 hours at most since 1970. */
const farthestMs = 16 * 3_600_000;

export function offsetMs(zone: string, ms: number, rules: Zones = zones): number {
  return rules.offsetMinutes(zone, ms) * 60_000;
}

/** The date and time that the clock shows, as if it were UTC. */
export function wallMs(zone: string, ms: number, rules: Zones = zones): number {
  return ms + offsetMs(zone, ms, rules);
}

/**
 * The first moment at which the clock shows `wall` or later: the first one of an hour that comes twice, and the change
 * itself where the clock leaves `wall` out.
 */
export function firstMoment(zone: string, wall: number, rules: Zones = zones): number {
  const [before, after] = [wall - farthestMs, wall + farthestMs];
  const [early, late] = [offsetMs(zone, before, rules), offsetMs(zone, after, rules)];
  if (early === late) return wall - early;
  const isLate = (ms: number): boolean => offsetMs(zone, ms, rules) === late;
  const changeMs = firstWhere(isLate, before, after);
  return wall - early < changeMs ? wall - early : Math.max(changeMs, wall - late);
}

/**
 * The number of the zone's day at a moment, from 1970-01-01 = 0: a day ends for good with the first moment of the next
 * one, though the clock may go back over midnight.
 */
export function dayAt(zone: string, ms: number): number {
  const shown = Math.floor(wallMs(zone, ms) / dayMs);
  return dayStart(zone, shown + 1) <= ms ? shown + 1 : shown;
}

/** The first moment of a day. */
export function dayStart(zone: string, day: number): number {
  return firstMoment(zone, day * dayMs);
}

/** RFC 3339 with the zone's own date, time and distance from UTC in whole minutes: 2026-11-01T00:00:00-07:00. */
export function wallText(zone: string, ms: number): string {
  const offset = offsetMs(zone, ms);
  const minutes = Math.round(Math.abs(offset) / 60_000);
  const two = (number: number): string => String(number).padStart(2, '0');
  const distance = `${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
  return `${new Date(ms + offset).toISOString().slice(0, 19)}${offset < 0 ? '-' : '+'}${distance}`;
}

const clockYearsMs = { from: Date.UTC(2020, 0), to: Date.UTC(2040, 0) };
/** Of zones that are remembered: more than there are, by all of their names. */
const maxClocks = 2_000;

/** How far a clock is from UTC, from a moment on. */
export interface ClockChange {
  fromMs: number;
  /** East of UTC. */
  minutes: number;
}

/** The clock of a zone in the years 2020 to 2039: how it is at first, and each change. */
export const clockChanges = remembered(maxClocks, (zone): readonly ClockChange[] => {
  const minutesAt = (ms: number): number => zones.offsetMinutes(zone, ms);
  let last = { fromMs: clockYearsMs.from, minutes: minutesAt(clockYearsMs.from) };
  const changes = [last];
  for (let ms = clockYearsMs.from + stepMs; ms < clockYearsMs.to; ms += stepMs) {
    const minutes = minutesAt(ms);
    if (minutes === last.minutes) continue;
    const fromMs = firstWhere((moment) => minutesAt(moment) === minutes, ms - stepMs, ms);
    last = { fromMs, minutes };
    changes.push(last);
  }
  return changes;
});
