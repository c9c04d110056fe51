// Events written as a table, for cases that a reader checks by hand. A line is a time, a user, a visit, a kind and any
// number of properties: `2025-03-01T10:00Z ann v1 view plan=pro n=3 x=0.5`.

import { createHash } from 'node:crypto';
import type { SentEvent, SentValue } from './sent-event.ts';

/** The events in the order of their lines; their event ids grow with the lines of one table. */
export function eventTable(name: string, table: string): SentEvent[] {
  const lines = table.split('\n').filter((line) => line.trim() !== '');
  return lines.map((line, index) => {
    const [time = '', user = '', visit = '', kind = '', ...properties] = line.trim().split(/\s+/);
    const place = String(index).padStart(8, '0');
    return {
      eventId: `${place}-${uuid(name).slice(9)}`,
      kind,
      distinctId: `${user}-${name}`,
      visitor: undefined,
      session: uuid(`${name} ${visit}`),
      occurMs: Date.parse(time),
      properties: new Map(properties.map(readProperty)),
    };
  });
}

function readProperty(text: string): [string, SentValue] {
  const at = text.indexOf('=');
  return [text.slice(0, at), readValue(text.slice(at + 1))];
}

function readValue(text: string): SentValue {
  if (/^-?\d+$/.test(text)) return { type: 'int', value: BigInt(text) };
  if (/^-?\d+\.\d+$/.test(text)) return { type: 'double', value: Number(text) };
  return { type: 'string', value: text };
}

function uuid(text: string): string {
  const hex = createHash('sha256').update(text).digest('hex');
  return `${hex.slice(0, 8)}-${hex.slice(8, 12)}-4${hex.slice(13, 16)}-a${hex.slice(17, 20)}-${hex.slice(20, 32)}`;
}
