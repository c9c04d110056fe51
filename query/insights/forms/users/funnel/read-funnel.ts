// Reads what a question asks of a FUNNEL: steps, window, order, exclusions, and which entries count.

import type { Duration } from '@bufbuild/protobuf/wkt';
import { dayMs } from '../../../../../platform/clock.ts';
import {
  invalidArgument,
  notKnown,
} from '../../../../../platform/http/answers/invalid-argument.ts';
import type { EventFilter } from '../../../../../proto/gen/common/v1/filter_pb.js';
import {
  type FunnelExclusion,
  type FunnelQuery,
  FunnelQuery_Order as Order,
  FunnelQuery_Reentry as Reentry,
} from '../../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { kindsOf } from '../../../../filters/event-kinds.ts';
import { eventCondition } from '../../../read/event-condition.ts';
import { type Question, readPropertyName } from '../../../read/question.ts';
import { type Exclusion, type Funnel, maxSteps } from './funnel-steps.ts';

const minSteps = 2;
/** Each entry is looked at for each step alone. */
const maxStepsOverTime = 10;
const maxWindowMs = 366 * dayMs;

/** Throws invalid_argument. */
export function readFunnel(question: Question): Funnel {
  const { events, includeStepTiming, conversionWindow, funnel } = question.spec;
  if (events.length < minSteps || events.length > maxSteps) {
    throw invalidArgument('spec.events', `must have ${minSteps} to ${maxSteps} steps`);
  }
  const isOverTime = funnel?.overTime ?? false;
  if (isOverTime) checkOverTime(events.length, includeStepTiming);
  const order = readOrder(funnel?.order);
  const { exclusions = [], holdProperty = '' } = funnel ?? {};
  const windowMs = readWindow(conversionWindow);
  const optional = readOptional(funnel, order, events.length);
  const stepNumbers = events.map((_, index) => index + 1);
  return {
    ...{ order, windowMs, isOverTime, withTiming: includeStepTiming },
    kinds: events.map(({ event }) => event?.kind ?? ''),
    steps: events.map(({ event }, index) =>
      eventCondition(event, `spec.events[${index}].event`, question),
    ),
    path: stepNumbers.filter((step) => !optional.includes(step)),
    optional,
    exclusions: readExclusions(question, exclusions, order),
    held:
      holdProperty === '' ? undefined : readPropertyName(holdProperty, 'spec.funnel.holdProperty'),
    isFirstOnly: readReentry(funnel?.reentry),
    openFromMs: openFrom(question, windowMs),
    mayOverlap: mayOverlap([...events, ...exclusions].map(({ event }) => event)),
  };
}

/** Steps from 1, ascending. */
function readOptional(
  funnel: FunnelQuery | undefined,
  order: Funnel['order'],
  count: number,
): number[] {
  const { optionalSteps: optional = [], overTime = false, exclusions = [] } = funnel ?? {};
  if (optional.length === 0) return [];
  const field = 'spec.funnel.optionalSteps';
  if (order !== 'ordered') throw invalidArgument(field, 'must be empty unless order is ORDERED');
  if (overTime) throw invalidArgument(field, 'must be empty where overTime is set');
  if (count <= minSteps) throw invalidArgument(field, 'is for three steps or more');
  for (const [index, step] of optional.entries()) {
    const within = { least: 2, most: count - 1 };
    if (step < within.least || step > within.most) {
      throw invalidArgument(`${field}[${index}]`, `must be from ${within.least} to ${within.most}`);
    }
    if (optional.indexOf(step) < index)
      throw invalidArgument(`${field}[${index}]`, 'is there twice');
  }
  for (const [index, { fromStep, toStep }] of exclusions.entries()) {
    const named = Object.entries({ fromStep, toStep }).find(([, step]) => optional.includes(step));
    if (named === undefined) continue;
    const path = `spec.funnel.exclusions[${index}].${named[0]}`;
    throw invalidArgument(path, 'must not be an optional step');
  }
  return optional.toSorted((one, other) => one - other);
}

