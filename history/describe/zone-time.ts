// From what a clock on a wall showed to the moment: some exports count their seconds in the zone of a project.

import { minuteMs } from '../../platform/clock.ts';
import { zones } from '../../platform/zones/zones.ts';

/** All zones are off by whole quarters of an hour. */
export const quarterMs = 15 * minuteMs;

/** `wallMs`: the clock's reading, as if it were UTC. Of an hour that comes twice, the second one. */
export function momentOf(wallMs: number, zone: string): number {
  const guessMs = wallMs - zones.offsetMinutes(zone, wallMs) * minuteMs;
  return wallMs - zones.offsetMinutes(zone, guessMs) * minuteMs;
}
