// The grouping of events into requests: a page sends its visit with a public key; the shop's server collects its events
// of many visits and sends them with a private key.

import type { Event } from '../visits/event.ts';
import type { Member } from '../visits/people/members.ts';
import type { Visit } from '../visits/walk.ts';

export interface Delivery {
  credential: 'public' | 'private';
  /** The visitor's browser; absent for the server. */
  userAgent?: string;
  events: Event[];
  /** Those whom the server identifies behind these events. */
  members?: Member[];
}

const maxPageEvents = 500;
export const maxServerEvents = 100;

/**
 * Every event of `visits`, in a likely order of arrival; `onVisit` sees each visit once. The shop's server sends as
 * many events at once as `serverEvents` says.
 */
export function* deliveriesOf(
  visits: Iterable<Visit>,
  onVisit: (visit: Visit) => void = () => {},
  serverEvents: number = maxServerEvents,
): Generator<Delivery> {
  let waiting: Event[] = [];
  let members: Member[] = [];
  for (const visit of visits) {
    onVisit(visit);
    const { userAgent } = visit.visitor.agent;
    for (let from = 0; from < visit.browser.length; from += maxPageEvents) {
      const events = visit.browser.slice(from, from + maxPageEvents);
      yield { credential: 'public', userAgent, events };
    }
    waiting.push(...visit.server);
    if (visit.member) members.push(visit.member);
    while (waiting.length >= serverEvents) {
      yield { credential: 'private', events: waiting.slice(0, serverEvents), members };
      waiting = waiting.slice(serverEvents);
      members = [];
    }
  }
  if (waiting.length > 0) yield { credential: 'private', events: waiting, members };
}