function checkOverTime(steps: number, withTiming: boolean): void {
  if (steps > maxStepsOverTime) {
    throw invalidArgument('spec.events', `takes at most ${maxStepsOverTime} steps over time`);
  }
  if (withTiming) {
    throw invalidArgument('spec.includeStepTiming', 'must not be set where funnel.overTime is');
  }
}

function readOrder(order: Order | undefined): Funnel['order'] {
  switch (order) {
    case undefined:
    case Order.UNSPECIFIED:
    case Order.ORDERED:
      return 'ordered';
    case Order.ANY:
      return 'any';
    case Order.STRICT:
      return 'strict';
    default:
      throw notKnown('spec.funnel.order', order);
  }
}

function readReentry(reentry: Reentry | undefined): boolean {
  switch (reentry) {
    case undefined:
    case Reentry.UNSPECIFIED:
    case Reentry.EVERY:
      return false;
    case Reentry.FIRST:
      return true;
    default:
      throw notKnown('spec.funnel.reentry', reentry);
  }
}

function readExclusions(
  question: Question,
  exclusions: readonly FunnelExclusion[],
  order: Funnel['order'],
): Exclusion[] {
  const count = question.spec.events.length;
  if (exclusions.length > 0 && order === 'strict') {
    throw invalidArgument('spec.funnel.exclusions', 'must be empty where order is STRICT');
  }
  return exclusions.map(({ event, fromStep, toStep }, index) => {
    const field = `spec.funnel.exclusions[${index}]`;
    if (event === undefined) throw invalidArgument(`${field}.event`, 'is required');
    if (order === 'any' && (fromStep !== 0 || toStep !== 0)) {
      const named = fromStep === 0 ? 'toStep' : 'fromStep';
      throw invalidArgument(`${field}.${named}`, 'must not be set where order is ANY');
    }
    const from = stepWithin(fromStep, 1, { least: 1, most: count - 1 }, `${field}.fromStep`);
    const to = stepWithin(toStep, count, { least: from + 1, most: count }, `${field}.toStep`);
    return {
      condition: eventCondition(event, `${field}.event`, question),
      ...{ fromStep: from, toStep: to },
    };
  });
}

/** `usual` for 0. */
function stepWithin(
  step: number,
  usual: number,
  { least, most }: { least: number; most: number },
  field: string,
): number {
  if (step === 0) return usual;
  if (step >= least && step <= most) return step;
  throw invalidArgument(field, `must be from ${least} to ${most}`);
}

/** Where no two name the same kind, no event is two of them. */
function mayOverlap(events: readonly (EventFilter | undefined)[]): boolean {
  const kinds = events.map((event) => (event === undefined ? [] : kindsOf(event)));
  const named = kinds.flat();
  return kinds.some((own) => own.length === 0) || new Set(named).size < named.length;
}

/** The window of an entry at that moment ends when the question is asked. */
function openFrom({ fromMs, toMs, asOfMs, nowMs }: Question, windowMs: number) {
  const moments = [asOfMs, nowMs].filter((ms) => ms !== undefined);
  const openFromMs = Math.max(fromMs, Math.min(...moments) - windowMs);
  return openFromMs < toMs ? openFromMs : undefined;
}

/** Rounded down: times between events are whole milliseconds. */
function readWindow(window: Duration | undefined): number {
  if (window === undefined) return dayMs;
  const { seconds, nanos } = window;
  const isDuration =
    Math.abs(nanos) < 1e9 && (seconds === 0n || nanos === 0 || seconds > 0n === nanos > 0);
  const field = 'spec.conversionWindow';
  if (!isDuration) throw invalidArgument(field, 'is not a Duration');
  const windowNanos = seconds * 1_000_000_000n + BigInt(nanos);
  if (windowNanos <= 0n) throw invalidArgument(field, 'must be positive');
  if (windowNanos > BigInt(maxWindowMs) * 1_000_000n) {
    throw invalidArgument(field, 'is at most 366 days');
  }
  return Number(windowNanos / 1_000_000n);
}
