// How a visit is told.

import type { Duration } from '@bufbuild/protobuf/wkt';
import { milliseconds } from '../../platform/words/figures.ts';
import { directName } from '../../platform/words/insight-words.ts';
import type { Visit } from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { sourceName } from '../sources/source-of.ts';

export function durationMs({ duration }: Visit): number {
  return duration ? inMs(duration) : 0;
}

function inMs({ seconds, nanos }: Duration): number {
  return Number(seconds) * 1000 + Math.round(nanos / 1e6);
}

/** A visit of one event has no duration. */
export function durationOf(visit: Visit): string {
  const ms = durationMs(visit);
  return ms === 0 ? '–' : milliseconds(ms);
}

/**
 * "Google, organic search", "newsletter, email": the site or the campaign's source first, since a column cuts the end.
 */
export function sourceOf({ channel, referrerDomain, utmSource }: Visit): string {
  const from = referrerDomain ? sourceName(referrerDomain) : utmSource;
  if (from) return [from, channel === 'direct' ? '' : channel].filter(Boolean).join(', ');
  if (channel === 'direct') return directName;
  return channel.charAt(0).toUpperCase() + channel.slice(1);
}

/** "Berlin, DE". */
export function placeOf({ city, region, country }: Visit): string {
  return [city || region, country].filter(Boolean).join(', ');
}

/** "Firefox, Linux, desktop". */
export function deviceOf({ browser, os, deviceType }: Visit): string {
  return [browser, os, deviceType].filter(Boolean).join(', ');
}
