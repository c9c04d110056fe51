// Waits until what was sent can be read: an event, a count, or a visitor with everything that is shown of it. Batches
// are stored one after another, and the sums of a profile a moment after its events: one readable event says nothing of
// others.

import { setTimeout as delay } from 'node:timers/promises';
import { type Event, rfc3339 } from '../visits/event.ts';
import type { Client, Profile, StoredEvent } from './client.ts';
import { RequestRefused } from './request-refused.ts';

/** What was sent of a visitor: known by the newest ids, at most a page, or else by the range of the events' times. */
export interface SentVisitor {
  distinctId: string;
  /** Of one who was identified: waits until the profile has it. */
  externalId?: string | undefined;
  events: number;
  by: { kind: 'ids'; ids: readonly string[] } | { kind: 'range'; firstMs: number; lastMs: number };
}

export interface ReadVisitor {
  profile: Profile;
  /** Newest first. */
  latest: StoredEvent[];
}

const pollMs = 50;
const maxWaitMs = 60_000;
const pageSize = 1_000;
/** Of a visitor with more events, the sums must have them all and the list the newest of these. */
const maxListed = 10_000;

/** Polls until `event` is listed. Throws a RequestRefused after a minute. */
export async function waitUntilListed(client: Client, event: Event, key: string): Promise<void> {
  const to = rfc3339(Date.parse(event.occurTime) + 1);
  const filter = { sessionId: event.sessionId, timeRange: { from: event.occurTime, to } };
  await poll('the last event', async () => {
    const events = await client.listEvents(filter, key);
    return events.find(({ eventId }) => eventId === event.eventId);
  });
}

/** What is counted: a kind, empty for every kind, and a range of occurTime. */
export interface Counted {
  kind: string;
  range: { from: string; to: string };
}

/**
 * Polls until Query counts at least so many events, which it does a moment after they are listed; returns the count.
 * After `waitMs` it returns the count as it is.
 */
export async function countReadable(
  client: Client,
  { kind, range }: Counted,
  least: number,
  waitMs: number,
  key: string,
): Promise<number> {
  const deadlineMs = performance.now() + waitMs;
  for (;;) {
    const events = await client.countEvents(kind, range, key);
    if (events >= least || performance.now() >= deadlineMs) return events;
    await delay(pollMs);
  }
}

/**
 * Polls until all that was sent of a visitor is listed and in the sums of its profile, then returns both as they are
 * then. Throws a RequestRefused after a minute.
 */
export function readVisitor(
  client: Client,
  sent: SentVisitor,
  shownEvents: number,
  key: string,
): Promise<ReadVisitor> {
  return poll(`every event of ${sent.distinctId}`, async () => {
    const listed = await listVisitor(client, sent, key);
    const [newest] = listed;
    if (newest === undefined || !isListed(listed, sent)) return undefined;
    const shown = { distinctId: sent.distinctId, pageSize: shownEvents };
    const latest = await client.listEvents(shown, key);
    const profile = await client.getProfile(newest.profileId, key);
    if (profile.externalId !== (sent.externalId ?? profile.externalId)) return undefined;
    const summed = Number(profile.activity?.['totalEvents'] ?? 0);
    return summed < Math.max(listed.length, sent.events) ? undefined : { profile, latest };
  });
}

function isListed(listed: readonly StoredEvent[], { events, by }: SentVisitor): boolean {
  if (by.kind === 'range') return listed.length >= Math.min(events, maxListed);
  const ids = new Set(listed.map(({ eventId }) => eventId));
  return by.ids.every((id) => ids.has(id));
}

/** The same ids may be stored under other times: a demo of the same seed is told from its first run by nothing else. */
async function listVisitor(
  client: Client,
  { distinctId, by }: SentVisitor,
  key: string,
): Promise<StoredEvent[]> {
  const timeRange =
    by.kind === 'range' ? { from: rfc3339(by.firstMs), to: rfc3339(by.lastMs + 1) } : undefined;
  const listed: StoredEvent[] = [];
  let pageToken = '';
  while (listed.length < maxListed) {
    const page = await client.listPage({ distinctId, timeRange, pageSize, pageToken }, key);
    listed.push(...page.events);
    pageToken = page.nextPageToken;
    if (pageToken === '') break;
  }
  return listed;
}

async function poll<T>(awaited: string, read: () => Promise<T | undefined>): Promise<T> {
  const deadlineMs = performance.now() + maxWaitMs;
  while (performance.now() < deadlineMs) {
    const found = await read();
    if (found !== undefined) return found;
    await delay(pollMs);
  }
  throw new RequestRefused(`${awaited} is still not readable after ${maxWaitMs / 1_000} s`);
}
