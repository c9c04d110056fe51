// Bodies of the typed shape as JSON text, for tests of their readers: a valid event, and places to put other text.

import { dayMs } from '../../../platform/clock.ts';

export const receiveTimeMs = Date.UTC(2026, 10, 20, 12);
export const context = { receiveTimeMs, maxBodyBytes: 1_000_000, maxAgeMs: 30 * dayMs };
export const eventId = '6ba7b810-9dad-11d1-80b4-00c04fd430c8';
export const sessionId = '01890a5d-ac96-774b-bcce-b302099a8057';

const valid: Record<string, string | undefined> = {
  eventId: `"${eventId}"`,
  kind: '"page_view"',
  distinctId: '"user-1"',
  sessionId: `"${sessionId}"`,
  occurTime: '"2026-11-20T11:00:00Z"',
};

/** A valid event with these members, given as JSON text, added or in place of its own; undefined leaves one out. */
export function eventText(members: Record<string, string | undefined> = {}): string {
  const entries = Object.entries({ ...valid, ...members }).filter(([, text]) => text !== undefined);
  return `{${entries.map(([name, text]) => `"${name}":${text}`).join(',')}}`;
}

export function bodyText(...events: string[]): string {
  return `{"events":[${events.join(',')}]}`;
}

export const custom = (entries: string) => eventText({ customProperties: `{${entries}}` });
export const auto = (entries: string) => eventText({ autoProperties: `{${entries}}` });
/** An event with one custom property, `k`. */
export const value = (text: string) => custom(`"k":${text}`);
export const wellKnown = (kind: string, entries: string) =>
  eventText({ kind: `"${kind}"`, customProperties: `{${entries}}` });
export const many = (count: number, entry: (index: number) => string) =>
  Array.from({ length: count }, (_, index) => entry(index)).join(',');
