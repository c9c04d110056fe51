// Checks the context of a request. It is JSON that any producer may have written, and a writer repeats a batch that it
// cannot build: one bad producer must not hold up a shard. A request that fails here becomes a dead letter.

import type { CookielessIds, Location, RequestContext } from '../../proto/wire/frame.ts';

/** The part of a context that says whose the request is. */
type Origin = Pick<RequestContext, 'projectId' | 'receiveTimeMs'>;

/** Far in the future, and still within the engine's times. */
const maxReceiveTimeMs = Date.UTC(2200, 0, 1);

export function hasOrigin(context: unknown): context is Origin {
  if (!isFields(context)) return false;
  const { projectId, receiveTimeMs } = context;
  if (typeof projectId !== 'string' || !/^[\w-]+$/.test(projectId)) return false;
  if (typeof receiveTimeMs !== 'number' || !Number.isSafeInteger(receiveTimeMs)) return false;
  return receiveTimeMs >= 0 && receiveTimeMs < maxReceiveTimeMs;
}

/** Whether enrichment and columns can use every field. */
export function isContext(context: unknown): context is RequestContext {
  if (!hasOrigin(context)) return false;
  const fields: Partial<Record<keyof RequestContext, unknown>> = context;
  const { credential, timeShiftMs, userAgent, location, botScore, verifiedBot, cookieless } =
    fields;
  return (
    (credential === 'public' || credential === 'private') &&
    (timeShiftMs === undefined || Number.isSafeInteger(timeShiftMs)) &&
    isAbsentOr('string', userAgent) &&
    (location === undefined || isLocation(location)) &&
    (botScore === undefined || Number.isSafeInteger(botScore)) &&
    isAbsentOr('boolean', verifiedBot) &&
    (cookieless === undefined || isCookieless(cookieless))
  );
}

function isLocation(location: unknown): location is Location {
  if (!isFields(location)) return false;
  const { country, region, city, continent, timezone, latitude, longitude } = location;
  return (
    [country, region, city, continent, timezone].every((text) => isAbsentOr('string', text)) &&
    [latitude, longitude].every((degrees) => degrees === undefined || Number.isFinite(degrees))
  );
}

function isCookieless(ids: unknown): ids is CookielessIds {
  if (!isFields(ids)) return false;
  return isAbsentOr('string', ids['today']) && isAbsentOr('string', ids['yesterday']);
}

function isAbsentOr(type: 'string' | 'boolean', value: unknown): boolean {
  return value === undefined || typeof value === type;
}

function isFields(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
