// A generated project: people with visits in several seasons, and everything that makes counting hard. Duplicates, late
// events, merges before, after and between events, chains of them, unmerges, deletions and revivals.

import { dayMs } from '../../../../platform/clock.ts';
import { createDraw, type Draw } from '../random.ts';
import {
  autoProperties,
  customProperties,
  drawTraits,
  drawValue,
  hostileProperties,
  hostileTexts,
  kinds,
} from './catalogue.ts';
import type { Play } from './play.ts';
import { type Season, seasonsUntil } from './seasons.ts';
import type { SentEvent, SentValue } from './sent-event.ts';

const minuteMs = 60_000;
const hourMs = 3_600_000;
export interface GeneratedProject {
  seasons: readonly Season[];
  /** Moments between the parts of the project's life. */
  cutsMs: readonly number[];
}

/** Plays a project with some `people` distinct ids and five times as many events. */
export async function playProject(
  play: Play,
  seed: number,
  people: number,
): Promise<GeneratedProject> {
  const draw = createDraw(seed);
  const nowMs = Date.now() - minuteMs;
  const { recent, all: seasons } = seasonsUntil(nowMs);
  const ids = distinctIds(people);
  const visits = ids.flatMap((id) => drawVisits(draw, id, seasons));
  const [before = [], between = [], after = [], last = []] = inParts(draw, visits.flat());
  const anonymous = ids.filter((id) => id.startsWith('anon-'));
  const users = ids.filter((id) => id.startsWith('user-'));

  for (const id of anonymous.slice(0, 10))
    await play.identify(draw.pick(users), drawTraits(draw), id);
  await play.send(before);
  await play.send(cookielessEvents(draw, recent));
  const cutsMs = [await play.cut()];
  for (const id of anonymous.slice(10, 40)) {
    await play.identify(draw.pick(users), drawTraits(draw), draw.chance(0.8) ? id : '');
  }
  await play.send([...between, ...before.filter(() => draw.chance(0.05))]);
  for (let n = 0; n < 12; n++) await play.alias(draw.pick(ids), draw.pick(users));
  for (const id of users.slice(0, 40)) await play.identify(id, drawTraits(draw));
  cutsMs.push(await play.cut());
  await play.settle();

  for (const id of anonymous.slice(0, 6)) await play.unmerge(id);
  const removed = [...users.slice(2, 10), ...ids.slice(-4), ...anonymous.slice(30, 33)];
  for (const id of removed.slice(0, 12)) await removeUnlessGone(play, id);
  await play.send([...after, ...between.filter(() => draw.chance(0.05))]);
  cutsMs.push(await play.cut());
  for (const id of removed.slice(0, 3)) await play.identify(id, drawTraits(draw));
  for (const id of anonymous.slice(40, 46)) await play.identify(draw.pick(users), {}, id);
  await play.send(last);
  await play.settle();
  cutsMs.push(await play.cut());
  return { seasons, cutsMs };
}

/** One more part of a project's life: a few events in every season, a merge, traits, and a deletion. */
export async function playMore(
  play: Play,
  seed: number,
  { seasons }: GeneratedProject,
): Promise<void> {
  const draw = createDraw(seed);
  const events = seasons.flatMap((season) =>
    [`user-${season.name}`, 'user-1', 'anon-more'].flatMap((id) => drawVisit(draw, id, season)),
  );
  await play.send(events);
  await play.identify('user-1', { plan: 'more' }, 'anon-more');
  await removeUnlessGone(play, 'user-4');
  await play.settle();
}

async function removeUnlessGone(play: Play, id: string): Promise<void> {
  if (play.exists(id)) await play.remove(id);
}

function distinctIds(people: number): string[] {
  const odd = hostileTexts.filter((text) => text.trim() !== '' && text !== '__proto__');
  const named = Array.from({ length: people }, (_, n) => (n % 3 === 0 ? `anon-${n}` : `user-${n}`));
  return [...named, ...odd];
}

