// Whether everything that was acknowledged is stored, once: Query counts the events of the run's own kind. An instance
// that answers no questions is asked for a list of them.

import { randomUUID } from 'node:crypto';
import { type Client, NotServed } from '../demo/sending/client.ts';
import { countReadable, waitUntilListed } from '../demo/sending/readable.ts';
import { RequestRefused } from '../demo/sending/request-refused.ts';
import type { Target } from '../demo/sending/target.ts';
import { type Event, rfc3339 } from '../demo/visits/event.ts';
import { systemClock } from '../platform/clock.ts';

export type Stored =
  | {
      kind: 'counted';
      /** As many as were sent, or fewer. */
      events: number;
      /** Rows beyond them, or beyond one for each event id. */
      repeated: number;
    }
  | { kind: 'not counted'; why: string }
  | { kind: 'count failed'; why: string };

export interface Sent {
  /** The kind of all events of the run, and of no others. */
  eventKind: string;
  acknowledged: number;
  /** Events without an answer: each may be queued or not. */
  unknown: number;
  /** All events occurred from here on. */
  sinceMs: number;
}

/** List has a limit, and reads its pages one by one: more would take minutes. */
export const maxCounted = 100_000;
const pageSize = 1_000;
const marginMs = 1_000;
/** From the last event in List until Query counts it, on a machine that is busy. */
const untilCountedMs = 10_000;

/** Asks only where a private key is known. Never throws for what the instance answers. */
export async function countStored(
  client: Client,
  target: Target,
  sent: Sent,
  onProgress: (counted: number) => void,
  signal: AbortSignal,
): Promise<Stored> {
  if (target.privateKey === '') return { kind: 'not counted', why: 'that needs --private-key' };
  try {
    const last = await sendLast(client, target, sent.eventKind);
    return await countRows(client, target, sent).catch((error) => {
      if (!(error instanceof NotServed)) throw error;
      return countListed(client, target, sent, last, onProgress, signal);
    });
  } catch (error) {
    if (!(error instanceof RequestRefused)) throw error;
    return { kind: 'count failed', why: error.message };
  }
}

/** Rows beyond what was sent are repeated ones: Query counts rows, and does not tell their ids apart. */
async function countRows(client: Client, target: Target, sent: Sent): Promise<Stored> {
  const counted = { kind: sent.eventKind, range: rangeOf(sent) };
  const least = sent.acknowledged + 1;
  const rows = await countReadable(client, counted, least, untilCountedMs, target.privateKey);
  // Without the last event, which says that all before it are stored.
  const events = Math.min(rows - 1, sent.acknowledged + sent.unknown);
  return { kind: 'counted', events, repeated: rows - 1 - events };
}

/** Different ids in List, without the event `last`. */
async function countListed(
  client: Client,
  target: Target,
  sent: Sent,
  last: string,
  onProgress: (counted: number) => void,
  signal: AbortSignal,
): Promise<Stored> {
  if (sent.acknowledged > maxCounted) {
    return {
      kind: 'not counted',
      why: 'List counts runs of up to 100,000 events: name a lower --rate',
    };
  }
  const ids = new Set<string>();
  let rows = 0;
  for await (const events of pagesOf(client, target, sent)) {
    if (signal.aborted) return { kind: 'not counted', why: 'interrupted' };
    for (const { eventId } of events) {
      if (eventId === last) continue;
      rows++;
      ids.add(eventId);
    }
    onProgress(ids.size);
  }
  return { kind: 'counted', events: ids.size, repeated: rows - ids.size };
}

function rangeOf(sent: Sent): { from: string; to: string } {
  return { from: rfc3339(sent.sinceMs - marginMs), to: rfc3339(systemClock.nowMs() + marginMs) };
}

/** Whether the count fits what was acknowledged; undefined where nothing was counted. */
export function fits(stored: Stored, { acknowledged, unknown }: Sent): boolean | undefined {
  if (stored.kind !== 'counted') return undefined;
  const { events, repeated } = stored;
  return repeated === 0 && events >= acknowledged && events <= acknowledged + unknown;
}

/** A project's events are stored in the order of their acknowledgement: once this one is listed, all before it are. */
async function sendLast(client: Client, target: Target, eventKind: string): Promise<string> {
  const event: Event = {
    ...{ eventId: randomUUID(), kind: eventKind, distinctId: eventKind, sessionId: randomUUID() },
    occurTime: rfc3339(systemClock.nowMs()),
    ...{ autoProperties: {}, customProperties: {} },
  };
  await client.sendEvents([event], target.publicKey);
  await waitUntilListed(client, event, target.privateKey);
  return event.eventId;
}

async function* pagesOf(
  client: Client,
  target: Target,
  sent: Sent,
): AsyncGenerator<{ eventId: string }[]> {
  const timeRange = rangeOf(sent);
  // A run stores no more than that, unless events come twice: then the first of them are enough.
  const maxPages = 2 + Math.ceil((2 * (sent.acknowledged + sent.unknown)) / pageSize);
  let pageToken = '';
  for (let page = 0; page < maxPages; page++) {
    const filter = { kinds: [sent.eventKind], timeRange, pageSize, pageToken };
    const read = await client.listPage(filter, target.privateKey);
    yield read.events;
    pageToken = read.nextPageToken;
    if (pageToken === '') return;
  }
}
