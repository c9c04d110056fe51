// Which events travel in one request: a page sends its visit with a public key, the shop's server collects what it
// knows of many visits and sends that with a private one.

import type { Event } from '../visits/event.ts';
import type { Visit } from '../visits/walk.ts';

export interface Delivery {
  credential: 'public' | 'private';
  /** Of the visitor's browser; absent for the server. */
  userAgent?: string;
  events: Event[];
}

const maxPageEvents = 500;
const serverBatchEvents = 100;

/** Every event of `visits`, in an order in which they might arrive; `onVisit` sees each visit once. */
export function* deliveriesOf(
  visits: Iterable<Visit>,
  onVisit: (visit: Visit) => void = () => {},
): Generator<Delivery> {
  let waiting: Event[] = [];
  for (const visit of visits) {
    onVisit(visit);
    const { userAgent } = visit.visitor.agent;
    for (let from = 0; from < visit.browser.length; from += maxPageEvents) {
      const events = visit.browser.slice(from, from + maxPageEvents);
      yield { credential: 'public', userAgent, events };
    }
    waiting.push(...visit.server);
    while (waiting.length >= serverBatchEvents) {
      yield { credential: 'private', events: waiting.slice(0, serverBatchEvents) };
      waiting = waiting.slice(serverBatchEvents);
    }
  }
  if (waiting.length > 0) yield { credential: 'private', events: waiting };
}
