// The steady stream of visits: repeatable, valid by ingest's rules, and as varied as a real shop's.

import { createHash } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { scanJsonBody } from '../../ingest/validation/text/scan-body.ts';
import { dayMs } from '../../platform/clock.ts';
import { deliveriesOf } from '../sending/deliveries.ts';
import type { Event } from './event.ts';
import { agents } from './people/agents.ts';
import { visitorOf } from './people/population.ts';
import { createRandom, createZipf } from './random.ts';
import { type StreamOptions, streamVisits } from './visitors.ts';
import type { Visit } from './walk.ts';

const nowMs = Date.UTC(2026, 10, 20, 12);
const options: StreamOptions = {
  ...{ seed: 42, events: 20_000, visitors: 5_000, nowMs, spanMs: 3 * 86_400_000 },
};

function visits(changed: Partial<StreamOptions> = {}): Visit[] {
  return [...streamVisits({ ...options, ...changed })];
}

function eventsOf(visit: Visit): Event[] {
  return [...visit.browser, ...visit.server];
}

function digest(stream: Visit[]): string {
  return createHash('sha256').update(JSON.stringify(stream)).digest('hex');
}

describe('the stream of visits', () => {
  const stream = visits();
  const events = stream.flatMap(eventsOf);

  it('is the same for the same seed and differs for another', () => {
    expect(digest(visits())).toBe(digest(stream));
    const other = visits({ seed: 43 }).flatMap(eventsOf);
    const ids = new Set(events.map((event) => event.eventId));
    expect(other.filter((event) => ids.has(event.eventId))).toEqual([]);
  });

  it('obeys every rule of ingestion', () => {
    const context = { receiveTimeMs: nowMs, maxBodyBytes: 8_388_608, maxAgeMs: 30 * dayMs };
    let accepted = 0;
    for (const { events: batch } of deliveriesOf(stream)) {
      const read = scanJsonBody(Buffer.from(JSON.stringify({ events: batch })), context);
      expect(read).toMatchObject({ kind: 'valid', events: batch.length });
      accepted += batch.length;
    }
    expect(accepted).toBe(events.length);
  });

  it('never repeats an event id', () => {
    expect(new Set(events.map((event) => event.eventId)).size).toBe(events.length);
  });

  it('has about as many events as were asked for', () => {
    expect(events.length).toBeGreaterThanOrEqual(options.events);
    expect(events.length).toBeLessThan(options.events + 200);
  });

  it('lies in its span, each visit in order', () => {
    for (const visit of stream) {
      for (const list of [visit.browser, visit.server]) {
        const times = list.map((event) => Date.parse(event.occurTime));
        expect(times).toEqual(times.toSorted((a, b) => a - b));
        for (const time of times) {
          expect(time).toBeGreaterThanOrEqual(nowMs - options.spanMs);
          expect(time).toBeLessThanOrEqual(nowMs);
        }
      }
    }
  });

  it('gives a visit one session and one visitor', () => {
    for (const visit of stream) {
      expect(new Set(eventsOf(visit).map((event) => event.sessionId)).size).toBe(1);
      expect(new Set(eventsOf(visit).map((event) => event.distinctId))).toEqual(
        new Set([visit.visitor.distinctId]),
      );
    }
  });

  it('has the whole funnel, custom kinds and all five property types', () => {
    const kinds = new Set(events.map((event) => event.kind));
    const funnel = ['page_view', 'product_viewed', 'add_to_cart', 'checkout_started', 'purchase'];
    for (const kind of [...funnel, 'signup', 'search', 'recommendation.shown']) {
      expect(kinds).toContain(kind);
    }
    const types = new Set(
      events.flatMap((event) => Object.values(event.customProperties).flatMap(Object.keys)),
    );
    expect([...types].sort()).toEqual(
      ['boolValue', 'doubleValue', 'intValue', 'stringValue', 'timestampValue'].sort(),
    );
  });

  it('has people who come back often, and more who hardly do', () => {
    const counts = new Map<string, number>();
    for (const visit of stream) {
      counts.set(visit.visitor.distinctId, (counts.get(visit.visitor.distinctId) ?? 0) + 1);
    }
    const sorted = [...counts.values()].sort((a, b) => b - a);
    expect(sorted[0]).toBeGreaterThan(20);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThanOrEqual(2);
  });

  it('keeps server facts apart: only they name the visitor’s place', () => {
    for (const visit of stream) {
      for (const event of visit.browser)
        expect(event.autoProperties).not.toHaveProperty('$country');
      for (const event of visit.server) expect(event.autoProperties).toHaveProperty('$country');
    }
  });

  it('has bots that read and buy nothing', () => {
    const bots = stream.filter(({ visitor }) => visitor.agent.deviceType === 'bot');
    const kinds = new Set(bots.flatMap(eventsOf).map((event) => event.kind));
    expect(kinds).toContain('product_viewed');
    expect(kinds).not.toContain('add_to_cart');
    expect(kinds).not.toContain('purchase');
  });

  it('is as varied as real bodies: gzip saves less than nine tenths', () => {
    const body = Buffer.from(JSON.stringify(events.slice(0, 1_000)));
    expect(body.length / gzipSync(body).length).toBeLessThan(12);
  });
});

describe('the population', () => {
  it('has a hundred agents, no two alike', () => {
    const texts = new Set(agents.map((agent) => agent.userAgent));
    expect(texts.size).toBe(agents.length);
    expect(agents.length).toBeGreaterThanOrEqual(100);
  });

  it('knows a visitor by number', () => {
    expect(visitorOf(17)).toEqual(visitorOf(17));
    const names = new Set(Array.from({ length: 2_000 }, (_, n) => visitorOf(n).distinctId));
    expect(names.size).toBe(2_000);
  });
});

describe('draws', () => {
  it('are uniform enough and stay in range', () => {
    const random = createRandom(1);
    const counts = new Array<number>(10).fill(0);
    for (let draw = 0; draw < 100_000; draw++) {
      const value = random.below(10);
      counts[value] = (counts[value] ?? 0) + 1;
    }
    for (const count of counts) expect(Math.abs(count - 10_000)).toBeLessThan(500);
  });

  it('give version 4 UUIDs', () => {
    const random = createRandom(2);
    for (let draw = 0; draw < 1_000; draw++) {
      expect(random.uuid()).toMatch(
        /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/,
      );
    }
  });

  it('follow Zipf: rank 0 twice as often as rank 1 at exponent 1', () => {
    const random = createRandom(3);
    const rank = createZipf(100, 1);
    const counts = new Array<number>(100).fill(0);
    for (let draw = 0; draw < 100_000; draw++) {
      const value = rank(random);
      counts[value] = (counts[value] ?? 0) + 1;
    }
    expect((counts[0] ?? 0) / (counts[1] ?? 1)).toBeCloseTo(2, 0);
  });
});
