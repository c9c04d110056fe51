// The demo's stream of visits: who comes, how often and when. The same seed and time give the same stream, ids
// included; another seed gives other visits of the same people.

import { visitorOf } from './population.ts';
import { createRandom, createZipf } from './random.ts';
import { takeVisit } from './visit.ts';
import type { Visit } from './walk.ts';

export interface StreamOptions {
  seed: number;
  /** At least this many events; the last visit is not cut. */
  events: number;
  /** The number of people who come back, the keen ones far more often. */
  visitors: number;
  /** The stream covers `spanMs` before this; no event is later. */
  nowMs: number;
  spanMs: number;
  /** Visitors also go to rooms. */
  rooms?: boolean;
  /** The shop's server reports every visit, with the place: the address of this machine tells none. */
  placed?: boolean;
}

const longestTailMs = 1_200_000;

/** Visits in the order in which they begin. */
export function* streamVisits(options: StreamOptions): Generator<Visit> {
  const { nowMs, spanMs } = options;
  const random = createRandom(options.seed);
  // Dice of their own, so that a stream without rooms has the same visits.
  const roomDice = options.rooms ? createRandom(options.seed, 2) : undefined;
  const rank = createZipf(options.visitors, 0.8);
  const beginsMs = nowMs - spanMs;
  // The last visits begin a while before now, so that they too have time to finish.
  const startsMs = spanMs - Math.min(longestTailMs, spanMs / 4);
  let events = 0;
  while (events < options.events) {
    const startMs = beginsMs + Math.floor(startsMs * (events / options.events));
    const known = visitorOf(rank(random));
    const visitor = options.placed ? { ...known, reportedBy: 'server' as const } : known;
    const visit = takeVisit(visitor, random, startMs, nowMs, roomDice);
    events += visit.browser.length + visit.server.length;
    yield visit;
  }
}
