// SQL that finds how far each entry of users went whose events are kept in arrays, in order: over time every bucket has
// entries of its own, and in any order each entry is looked at alone.

import { endsSql, type Funnel, isStepSql } from './funnel-steps.ts';

/** `users`, who have entries, with `levels`: the furthest step of each entry, 0 for other events. */
export function entryLevelsSql(funnel: Funnel, users: string): string {
  return funnel.order === 'any' ? anyOrderSql(funnel, users) : inOrderSql(funnel, users);
}

/** An array without its first item, so that each event has what stands at the next one. */
const shifted = (array: string): string => `arrayPushBack(arrayPopFront(${array}), 0)`;

/** For each event the first time in `array` from it on, unless something ends the chain after the step. */
function nextSql(funnel: Funnel, array: string, step: number): string {
  const ends = endsSql(funnel, step);
  return ends === undefined
    ? `arrayReverseFill(time -> time != 0, ${array})`
    : `arrayReverseFill((time, matched) -> time != 0 OR ${ends}, ${array}, matched)`;
}

/**
 * From the last step back: end_4_2 is, for an event that is step 2, when a chain from it first reaches step 4. A chain
 * that ends earlier is never the worse one.
 */
function inOrderSql(funnel: Funnel, users: string): string {
  const { steps, windowMs, mayOverlap, order } = funnel;
  const targets = steps.map((_, index) => index + 1).slice(1);
  const after = (target: number, step: number): string => {
    const ends = `end_${target}_${step + 1}`;
    if (order === 'strict') return shifted(ends);
    const next = nextSql(funnel, ends, step);
    return mayOverlap ? shifted(next) : next;
  };
  const atStep = (target: number): string =>
    `arrayMap((time, matched) -> if(${isStepSql(funnel, target)}, time, 0), times, matched) AS end_${target}_${target}`;
  const walked = targets.reduceRight((sql, step) => {
    const further = targets.filter((target) => target > step);
    const columns = further.map(
      (target) =>
        `arrayMap((matched, time) -> if(${isStepSql(funnel, step)}, time, 0), matched, ${after(target, step)}) AS end_${target}_${step}`,
    );
    return `SELECT ${['*', ...columns, atStep(step)].join(', ')} FROM (${sql})`;
  }, users);
  const ended = targets.map((target) => `end_${target}`);
  const levels = ended
    .map((end, index) => `${end} != 0 AND ${end} - entry <= ${windowMs}, ${index + 2}`)
    .reverse();
  const level = `if(entry = 0, 0, multiIf(${levels.join(', ')}, 1))`;
  return `SELECT *, arrayMap((${['entry', ...ended].join(', ')}) -> toUInt8(${level}),
      ${['entries', ...targets.map((target) => after(target, 1))].join(', ')}) AS levels FROM (${walked})`;
}

/** Adds next_1, next_2, …: for each event the time of the first event from it on that matches the step, or 0. */
function nextOfStepsSql(funnel: Funnel, users: string): string {
  const steps = funnel.steps.map((_, index) => index + 1);
  const own = steps.map(
    (step) =>
      `arrayMap((time, matched) -> if(${isStepSql(funnel, step)}, time, 0), times, matched) AS own_${step}`,
  );
  const next = steps.map((step) => {
    const following = nextSql(funnel, `own_${step}`, 1);
    // What ends a chain does not end the one that begins with it.
    return funnel.mayOverlap && funnel.exclusions.length > 0
      ? `arrayMap((own, time) -> if(own != 0, own, time), own_${step}, ${shifted(following)}) AS next_${step}`
      : `${following} AS next_${step}`;
  });
  return `SELECT *, ${next.join(', ')} FROM (SELECT *, ${own.join(', ')} FROM (${users}))`;
}

function anyOrderSql(funnel: Funnel, users: string): string {
  const next = funnel.steps.map((_, index) => `next_${index + 1}`);
  const done = next.map((time) => `(${time} != 0 AND ${time} - entry <= ${funnel.windowMs})`);
  return `SELECT *, arrayMap((${['entry', ...next].join(', ')}) -> toUInt8(if(entry = 0, 0, ${done.join(' + ')})),
      ${['entries', ...next].join(', ')}) AS levels FROM (${nextOfStepsSql(funnel, users)})`;
}

/**
 * `users` with levels in any order, with `level`, and `chain`: the times at which the most steps were first done, each
 * of them for the first time since the latest entry that had done so many by then.
 */
export function anyOrderChainsSql(funnel: Funnel, users: string): string {
  const next = funnel.steps.map((_, index) => `next_${index + 1}`);
  const done = `arraySort(arrayFilter(time -> time != 0 AND time - entry <= ${funnel.windowMs}, [${next.join(', ')}]))`;
  return `SELECT *, chains[arrayLastIndex(one -> length(one) = level AND one[-1] = chains[first_place][-1], chains)] AS chain
    FROM (SELECT *, toUInt8(arrayMax(levels)) AS level, arrayFirstIndex(one -> one = level, levels) AS first_place,
      arrayMap((${['entry', ...next].join(', ')}) -> if(entry = 0, [], ${done}), ${['entries', ...next].join(', ')}) AS chains
      FROM (${entryLevelsSql(funnel, users)}))`;
}
