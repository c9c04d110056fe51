// The parameters by which a board gives a statement its range and zone; on the page of SQL they are the page's.

import type { Range } from '../time/range.tsx';
import { currentZone } from '../time/time.tsx';

const named = /\{\s*(?:from|to|timezone)\s*:/;

export function asksForRange(sql: string): boolean {
  return named.test(sql);
}

/** Of POST /sql; none for a statement without them. */
export function rangeParams(sql: string, { from, to }: Range): Record<string, string> {
  if (!asksForRange(sql)) return {};
  return {
    param_from: secondsOf(from),
    param_to: secondsOf(to),
    param_timezone: currentZone(),
  };
}

/** As a board sends moments, whatever the statement's time zone is: ten digits before the point. */
function secondsOf(moment: Date): string {
  return (Math.max(0, moment.getTime()) / 1_000).toFixed(3).padStart('0000000000.000'.length, '0');
}
