// The bodies of benches and load tests: the same for one seed, valid, fresh and of the size that figures rely on.

import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { sizes } from '../../../demo/visits/sized-events.ts';
import { scanJsonBody } from '../../../ingest/validation/text/scan-body.ts';
import { dayMs } from '../../../platform/clock.ts';
import { maxBodyBytes } from '../../../platform/limits.ts';
import { type Body, makeBodies, withHead } from './bodies.ts';
import { FreshEvents } from './fresh-events.ts';

const nowMs = Date.UTC(2026, 10, 20, 12);
const options = { batch: 50, count: 20, seed: 1, nowMs };

interface SentEvent {
  eventId: string;
  distinctId: string;
  sessionId: string;
  occurTime: string;
}

function eventsOf({ bytes }: Body): SentEvent[] {
  return JSON.parse(bytes.toString()).events;
}

describe.each(sizes)('bodies of size %s', (size) => {
  const made = () => makeBodies({ ...options, size });

  it('are the same for the same seed, made new too', () => {
    const [one, again] = [made(), made()];
    const same = () => again.every(({ bytes }, index) => one[index]?.bytes.equals(bytes));
    expect(same()).toBe(true);
    for (const bodies of [one, again]) {
      const fresh = new FreshEvents(3, 0);
      for (const body of bodies) fresh.freshen(body, nowMs);
    }
    expect(same()).toBe(true);
  });

  it('are valid each time they are made new, and never have an event or a session again', () => {
    const bodies = made();
    const ids = new Set<string>();
    const sessions = new Map<string, string>();
    for (const stream of [0, 1]) {
      const fresh = new FreshEvents(options.seed, stream);
      for (let round = 0; round < 3; round++) {
        const ofRound = new Set<string>();
        for (const body of bodies) {
          fresh.freshen(body, nowMs);
          const read = scanJsonBody(body.bytes, {
            receiveTimeMs: nowMs,
            maxBodyBytes,
            maxAgeMs: 30 * dayMs,
          });
          expect(read).toMatchObject({ kind: 'valid', events: options.batch });
          for (const { eventId, sessionId, distinctId } of eventsOf(body)) {
            ids.add(eventId);
            ofRound.add(sessionId);
            // A visit is one person's, whichever bodies its events are in.
            expect(sessions.get(sessionId) ?? distinctId).toBe(distinctId);
            sessions.set(sessionId, distinctId);
          }
        }
        expect(sessions.size).toBe(ofRound.size * (3 * stream + round + 1));
      }
    }
    expect(ids.size).toBe(6 * options.batch * options.count);
    // Few come often and many seldom.
    expect(new Set(sessions.values()).size).toBeLessThan(sessions.size);
    expect(new Set(sessions.values()).size).toBeGreaterThan(sessions.size / 2);
  });

  it('occur one after the other, the last at the given time', () => {
    const [body] = made();
    if (body === undefined) throw new Error('no bodies');
    new FreshEvents(1, 0).freshen(body, nowMs + 1_234.5);
    const times = eventsOf(body).map(({ occurTime }) => Date.parse(occurTime));
    expect(times).toEqual(Array.from({ length: 50 }, (_, n) => nowMs + 1_234 - (49 - n) * 50));
  });

  it('are made new behind a head as they are without', () => {
    const [plain] = made();
    const [other] = made();
    if (plain === undefined || other === undefined) throw new Error('no bodies');
    const head = Buffer.from('POST / HTTP/1.1\r\n\r\n');
    const behind = withHead(other, head);
    for (const body of [plain, behind]) new FreshEvents(1, 0).freshen(body, nowMs);
    expect(behind.bytes.equals(Buffer.concat([head, plain.bytes]))).toBe(true);
  });

  it('have the size of their name and are hardly easier to compress than real ones', () => {
    const bodies = made();
    const all = Buffer.concat(bodies.map(({ bytes }) => bytes));
    const expected = { small: 245, medium: 605, large: 2_900 }[size];
    const bytesPerEvent = all.length / (options.batch * options.count);
    expect(Math.abs(bytesPerEvent / expected - 1)).toBeLessThan(0.08);
    const [first] = bodies;
    if (first === undefined) throw new Error('no bodies');
    expect(first.bytes.length / gzipSync(first.bytes).length).toBeLessThan(7);
  });
});
