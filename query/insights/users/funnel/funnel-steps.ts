// The steps of a FUNNEL, and SQL for those that an event matches.

import type { EventCondition } from '../../events/event-condition.ts';

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
  return {
    sql: `(${steps.map(({ sql }) => sql).join(' OR ')})`,
    usesUser: steps.some(({ usesUser }) => usesUser),
    kind: steps.some(({ kind }) => kind === 'filtered') ? 'filtered' : 'kinds',
  };
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

/** SQL for how many steps an event of anyStep matches, where that may be more than one. */
export function matchesOf({ steps, mayOverlap }: Funnel): { times?: string } {
  return mayOverlap ? { times: steps.map(({ sql }) => `toUInt8(${sql})`).join(' + ') } : {};
}
