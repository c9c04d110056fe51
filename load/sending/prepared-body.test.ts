// Bodies are valid however often they are made fresh, and no event id comes twice.

import { describe, expect, it } from 'vitest';
import { sizes } from '../../demo/visits/sized-events.ts';
import { scanJsonBody } from '../../ingest/validation/text/scan-body.ts';
import { dayMs } from '../../platform/clock.ts';
import { maxBodyBytes } from '../../platform/limits.ts';
import { FreshIds, freshen, prepareBodies, setSession } from './prepared-body.ts';

const nowMs = Date.UTC(2026, 10, 20, 12);
const occurTime = '2026-11-20T12:00:00.123Z';
const options = { batch: 30, count: 3, kind: 'load_x', seed: 1, nowMs };
const version4 = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

interface SentEvent {
  eventId: string;
  kind: string;
  sessionId: string;
  occurTime: string;
}

function eventsOf(bytes: Buffer): SentEvent[] {
  const { events }: { events: SentEvent[] } = JSON.parse(bytes.toString());
  return events;
}

describe.each(sizes)('bodies of size %s', (size) => {
  const ids = new FreshIds();
  const bodies = prepareBodies({ ...options, size });

  it('are valid each time, of one kind, with new ids and the time of their sending', () => {
    const seen = new Set<string>();
    for (let round = 0; round < 4; round++) {
      for (const body of bodies) {
        freshen(body, ids, Buffer.from(occurTime));
        const read = scanJsonBody(body.bytes, {
          receiveTimeMs: nowMs,
          maxBodyBytes,
          maxAgeMs: 30 * dayMs,
        });
        expect(read).toMatchObject({ kind: 'valid', events: options.batch });
        for (const event of eventsOf(body.bytes)) {
          expect(event).toMatchObject({ kind: 'load_x', occurTime });
          expect(event.eventId).toMatch(version4);
          seen.add(event.eventId);
        }
      }
    }
    expect(seen.size).toBe(4 * options.batch * options.count);
  });

  it('move their first event into another session and back', () => {
    const [body] = bodies;
    if (body === undefined) throw new Error('no bodies');
    const before = eventsOf(body.bytes);
    const session = '00000000-0000-4000-8000-000000000000';
    expect(setSession(body, session)).toBe(before[0]?.eventId);
    const [first, ...others] = eventsOf(body.bytes);
    expect(first).toEqual({ ...before[0], sessionId: session });
    expect(others).toEqual(before.slice(1));
    setSession(body, body.session);
    expect(eventsOf(body.bytes)).toEqual(before);
  });
});

it('ids are drawn anew when the pool is used up', () => {
  const ids = new FreshIds();
  const bytes = Buffer.alloc(36, '-');
  const seen = new Set(
    Array.from({ length: 10_000 }, () => {
      ids.write(bytes, 0);
      return bytes.toString();
    }),
  );
  expect(seen.size).toBe(10_000);
});
