// A steady stream of visits, for load and benches: who comes, how often and when. The same seed and time give the same
// stream, ids included; another seed gives other visits of the same people. The demo's ninety days are season.ts's.

import { visitorOf } from './people/population.ts';
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
}

const longestTailMs = 1_200_000;

/** Visits in the order in which they begin. */
export function* streamVisits(options: StreamOptions): Generator<Visit> {
  const { nowMs, spanMs } = options;
  const random = createRandom(options.seed);
  const rank = createZipf(options.visitors, 0.8);
  const beginsMs = nowMs - spanMs;
  // The last visits begin a while before now, so that they too have time to finish.
  const startsMs = spanMs - Math.min(longestTailMs, spanMs / 4);
  let events = 0;
  while (events < options.events) {
    const startMs = beginsMs + Math.floor(startsMs * (events / options.events));
    const visit = takeVisit(visitorOf(rank(random)), random, startMs, nowMs);
    events += visit.browser.length + visit.server.length;
    yield visit;
  }
}
