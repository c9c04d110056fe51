// A visitor's walk through the shop as events: each step is recorded with what its page or the shop's server sees, and
// the visitor stays a while. Does not choose the steps.

import { createDescribeEvent } from '../../pipeline/enrich/described-event.ts';
import type { Product } from './catalogue.ts';
import { shopHost } from './catalogue.ts';
import { type Event, int, moment, type Properties, rfc3339, text } from './event.ts';
import { agents } from './people/agents.ts';
import type { Member } from './people/members.ts';
import type { Visitor } from './people/population.ts';
import type { Random } from './random.ts';

const describe = createDescribeEvent(agents.length);

export interface Visit {
  visitor: Visitor;
  /** Events that the page reports, with a public key and the visitor's User-Agent. */
  browser: Event[];
  /** Events that the shop's server reports, with a private key: it names the visitor and the place itself. */
  server: Event[];
  /** Whom the shop's server identifies after the visit: at the sign-up, or the first visit of a member. */
  member?: Member;
}

/** A visit under way. */
export interface Walk {
  visitor: Visitor;
  random: Random;
  sessionId: string;
  timeMs: number;
  /** No event is later than this. */
  latestMs: number;
  url: string;
  referrer: string;
  title: string;
  cart: Product[];
  visit: Visit;
}

export function openPage(walk: Walk, path: string, title: string): void {
  walk.referrer = walk.url;
  walk.url = `https://${shopHost}${path}`;
  walk.title = title;
  record(walk, 'page_view', { load_time_ms: int(walk.random.between(90, 2_600)) });
}

/** Adds an event at the walk's time, then moves that time on, at most to `latestMs`. */
export function record(
  walk: Walk,
  kind: string,
  custom: Properties,
  by: Visitor['reportedBy'] = walk.visitor.reportedBy,
): void {
  const { visitor, random, visit } = walk;
  visit[by].push({
    eventId: random.uuid(),
    kind,
    distinctId: visitor.distinctId,
    sessionId: walk.sessionId,
    occurTime: rfc3339(walk.timeMs),
    autoProperties: by === 'browser' ? seenByPage(walk, kind) : seenByServer(walk, kind),
    customProperties: visitor.registered ? { ...custom, ...membership(visitor) } : custom,
  });
  const stayMs =
    kind === 'page_view' ? 900 + random.exponential(3_000) : random.exponential(18_000);
  walk.timeMs = Math.min(walk.latestMs, walk.timeMs + Math.ceil(stayMs));
}

function membership(visitor: Visitor): Properties {
  return { member_since: moment(visitor.registeredMs) };
}

function seenByPage(walk: Walk, kind: string): Properties {
  const { visitor, url } = walk;
  const properties: Properties = { $url: text(url), $title: text(walk.title) };
  if (walk.referrer !== '') properties['$referrer'] = text(walk.referrer);
  if (kind !== 'page_view') return properties;
  const [width, height] = visitor.screen;
  properties['$screenWidth'] = int(width);
  properties['$screenHeight'] = int(height);
  properties['$language'] = text(visitor.place.language);
  return properties;
}

/** With a private key the service derives nothing: the server says all of it, by the service's own steps. */
function seenByServer(walk: Walk, kind: string): Properties {
  const { agent, place } = walk.visitor;
  const page = seenByPage(walk, kind);
  const texts: Record<string, string> = {};
  for (const [name, value] of Object.entries(page)) {
    if ('stringValue' in value) texts[name] = value.stringValue;
  }
  const { country, region, city, continent, timezone } = place;
  const location = { country, region, city, continent, timezone };
  // Some twenty properties on each event: assigning them to the page's takes half the time of a copy of both.
  return Object.assign(page, describe(texts, { userAgent: agent.userAgent, location }));
}