/** The four parts in which events arrive; a late event arrives in the last one. */
function inParts(draw: Draw, events: readonly SentEvent[]): SentEvent[][] {
  const parts: SentEvent[][] = [[], [], [], []];
  for (const event of events) {
    const at = draw.next();
    parts[at < 0.6 ? 0 : at < 0.8 ? 1 : at < 0.9 ? 2 : 3]?.push(event);
  }
  return parts;
}

function drawVisits(draw: Draw, distinctId: string, seasons: readonly Season[]): SentEvent[][] {
  const visits = 1 + draw.below(3);
  return Array.from({ length: visits }, () => {
    const season = draw.pick(seasons);
    return drawVisit(draw, distinctId, season);
  });
}

// Moments that fall together, the hour of a change of clocks, and gaps from none to longer than two days.
const gapsMs = [0, 0, 1, 8_000, 40_000, 5 * minuteMs, 20 * minuteMs, 90 * minuteMs];
const longGapsMs = [20 * hourMs, dayMs + hourMs, 2 * dayMs + hourMs];

function drawVisit(draw: Draw, distinctId: string, season: Season): SentEvent[] {
  const { fromMs, toMs, changeMs } = season;
  const near = changeMs + (draw.next() - 0.5) * 6 * hourMs;
  const far = fromMs + draw.below(toMs - fromMs);
  const drawnMs = Math.floor(draw.chance(0.6) ? near : far);
  const quarterMs = 15 * minuteMs;
  const start = draw.chance(0.3) ? Math.floor(drawnMs / quarterMs) * quarterMs : drawnMs;
  const session = draw.uuid();
  const events: SentEvent[] = [];
  let occurMs = start;
  const count = draw.chance(0.25) ? 1 : 1 + draw.below(8);
  for (let n = 0; n < count; n++) {
    events.push(drawEvent(draw, { distinctId, visitor: undefined, session, occurMs }));
    occurMs += draw.pick(draw.chance(0.05) ? longGapsMs : gapsMs);
    if (occurMs >= toMs) break;
  }
  return events;
}

function drawEvent(
  draw: Draw,
  fields: Pick<SentEvent, 'distinctId' | 'visitor' | 'session' | 'occurMs'>,
): SentEvent {
  const kind = draw.chance(0.5) ? draw.pick(kinds.slice(0, 3)) : draw.pick(kinds);
  const properties = new Map<string, SentValue>();
  for (const name of [...autoProperties, ...customProperties]) {
    if (draw.chance(0.5)) properties.set(name, drawValue(draw, name));
  }
  if (draw.chance(0.4)) {
    const name = draw.pick(hostileProperties);
    properties.set(name, drawValue(draw, name));
  }
  const eventId = draw.uuid();
  const currency = currencyOf(eventId);
  if (currency !== undefined) properties.set('currency', { type: 'string', value: currency });
  return { eventId, kind, ...fields, properties };
}

/** Of half of the events, and empty at times; drawn by nobody, so that nothing else changes. */
function currencyOf(eventId: string): string | undefined {
  const currencies = ['EUR', 'EUR', 'EUR', 'USD', 'USD', 'JPY', 'eur', ''];
  return currencies[Number.parseInt(eventId.slice(0, 1), 16)];
}

/** Visitors without cookies; their events arrive in order, with gaps that keep or end a visit for certain. */
function cookielessEvents(draw: Draw, { fromMs, toMs }: Season): SentEvent[] {
  return Array.from({ length: 25 }, (_, n) => n).flatMap((n) => {
    const visitor = `Visitor/${n}`;
    let session = draw.uuid();
    let occurMs = fromMs + draw.below((toMs - fromMs) / 2);
    const events: SentEvent[] = [];
    for (let count = 1 + draw.below(8); count > 0 && occurMs < toMs; count--) {
      events.push(drawEvent(draw, { distinctId: undefined, visitor, session, occurMs }));
      const isNewVisit = draw.chance(0.3);
      if (isNewVisit) session = draw.uuid();
      occurMs += isNewVisit
        ? 45 * minuteMs + draw.below(5 * hourMs)
        : 1 + draw.below(25 * minuteMs);
    }
    return events;
  });
}
