// SQL that finds how far users went whose events are kept in arrays, in order. It goes step by step and not event by
// event: a step is one pass over the arrays of many users. For each step it keeps the latest chain of events that
// reached it: one that began earlier leaves the window earlier, so that it reaches nothing more.

import type { Funnel } from './funnel-steps.ts';

/**
 * Adds reached_1, reached_2, … to `users`, who have `times` and `matched` of their events, the step of each or the mask
 * of its steps. For each event it is the time of the first event of the chain that reached the step with it, or 0; no
 * time is 0.
 */
function reachedSql({ steps, windowMs, mayOverlap }: Funnel, users: string): string {
  return steps.reduce((sql, _, index) => {
    const step = index + 1;
    const match = mayOverlap ? `bitTest(matched, ${index})` : `matched = ${step}`;
    if (step === 1) {
      const first = `arrayMap((time, matched) -> if(${match}, time, 0), times, matched)`;
      return `SELECT *, ${first} AS reached_1 FROM (${sql})`;
    }
    const latest = `arrayFill(first -> first != 0, reached_${index})`;
    // An event that matches two steps serves one: the chain before it has ended with another.
    const before = mayOverlap ? `arrayPushFront(arrayPopBack(${latest}), 0)` : latest;
    const reached = `arrayMap((time, matched, first) -> if(${match} AND first != 0 AND time - first <= ${windowMs}, first, 0),
      times, matched, ${before})`;
    return `SELECT *, ${reached} AS reached_${step} FROM (${sql})`;
  }, users);
}

/** `users` with `level`, the furthest step. All of them have an event that matches step 1. */
export function levelsSql(funnel: Funnel, users: string): string {
  const levels = funnel.steps
    .map((_, index) => `arrayExists(first -> first != 0, reached_${index + 1}), ${index + 1}`)
    .slice(1)
    .reverse();
  return `SELECT *, toUInt8(multiIf(${levels.join(', ')}, 1)) AS level FROM (${reachedSql(funnel, users)})`;
}

/**
 * `users` with `chain`, the times of the events that first reached the furthest step. Without `level` among their
 * columns, that is added, too.
 */
export function chainsSql(
  funnel: Funnel,
  users: string,
  { hasLevel }: { hasLevel: boolean },
): string {
  const { steps } = funnel;
  const walked = hasLevel ? reachedSql(funnel, users) : levelsSql(funnel, users);
  const placed = steps.reduceRight((sql, _, index) => {
    const step = index + 1;
    const furthest = `arrayFirstIndex(first -> first != 0, reached_${step})`;
    const earlier = `arrayLastIndex(first -> first != 0, arraySlice(reached_${step}, 1, place_${step + 1} - 1))`;
    const place =
      step === steps.length
        ? `if(level = ${step}, ${furthest}, 0)`
        : `multiIf(level = ${step}, ${furthest}, level > ${step}, ${earlier}, 0)`;
    return `SELECT *, toInt64(${place}) AS place_${step} FROM (${sql})`;
  }, walked);
  const times = steps.map((_, index) => `times[place_${index + 1}]`);
  return `SELECT *, arraySlice([${times.join(', ')}], 1, level) AS chain FROM (${placed})`;
}
