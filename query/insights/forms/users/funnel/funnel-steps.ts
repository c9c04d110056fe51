// The steps of a FUNNEL, and SQL for those that an event matches.

import { anyOf, type EventCondition } from '../../../read/event-condition.ts';

export interface Funnel {
  /** As in the question; empty for every kind. */
  kinds: readonly string[];
  steps: readonly EventCondition[];
  windowMs: number;
  withTiming: boolean;
  /** An event may match several steps. */
  mayOverlap: boolean;
}

/** The events that match any step. */
export function anyStep({ steps }: Funnel): EventCondition {
  return anyOf(steps);
}

/** The number of the step that an event matches, from 1, where none matches two. */
export function stepSql({ steps }: Funnel): string {
  const branches = steps.map(({ sql }, index) => `${sql}, ${index + 1}`);
  return `toUInt8(multiIf(${branches.join(', ')}, 0))`;
}

/** A number whose bit k is set where an event matches step k + 1. */
export function stepMaskSql({ steps }: Funnel): string {
  return steps
    .map(({ sql }, index) => `if(${sql}, toUInt32(${2 ** index}), toUInt32(0))`)
    .join(' + ');
}
