// BatchCreate bodies of one valid event as JSON text, whose members a test replaces by any text.

import { randomUUID } from 'node:crypto';

/** An event of the typed shape; `changes` are JSON texts by member. */
export function eventText(changes: Record<string, string> = {}): string {
  const members = {
    eventId: `"${randomUUID()}"`,
    kind: '"click"',
    distinctId: '"u"',
    sessionId: `"${randomUUID()}"`,
    occurTime: `"${new Date().toISOString()}"`,
    ...changes,
  };
  return `{${Object.entries(members)
    .map(([name, text]) => `"${name}":${text}`)
    .join(',')}}`;
}

export const typedBody = (changes: Record<string, string> = {}): string =>
  `{"events":[${eventText(changes)}]}`;

/** One event with one custom property, whose value is this JSON text. */
export const valueBody = (text: string): string => typedBody({ customProperties: `{"k":${text}}` });

/** One event of the short shape; `properties` are JSON members. */
export const shortBody = (properties: string): string =>
  `{"events":[{"name":"a","properties":{"distinct_id":"u",${properties}}}]}`;
