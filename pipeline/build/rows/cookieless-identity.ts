// The visitor's id of a cookieless event, from the ids that ingest put into the request's context. It makes no ids.

import { dayMs } from '../../../platform/clock.ts';
import { sessionInactivityMs } from '../../../platform/limits.ts';
import type { RequestContext } from '../../../proto/wire/frame.ts';

interface CookielessIdentity {
  distinctId: string;
  /** The visitor's id beyond the nearest midnight, where a session may go on over it; '' where there is none. */
  otherId: string;
}

/**
 * The id of the event's own UTC day, as seen from the time of receipt. Undefined where the context has none: ingest has
 * then dropped the event, and told its sender so.
 */
export function cookielessIdentity(
  { receiveTimeMs, cookieless }: RequestContext,
  occurTimeMs: number,
): CookielessIdentity | undefined {
  const { today, yesterday } = cookieless ?? {};
  const todayMs = Math.floor(receiveTimeMs / dayMs) * dayMs;
  const isToday = occurTimeMs >= todayMs && occurTimeMs < todayMs + dayMs;
  const isYesterday = occurTimeMs < todayMs && occurTimeMs >= todayMs - dayMs;
  const own = isToday ? today : isYesterday ? yesterday : undefined;
  if (own === undefined) return undefined;
  const isAtMidnight = Math.abs(occurTimeMs - todayMs) <= sessionInactivityMs;
  const other = isAtMidnight ? (isToday ? yesterday : today) : undefined;
  return { distinctId: own, otherId: other ?? '' };
}
