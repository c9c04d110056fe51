// The steps of a FUNNEL and the events that end its chains, and SQL for those that an event matches.

import { anyOf, both, type EventCondition, every } from '../../../read/event-condition.ts';
import type { Question } from '../../../read/question.ts';
import { occurredBefore } from '../../../sql/read-events.ts';

export interface Exclusion {
  condition: EventCondition;
  /** Between these two steps, from 1. */
  fromStep: number;
  toStep: number;
}

export interface Funnel {
  /** As in the question; empty for every kind, and for several. */
  kinds: readonly string[];
  steps: readonly EventCondition[];
  /** The steps that a chain has to have, from 1: all but the optional ones. A level is a place among them, from 1. */
  path: readonly number[];
  optional: readonly number[];
  windowMs: number;
  withTiming: boolean;
  order: 'ordered' | 'any' | 'strict';
  exclusions: readonly Exclusion[];
  /** The property whose value all events of a chain share. */
  held: string | undefined;
  /** The first entry alone begins a chain. */
  isFirstOnly: boolean;
  isOverTime: boolean;
  /** Entries from there on may still convert; undefined where all windows are over. */
  openFromMs: number | undefined;
  /** An event may match several steps or exclusions. */
  mayOverlap: boolean;
}

/** No step has a greater number. Behind them come the exclusions, then the events that match nothing. */
export const maxSteps = 20;
const nothing = 31;
const stepsMask = 2 ** maxSteps - 1;

/** The events that are looked at. Of a strict order these are all: what comes between two steps ends a chain. */
export function lookedAt({ order, steps, exclusions }: Funnel): EventCondition {
  if (order === 'strict') return every;
  return anyOf([...steps, ...exclusions.map(({ condition }) => condition)]);
}

/** Where none matches two: the number of the step that an event matches, from 1, or that of an exclusion. */
export function stepSql({ steps, exclusions }: Funnel): string {
  const branches = [
    ...steps.map(({ sql }, index) => `${sql}, ${index + 1}`),
    ...exclusions.map(({ condition }, index) => `${condition.sql}, ${maxSteps + index + 1}`),
  ];
  return `toUInt8(multiIf(${branches.join(', ')}, ${nothing}))`;
}

/** A number whose bit k is set where an event matches step k + 1; the bits of exclusions follow those of 20 steps. */
export function stepMaskSql({ steps, exclusions }: Funnel): string {
  const bits = [
    ...steps.map(({ sql }, index) => ({ sql, bit: index })),
    ...exclusions.map(({ condition: { sql } }, index) => ({ sql, bit: maxSteps + index })),
  ];
  return bits.map(({ sql, bit }) => `if(${sql}, toUInt32(${2 ** bit}), toUInt32(0))`).join(' + ');
}

/** The place of the lowest bit of a mask, from 1. */
export const firstOfMaskSql = `if(mask = 0, ${nothing}, bitCount(bitXor(mask, mask - 1)))`;

/** Whether the event is the step, by `matched`: its number or its mask. */
export function isStepSql({ mayOverlap }: Funnel, step: number, matched = 'matched'): string {
  return mayOverlap ? `bitTest(${matched}, ${step - 1})` : `${matched} = ${step}`;
}

/** Whether the event ends a chain after the step, by `matched`; undefined where none does. */
export function endsSql({ exclusions, mayOverlap }: Funnel, step: number): string | undefined {
  const ends = exclusions.flatMap(({ fromStep, toStep }, index) => {
    if (step < fromStep || step >= toStep) return [];
    const place = maxSteps + index;
    return [mayOverlap ? `bitTest(matched, ${place})` : `matched = ${place + 1}`];
  });
  return ends.length === 0 ? undefined : ends.join(' OR ');
}

/** Whether a chain may begin with the event. `isInRange` tells of its time. */
export function isEntrySql(funnel: Funnel, matched: string, isInRange: string): string {
  if (funnel.order !== 'any') return isStepSql(funnel, 1, matched);
  const isStep = funnel.mayOverlap
    ? `bitAnd(${matched}, ${stepsMask}) != 0`
    : `${matched} <= ${maxSteps}`;
  return `${isStep} AND ${isInRange}`;
}

/** The same steps as they are looked for: what comes after the range is no entry. */
export function withEntriesInRange({ toMs, bindings }: Question, funnel: Funnel): Funnel {
  if (funnel.order === 'any') return funnel;
  const steps = funnel.steps.map((step, index) =>
    index === 0 ? both(step, occurredBefore(toMs, bindings)) : step,
  );
  return { ...funnel, steps };
}
