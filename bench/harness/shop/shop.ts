// The shop whose visits fill a database for the benches of questions: its size, its people and how often each comes.
// visits.ts makes the events, stored-shop.ts stores them.

import { dayMs } from '../../../platform/clock.ts';
import { hash32, share, Weighted } from './random.ts';

/** What a shop is made of: equal shops have equal events. */
export interface Shop {
  events: number;
  profiles: number;
  days: number;
  /** The first moment after the last day, a UTC midnight. */
  endMs: number;
  /** Events of a batch, and so of a part before merges. */
  batchEvents: number;
  seed: number;
}

export function startMsOf({ endMs, days }: Shop): number {
  return endMs - days * dayMs;
}

export function batchesOf({ events, batchEvents }: Shop): number {
  return Math.ceil(events / batchEvents);
}

/** One profile in so many has an anonymous id that is merged into it at some moment. */
const profilesAMergedId = 20;
/** One profile in so many is named, the merged ones among them. */
const profilesANamed = 4;

/** A person, by number from 0; everything about them follows from the number. */
export interface Person {
  number: number;
  distinctId: string;
  /** The id of their visits before `mergedMs`; undefined for most. */
  anonymousId: string | undefined;
  mergedMs: number;
  named: boolean;
  browser: string;
  browserVersion: string;
  os: string;
  deviceType: string;
  place: Place;
}

interface Place {
  country: string;
  region: string;
  city: string;
  continent: string;
  timezone: string;
}

export function personOf(shop: Shop, number: number): Person {
  const isMerged = hash32(number, 1) % profilesAMergedId === 0;
  const named = isMerged || hash32(number, 2) % profilesANamed === 0;
  const deviceType = share(number, 3) < 0.55 ? 'mobile' : 'desktop';
  const browser = browsers.at(share(number, 4));
  return {
    number,
    distinctId: `${named ? 'user' : 'anon'}-${hash32(number, 5).toString(36)}-${number}`,
    anonymousId: isMerged ? `anon-${hash32(number, 6).toString(36)}-${number}` : undefined,
    mergedMs: startMsOf(shop) + Math.floor(share(number, 7) * shop.days * dayMs),
    named,
    browser,
    browserVersion: `${100 + (hash32(number, 8) % 30)}.0`,
    os: (deviceType === 'mobile' ? mobileSystems : desktopSystems).at(share(number, 9)),
    deviceType,
    place: places.at(share(number, 10)),
  };
}

/** A profile's number by Zipf's law with a flat head: the most active has a thousandth of the visits. */
export function zipfProfile({ profiles }: Shop, unit: number): number {
  const head = 100;
  const rank = Math.floor(head * ((profiles + head) / head) ** unit - head);
  // Ranks must not follow the order in which profiles first come: a step that has no divisor in common with 10 spreads
  // them.
  return (Math.min(rank, profiles - 1) * 7_368_787) % profiles;
}

const browsers = new Weighted([
  ['Chrome', 62],
  ['Safari', 20],
  ['Edge', 6],
  ['Firefox', 5],
  ['Samsung Internet', 4],
  ['Opera', 3],
]);
const mobileSystems = new Weighted([
  ['Android', 60],
  ['iOS', 40],
]);
const desktopSystems = new Weighted([
  ['Windows', 65],
  ['macOS', 25],
  ['Linux', 10],
]);
const place = (country: string, city: string, continent: string, timezone: string): Place => ({
  ...{ country, region: `${country}-${city.slice(0, 2).toUpperCase()}` },
  ...{ city, continent, timezone },
});
const places = new Weighted([
  [place('US', 'New York', 'NA', 'America/New_York'), 20],
  [place('US', 'Chicago', 'NA', 'America/Chicago'), 10],
  [place('DE', 'Berlin', 'EU', 'Europe/Berlin'), 14],
  [place('DE', 'Hamburg', 'EU', 'Europe/Berlin'), 6],
  [place('FR', 'Paris', 'EU', 'Europe/Paris'), 10],
  [place('GB', 'London', 'EU', 'Europe/London'), 10],
  [place('IN', 'Mumbai', 'AS', 'Asia/Kolkata'), 9],
  [place('BR', 'Recife', 'SA', 'America/Recife'), 6],
  [place('JP', 'Tokyo', 'AS', 'Asia/Tokyo'), 5],
  [place('ES', 'Madrid', 'EU', 'Europe/Madrid'), 5],
  [place('PL', 'Gdansk', 'EU', 'Europe/Warsaw'), 3],
  [place('NP', 'Pokhara', 'AS', 'Asia/Kathmandu'), 2],
]);
