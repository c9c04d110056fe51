// What a question about visits asks of each of them. raw-visits.ts and stored-visits.ts find the visits; sessions.ts
// makes values of them.

import type { EventCondition } from '../events/event-condition.ts';

/** Besides the range and the breakdowns, which the question has. */
export interface VisitRead {
  /** A visit counts where one of its events meets it. */
  someEvent: EventCondition;
  /** Which event a visit's groups are of, and what else must hold for that event. */
  edge: 'first' | 'last';
  edgeEvent: EventCondition;
}

/** A visit has its events from this long before the range to as long after it. */
export const visitMarginMs = 24 * 3_600_000;
