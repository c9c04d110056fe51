// The shops that the benches of questions ask about: small in smoke runs.

import { dayMs } from '../../../platform/clock.ts';
import type { Mode } from '../../bench.ts';
import type { Shop } from './shop.ts';

const weekMs = 7 * dayMs;
/** A Monday. */
const someMondayMs = Date.UTC(2026, 0, 5);

/** 60 days that end on the Monday before `nowMs`; the seed is fixed. */
export function shopOf(mode: Mode, nowMs: number, events = 20_000_000): Shop {
  const endMs = someMondayMs + Math.floor((nowMs - someMondayMs) / weekMs) * weekMs;
  const [size, profiles, batchEvents] =
    mode === 'smoke' ? [4_000, 500, 1_000] : [events, events / 20, 50_000];
  return { events: size, profiles, days: 60, endMs, batchEvents, seed: 15 };
}
