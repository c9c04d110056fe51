// What a question about visits asks of each of them. raw-visits.ts finds the visits in events, stored-visits.ts in
// tables of sums; forms/visits/sessions.ts makes values of them.
//
// A visit begins on a UTC day on which its session has events, if the session has none on the day before. The visit has
// the session's events of that day and of the next day. So the visits of a day depend on that day and its neighbours
// alone, whatever range is asked.

import { dayMs } from '../../../../platform/clock.ts';
import { invalidArgument } from '../../../../platform/http/answers/invalid-argument.ts';
import { SessionMetric } from '../../../../proto/gen/shared/insights/v1/insights_pb.js';
import { kindsOf } from '../../../filters/event-kinds.ts';
import { both, type EventCondition, eventCondition, every } from '../../read/event-condition.ts';
import type { Question } from '../../read/question.ts';
import { added, divided, type Measure } from '../../sql/ranked-groups.ts';

/**
 * Kinds of events that nobody sends on purpose. A visit with one view and nothing but these is a bounce. The view of
 * the table visits counts the same kinds (sql/migrations/0030_passive_events.sql).
 */
const passiveKinds = ['page_leave', 'scroll', 'error_occurred', 'web_vitals'];
/** The table visits has the last one of each session's day (sql/migrations/0034_last_views.sql). */
export const viewKind = 'page_view';
/** SQL over columns of `events`. */
export const isPassiveSql = `kind IN ('${passiveKinds.join(`', '`)}')`;

/** Columns of cells that add up; those of a cell; and those of cells that count visits alone. SQL. */
export const sumColumns = ['visits', 'duration_ms', 'bounces', 'events'] as const;
export const cellColumns = ['bucket', ...sumColumns] as const;
export const noLengths = 'toInt64(0) AS duration_ms, toInt64(0) AS bounces, toInt64(0) AS events';

/** SQL for whether a visit is a bounce. */
export function isBounceSql(events: string, views: string, passive: string): string {
  return `(${views} = 1 AND ${events} = ${passive} + 1)`;
}

/** What a metric makes of a cell's sumColumns: a number, or one divided by another. */
export interface VisitMetric {
  partsOf(numbers: readonly number[]): [number, number];
  measure: Measure;
  /** Its scope is about the visit's first or last event; about any unless given. */
  edge?: 'first' | 'last';
}

const count: VisitMetric = { partsOf: ([visits = 0]) => [visits, 0], measure: added };

const metrics: Readonly<Record<SessionMetric, VisitMetric | undefined>> = {
  [SessionMetric.UNSPECIFIED]: undefined,
  [SessionMetric.SESSIONS]: count,
  [SessionMetric.ENTRY]: { ...count, edge: 'first' },
  [SessionMetric.EXIT]: { ...count, edge: 'last' },
  [SessionMetric.AVG_DURATION]: {
    partsOf: ([visits = 0, durationMs = 0]) => [durationMs, 1_000 * visits],
    measure: divided,
  },
  [SessionMetric.BOUNCE_RATE]: {
    partsOf: ([visits = 0, , bounces = 0]) => [bounces, visits],
    measure: divided,
  },
  [SessionMetric.AVG_EVENTS_PER_SESSION]: {
    partsOf: ([visits = 0, , , events = 0]) => [events, visits],
    measure: divided,
  },
};

/** Besides the range and the breakdowns, which the question has. */
export interface VisitRead {
  metric: VisitMetric;
  /** A visit counts where one of its events meets it. */
  someEvent: EventCondition;
  /** Which event of the visit its groups are of, among those of some kinds (none for every kind). */
  edge: 'first' | 'last';
  edgeKinds: readonly string[];
  /** What must hold for that event; it has the kind. */
  edgeEvent: EventCondition;
}

/** Throws invalid_argument. */
export function readVisits(question: Question): VisitRead {
  const { everyEvent } = question;
  const { scope, metric: named = SessionMetric.UNSPECIFIED } = question.spec.session ?? {};
  const metric = metrics[named];
  if (metric === undefined) {
    const isMissing = named === SessionMetric.UNSPECIFIED;
    const rule = isMissing ? 'is required' : `${Number(named)} is not a metric`;
    throw invalidArgument('spec.session.metric', rule);
  }
  const inScope = eventCondition(scope, 'spec.session.scope', question);
  const { edge = 'first' } = metric;
  if (metric.edge === undefined) {
    const someEvent = both(everyEvent, inScope);
    return { metric, someEvent, edge, edgeKinds: [], edgeEvent: every };
  }
  const edgeKinds = scope === undefined ? [] : kindsOf(scope);
  return { metric, someEvent: everyEvent, edge, edgeKinds, edgeEvent: inScope };
}

/**
 * The time whose events tell the visits of the range, half-open, in milliseconds: whole UTC days, from the one before
 * the range's first to the one after its last.
 */
export function visitWindow({ fromMs, toMs }: Pick<Question, 'fromMs' | 'toMs'>) {
  return {
    fromMs: (Math.floor(fromMs / dayMs) - 1) * dayMs,
    toMs: (Math.ceil(toMs / dayMs) + 1) * dayMs,
  };
}
