// SQL that walks through a user's events in order and keeps, for each step, the latest chain of events that reached
// it: a chain whose first event is later is within the window for longer, so that no other can reach a further step.

import type { Funnel } from './funnel-steps.ts';

// An event is a mark, 5 bits of step below the milliseconds, or a tuple of it, the event's id, and the mask of its
// steps.
const timeSql = (mayOverlap: boolean): string =>
  `bitShiftRight(${mayOverlap ? 'event.1' : 'event'}, 5)`;
const matchSql = (step: number, mayOverlap: boolean): string =>
  mayOverlap ? `bitTest(event.3, ${step - 1})` : `bitAnd(event, 31) = ${step}`;

/**
 * The furthest step. The state has for each step the time of its chain's first event, plus one; 0 where there is
 * none.
 */
export function levelSql({ steps, windowMs, mayOverlap }: Funnel, events: string): string {
  const time = timeSql(mayOverlap);
  const next = steps.map((_, index) => {
    const match = matchSql(index + 1, mayOverlap);
    const before = `state.${index}`;
    return index === 0
      ? `if(${match}, ${time} + 1, state.1)`
      : `if(${match} AND ${before} != 0 AND ${time} + 1 <= ${before} + ${windowMs}, ${before}, state.${index + 1})`;
  });
  const none = steps.map(() => 'toUInt64(0)').join(', ');
  const fold = `arrayFold((state, event) -> (${next.join(', ')}), ${events}, (${none}))`;
  const levels = steps.map((_, index) => `reached.${index + 1} != 0, ${index + 1}`).reverse();
  return `toUInt8(multiIf(((${fold}) AS reached).${steps.length} != 0, ${steps.length}, ${levels.slice(1).join(', ')}, 0))`;
}

/**
 * The times of the events of the chain that first reached the furthest step. The state has a chain for each step, and
 * behind them that one.
 */
export function chainSql({ steps, windowMs, mayOverlap }: Funnel, events: string): string {
  const time = timeSql(mayOverlap);
  const best = `state.${steps.length + 1}`;
  const reached = steps.map((_, index) => {
    const match = matchSql(index + 1, mayOverlap);
    const before = `state.${index}`;
    return index === 0
      ? { holds: match, chain: `[${time}]` }
      : {
          holds: `${match} AND notEmpty(${before}) AND ${time} <= ${before}[1] + ${windowMs}`,
          chain: `arrayPushBack(${before}, ${time})`,
        };
  });
  const next = reached.map(
    ({ holds, chain }, index) => `if(${holds}, ${chain}, state.${index + 1})`,
  );
  const further = reached.map(
    ({ holds, chain }, index) => `length(${best}) = ${index} AND ${holds}, ${chain}`,
  );
  const none = Array.from({ length: steps.length + 1 }, () => 'emptyArrayUInt64()').join(', ');
  return `tupleElement(arrayFold((state, event) -> (${next.join(', ')}, multiIf(${further.join(', ')}, ${best})),
    ${events}, (${none})), ${steps.length + 1})`;
}
