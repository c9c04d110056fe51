// Counts the cookieless events of a body, and how many are in the UTC day of receipt and in the day before. Notes
// whether one is so close to the midnight between these days that its visit may continue across it.

import {
  flagCookielessAtMidnight,
  limitSessionInactivityMs,
  resultCookieless,
  resultCookielessToday,
  resultCookielessYesterday,
  resultFlags,
} from '../layout.ts';

const dayMs: i64 = 86_400_000;

/** The moment at which the UTC day of receipt began. */
let todayMs: i64 = 0;

/** Starts the counts of a body that was received at this moment. */
export function resetCookieless(receiveTimeMs: f64): void {
  todayMs = <i64>Math.floor(receiveTimeMs / <f64>dayMs) * dayMs;
  store<u32>(resultCookieless, 0);
  store<u32>(resultCookielessToday, 0);
  store<u32>(resultCookielessYesterday, 0);
}

export function countCookieless(occurTimeMs: i64): void {
  addOne(resultCookieless);
  const sinceMidnightMs = occurTimeMs - todayMs;
  if (sinceMidnightMs < -dayMs || sinceMidnightMs >= dayMs) return;
  addOne(sinceMidnightMs >= 0 ? resultCookielessToday : resultCookielessYesterday);
  if (abs(sinceMidnightMs) <= <i64>load<f64>(limitSessionInactivityMs)) {
    store<u32>(resultFlags, load<u32>(resultFlags) | flagCookielessAtMidnight);
  }
}

function addOne(count: usize): void {
  store<u32>(count, load<u32>(count) + 1);
}
