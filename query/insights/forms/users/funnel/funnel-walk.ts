// SQL that finds how far users went whose events are kept in arrays, in order. It goes step by step and not event by
// event: a step is one pass over the arrays of many users. For each step it keeps the latest chain of events that
// reached it: one that began earlier leaves the window earlier, so that it reaches nothing more.

import { endsSql, type Funnel, isEntrySql, isStepSql } from './funnel-steps.ts';

/**
 * Adds `entries` to `users`, who have `times` and `matched` of their events, the step of each or the mask of its steps:
 * the time of each event that may begin a chain, or 0. No time is 0: each is one millisecond more than the event's.
 */
export function entriesSql(funnel: Funnel, users: string, toMs: number): string {
  const isEntry = isEntrySql(funnel, 'matched', `time <= ${toMs}`);
  if (!funnel.isFirstOnly) {
    const entries = `arrayMap((time, matched) -> if(${isEntry}, time, 0), times, matched)`;
    return `SELECT *, ${entries} AS entries FROM (${users})`;
  }
  const first = `arrayFirstIndex((time, matched) -> ${isEntry}, times, matched)`;
  return `SELECT *, arrayMap((time, place) -> if(place = first_place, time, 0), times, arrayEnumerate(times)) AS entries
    FROM (SELECT *, ${first} AS first_place FROM (${users}))`;
}

const reached = (step: number): string => (step === 1 ? 'entries' : `reached_${step}`);

/**
 * Adds reached_2, reached_3, …: for each event the time of the first event of the chain that reached the step with it,
 * or 0. Adds `took`, where steps are optional: those that were done between the steps before and after them.
 */
function reachedSql(funnel: Funnel, users: string): string {
  const { path, optional } = funnel;
  const walked = path.slice(1).reduce((sql, step, index) => {
    const before = path[index] ?? 1;
    return `SELECT *, ${nextSql(funnel, step, reached(before), before)} AS reached_${step} FROM (${sql})`;
  }, users);
  if (optional.length === 0) return walked;
  const tried = optional.map((step) => {
    const before = path.findLast((one) => one < step) ?? 1;
    return `${nextSql(funnel, step, reached(before), before)} AS reached_${step}`;
  });
  const took = optional.map((step) => {
    const after = path.find((one) => one > step) ?? step;
    const chains = nextSql(funnel, after, reached(step), step);
    return `if(arrayExists(first -> first != 0, ${chains}), [toInt64(${step})], [])`;
  });
  return `SELECT *, arrayConcat(${took.join(', ')}) AS took FROM (SELECT *, ${tried.join(', ')} FROM (${walked}))`;
}

/** For each event that is the step the chain, of those that reached the step `before`, that reaches it; else 0. */
function nextSql(funnel: Funnel, step: number, chains: string, before: number): string {
  return `arrayMap((time, matched, first) -> if(${isStepSql(funnel, step)} AND first != 0 AND time - first <= ${funnel.windowMs}, first, 0),
      times, matched, ${beforeSql(funnel, chains, before)})`;
}

/** For each event the latest chain before it that reached the step, unless something ended it. */
function beforeSql(funnel: Funnel, chains: string, step: number): string {
  // An event that matches two steps serves one: the chain before it has ended with another.
  const shifted = (array: string): string => `arrayPushFront(arrayPopBack(${array}), 0)`;
  if (funnel.order === 'strict') return shifted(chains);
  const ends = endsSql(funnel, step);
  const latest =
    ends === undefined
      ? `arrayFill(first -> first != 0, ${chains})`
      : `arrayFill((first, matched) -> first != 0 OR ${ends}, ${chains}, matched)`;
  return funnel.mayOverlap ? shifted(latest) : latest;
}

/** `users`, who have entries, with `level`, the furthest step. */
export function levelsSql(funnel: Funnel, users: string): string {
  const levels = funnel.path
    .map((step, index) => `arrayExists(first -> first != 0, ${reached(step)}), ${index + 1}`)
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
  const { path } = funnel;
  const walked = hasLevel ? reachedSql(funnel, users) : levelsSql(funnel, users);
  const placed = path.reduceRight((sql, step, index) => {
    const level = index + 1;
    const furthest = `arrayFirstIndex(first -> first != 0, ${reached(step)})`;
    const earlier = `arrayLastIndex(first -> first != 0, arraySlice(${reached(step)}, 1, place_${level + 1} - 1))`;
    const place =
      level === path.length
        ? `if(level = ${level}, ${furthest}, 0)`
        : `multiIf(level = ${level}, ${furthest}, level > ${level}, ${earlier}, 0)`;
    return `SELECT *, toInt64(${place}) AS place_${level} FROM (${sql})`;
  }, walked);
  const times = path.map((_, index) => `times[place_${index + 1}]`);
  return `SELECT *, arraySlice([${times.join(', ')}], 1, level) AS chain FROM (${placed})`;
}
