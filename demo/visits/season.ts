// The demo's ninety days of the shop: more visits from week to week, fewer at weekends and at night, some visitors who
// come back and some who sign up. The same seed and time give the same visits, ids included.

import { dayMs } from '../../platform/clock.ts';
import { memberOf } from './people/members.ts';
import { type Visitor, visitorOf } from './people/population.ts';
import { createRandom, createZipf, type Random } from './random.ts';
import { takeVisit } from './visit.ts';
import type { Visit } from './walk.ts';

export interface SeasonOptions {
  seed: number;
  /** At least so many events; the last visit is not cut. */
  events: number;
  /** No event is later; the season begins ninety days before this day, in UTC. */
  nowMs: number;
}

const days = 90;
const hourMs = 3_600_000;
/** In the last week, against the first. */
const growth = 2.2;
/** Sunday first, as in Date. */
const weekdays = [0.62, 1.02, 1.08, 1.1, 1.05, 0.95, 0.66];
/** By the hour in UTC: customers are in Europe, America and Asia. */
const hours = [
  ...[0.55, 0.5, 0.46, 0.44, 0.45, 0.5, 0.62, 0.78, 0.94, 1.06, 1.14, 1.2],
  ...[1.26, 1.34, 1.42, 1.48, 1.52, 1.5, 1.44, 1.36, 1.22, 1.02, 0.82, 0.66],
];
/** From day to day, up and down. */
const unrest = 0.09;

const longestVisitMs = 1_200_000;
const knownBefore = 300;
const keenOnes = 200;
/** Of the visits; of those who come back; of the others of these. */
const share = { new: 0.5, keen: 0.25, soon: 0.5 } as const;

/** Visits in the order in which they begin; the shop's server reports each with the visitor's place. */
export function* streamSeason({ seed, events, nowMs }: SeasonOptions): Generator<Visit> {
  const random = createRandom(seed);
  const seasonDice = createRandom(seed, 2);
  const timeAt = createCourse(random, seasonStartMs(nowMs), nowMs - longestVisitMs);
  const who = createCustomers();
  let sent = 0;
  while (sent < events) {
    const { index, visitor } = who.next(random);
    const visit = takeVisit(visitor, random, timeAt(sent / events), nowMs, seasonDice);
    who.remember(visit, index);
    sent += visit.browser.length + visit.server.length;
    yield visit;
  }
}

export function seasonStartMs(nowMs: number): number {
  return nowMs - (nowMs % dayMs) - days * dayMs;
}

/** From a share of all visits, 0 to 1, to the time at which so many have begun. */
function createCourse(random: Random, fromMs: number, toMs: number): (share: number) => number {
  const hoursOfSeason = Math.ceil((toMs - fromMs) / hourMs);
  const begun = new Float64Array(hoursOfSeason + 1);
  let mood = 1;
  for (let hour = 0; hour < hoursOfSeason; hour++) {
    const time = new Date(fromMs + hour * hourMs);
    if (time.getUTCHours() === 0) mood = 1 - unrest + 2 * unrest * random.next();
    const whole = Math.min(1, (toMs - time.getTime()) / hourMs);
    const grown = 1 + ((growth - 1) * hour) / hoursOfSeason;
    const usual = (weekdays[time.getUTCDay()] ?? 1) * (hours[time.getUTCHours()] ?? 1);
    begun[hour + 1] = (begun[hour] ?? 0) + whole * grown * usual * mood;
  }
  let hour = 0;
  return (part) => {
    const wanted = part * (begun[hoursOfSeason] ?? 0);
    while (hour < hoursOfSeason - 1 && (begun[hour + 1] ?? 0) < wanted) hour++;
    const before = begun[hour] ?? 0;
    const ofHour = (begun[hour + 1] ?? 0) - before;
    const inHour = ofHour === 0 ? 0 : (wanted - before) / ofHour;
    return Math.min(toMs, Math.floor(fromMs + (hour + inHour) * hourMs));
  };
}

interface Customers {
  next(random: Random): { index: number; visitor: Visitor };
  /** Takes every visit, for its sign-up, and says on it who is identified. */
  remember(visit: Visit, index: number): void;
}

/** Half of the visits are first ones; most others are by people who came lately, some by a few who keep coming. */
function createCustomers(): Customers {
  const keen = createZipf(keenOnes, 0.5);
  const signedUpMs = new Map<string, number>();
  const identified = new Set<number>();
  let known = knownBefore;
  const indexOf = (random: Random): number => {
    if (random.chance(share.new)) return known++;
    if (random.chance(share.keen)) return keen(random);
    const ago = Math.floor(random.exponential(known / (random.chance(share.soon) ? 60 : 6)));
    return ago < known ? known - 1 - ago : random.below(known);
  };
  return {
    next(random) {
      const index = indexOf(random);
      const visitor = visitorOf(index);
      const registeredMs = signedUpMs.get(visitor.distinctId) ?? visitor.registeredMs;
      const registered = visitor.registered || signedUpMs.has(visitor.distinctId);
      return { index, visitor: { ...visitor, registered, registeredMs, reportedBy: 'server' } };
    },
    remember(visit, index) {
      const { visitor, server } = visit;
      const signUp = server.find(({ kind }) => kind === 'signup');
      if (signUp !== undefined) signedUpMs.set(visitor.distinctId, Date.parse(signUp.occurTime));
      if (identified.has(index) || (signUp === undefined && !visitor.registered)) return;
      identified.add(index);
      const registeredMs = signedUpMs.get(visitor.distinctId) ?? visitor.registeredMs;
      visit.member = memberOf(index, visitor, registeredMs);
    },
  };
}
