// The options of `npm run size`.

import { parseArgs } from 'node:util';
import type { Asked } from './roles.ts';

/** Sizes beyond it are no longer near anything that was measured. */
const maxEventsPerSecond = 1_000_000;
const maxDays = 3_650;

/** Throws where an option breaks its rule, in a sentence that names both. */
export function readAsked(args: readonly string[]): Asked {
  const { values } = parseArgs({
    args: [...args],
    options: { 'events-per-second': { type: 'string' }, days: { type: 'string' } },
  });
  return {
    eventsPerSecond: whole('events-per-second', values['events-per-second'], maxEventsPerSecond),
    days: whole('days', values.days, maxDays),
  };
}

function whole(name: string, text: string | undefined, max: number): number {
  const value = /^\d{1,9}$/.test(text ?? '') ? Number(text) : 0;
  if (value < 1 || value > max) {
    const range = `a whole number from 1 to ${max.toLocaleString('en-US')}`;
    throw new Error(`--${name} must be ${range}${text === undefined ? '' : `, not ${text}`}`);
  }
  return value;
}
