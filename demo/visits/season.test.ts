// The demo's ninety days: their rhythm, their people, where they come from, and whole places.
// Takes some 10 seconds.

import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { scanJsonBody } from '../../ingest/validation/text/scan-body.ts';
import { dayMs } from '../../platform/clock.ts';
import { deliveriesOf } from '../sending/deliveries.ts';
import { bool, type Event, text, valueText } from './event.ts';
import { seasonStartMs, streamSeason } from './season.ts';
import type { Visit } from './walk.ts';

/** A Saturday, so that the last day is one at the weekend. */
const nowMs = Date.UTC(2026, 10, 28, 15);
const options = { seed: 42, events: 40_000, nowMs };
const season = [...streamSeason(options)];
const events = season.flatMap(({ server }) => server);

const startOf = ({ server }: Visit): number => Date.parse(server[0]?.occurTime ?? '');
const digest = (visits: Visit[]): string =>
  createHash('sha256').update(JSON.stringify(visits)).digest('hex');

function countBy<T>(values: readonly T[], keyOf: (value: T) => string | undefined) {
  const counts = new Map<string, number>();
  for (const value of values) {
    const key = keyOf(value);
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + 1);
  }
  return counts;
}

const mean = (values: readonly number[]): number =>
  values.reduce((sum, value) => sum + value, 0) / values.length;

/** Of each visit, as its first event has it. */
const arrivals = (property: string): Map<string, number> =>
  countBy(season, ({ server }) => {
    const value = server[0]?.autoProperties[property];
    return value && valueText(value);
  });

describe('the season', () => {
  it('is the same for the same seed, and other visits for another', () => {
    expect(digest([...streamSeason(options)])).toBe(digest(season));
    const ids = new Set(events.map(({ eventId }) => eventId));
    expect(ids.size).toBe(events.length);
    const other = [...streamSeason({ ...options, seed: 43 })].flatMap(({ server }) => server);
    expect(other.filter(({ eventId }) => ids.has(eventId))).toEqual([]);
  });

  it('goes with a private key and obeys every rule of ingestion', () => {
    const maxAgeMs = Number.POSITIVE_INFINITY;
    const context = { receiveTimeMs: nowMs, maxBodyBytes: 8_388_608, maxAgeMs };
    let accepted = 0;
    for (const { credential, events: batch } of deliveriesOf(season)) {
      expect(credential).toBe('private');
      const read = scanJsonBody(Buffer.from(JSON.stringify({ events: batch })), context);
      expect(read).toMatchObject({ kind: 'valid', events: batch.length });
      accepted += batch.length;
    }
    expect(accepted).toBe(events.length);
    expect(accepted).toBeLessThan(options.events + 300);
  });

  it.each([0, 0.3, 9, 15, 23.9])('covers ninety days and today up to now, at %d h', (hour) => {
    const now = Date.UTC(2026, 10, 28) + hour * 3_600_000;
    const starts = [...streamSeason({ seed: 1, events: 4_000, nowMs: now })].map(startOf);
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    expect(seasonStartMs(now)).toBe(Date.UTC(2026, 7, 30));
    expect(starts[0]).toBe(seasonStartMs(now));
    expect(starts.at(-1)).toBeLessThanOrEqual(now - 1_200_000);
    expect(starts.at(-1)).toBeGreaterThan(now - dayMs);
  });

  it('has no event behind now and none before its visit', () => {
    for (const visit of season) {
      const times = visit.server.map(({ occurTime }) => Date.parse(occurTime));
      expect(times).toEqual(times.toSorted((a, b) => a - b));
      expect(times.at(-1)).toBeLessThanOrEqual(nowMs);
    }
  });

  it('grows, rests at weekends and sleeps at night', () => {
    const day = (visit: Visit): number =>
      Math.floor((startOf(visit) - seasonStartMs(nowMs)) / dayMs);
    const perDay = Array.from({ length: 90 }, () => 0);
    for (const visit of season)
      if (day(visit) < 90) perDay[day(visit)] = (perDay[day(visit)] ?? 0) + 1;
    expect(Math.min(...perDay)).toBeGreaterThan(0);
    expect(mean(perDay.slice(-28)) / mean(perDay.slice(0, 28))).toBeGreaterThan(1.4);
    const weekday = (index: number): number =>
      new Date(seasonStartMs(nowMs) + index * dayMs).getUTCDay();
    const of = (...weekdays: number[]): number =>
      mean(perDay.filter((_, index) => weekdays.includes(weekday(index))));
    expect(of(0, 6) / of(1, 2, 3, 4, 5)).toBeLessThan(0.75);
    for (let week = 0; week < 12; week++) {
      const seven = perDay.slice(7 * week, 7 * week + 7);
      const at = (weekdays: readonly number[]): number =>
        mean(seven.filter((_, index) => weekdays.includes(weekday(7 * week + index))));
      expect(at([0, 6])).toBeLessThan(at([1, 2, 3, 4]));
    }
    const perHour = countBy(season, (visit) => String(new Date(startOf(visit)).getUTCHours()));
    expect(perHour.get('16')).toBeGreaterThan(2 * (perHour.get('3') ?? 0));
  });

  it('has visitors who come back, on days between, and new ones to the end', () => {
    const visits = countBy(season, ({ visitor }) => visitor.distinctId);
    expect(visits.size / season.length).toBeGreaterThan(0.4);
    expect(visits.size / season.length).toBeLessThan(0.75);
    expect([...visits.values()].filter((count) => count > 1).length).toBeGreaterThan(500);
    const known = new Set<string>();
    let newLately = 0;
    for (const visit of season) {
      const isNew = !known.has(visit.visitor.distinctId);
      known.add(visit.visitor.distinctId);
      if (isNew && startOf(visit) > nowMs - 14 * dayMs) newLately++;
    }
    const lately = season.filter((visit) => startOf(visit) > nowMs - 14 * dayMs).length;
    expect(newLately / lately).toBeGreaterThan(0.35);
  });

  it('has goals: who signs up stays a member, and purchases have a revenue', () => {
    const signUps = events.filter(({ kind }) => kind === 'signup');
    expect(signUps.length / season.length).toBeGreaterThan(0.01);
    expect(new Set(signUps.map(({ distinctId }) => distinctId)).size).toBe(signUps.length);
    const signedUp = new Map(signUps.map(({ distinctId, occurTime }) => [distinctId, occurTime]));
    const later = events.filter(({ distinctId, occurTime }) => {
      const since = signedUp.get(distinctId);
      return since !== undefined && occurTime.slice(0, 10) > since.slice(0, 10);
    });
    expect(later.length).toBeGreaterThan(100);
    expect(later.filter(({ customProperties }) => !('member_since' in customProperties))).toEqual(
      [],
    );
    const members = season.flatMap(({ member }) => member ?? []);
    expect(new Set(members.map(({ externalId }) => externalId)).size).toBe(members.length);
    const known = new Set(
      season.flatMap(({ visitor }) => (visitor.registered ? visitor.distinctId : [])),
    );
    for (const { distinctId } of signUps) known.add(distinctId);
    const ids = members.map(({ externalId, anonymousId }) => anonymousId || externalId);
    expect(ids.toSorted()).toEqual([...known].sort());
    expect(
      members.filter(({ traits }) => !/^[a-z.]+\.\d+@mail\.example$/.test(traits.email)),
    ).toEqual([]);
    const purchases = events.filter(({ kind }) => kind === 'purchase');
    expect(purchases.length / season.length).toBeGreaterThan(0.02);
    expect(purchases.length / season.length).toBeLessThan(0.3);
    for (const { customProperties } of purchases) {
      expect(Number(valueText(customProperties['revenue'] ?? text('')))).toBeGreaterThan(0);
    }
  });
});

describe('a visit of the season', () => {
  it('has a whole place, and is described as the service describes a browser', () => {
    for (const { visitor, server } of season) {
      const { country, region, city, continent } = visitor.place;
      const isBot = visitor.agent.deviceType === 'bot';
      const wanted = {
        ...{ $country: text(country), $region: text(region), $city: text(city) },
        ...{ $continent: text(continent), $hostname: text('shop.example') },
        ...(isBot ? { $bot: bool(true) } : {}),
      };
      const described = server.map(({ autoProperties }) => {
        const names = [...Object.keys(wanted), '$bot'].filter((name) => name in autoProperties);
        return Object.fromEntries(names.map((name) => [name, autoProperties[name]]));
      });
      expect(described).toEqual(server.map(() => wanted));
    }
    expect(arrivals('$country').size).toBeGreaterThan(15);
  });

  it('comes from searches, ads with ids of clicks, networks, mails, assistants and other sites', () => {
    expect([...arrivals('$channel').keys()].sort()).toEqual([
      ...['affiliate', 'direct', 'email', 'organic search', 'organic social', 'organic video'],
      ...['paid search', 'paid social', 'referral'],
    ]);
    expect([...arrivals('$aiAssistant').keys()].sort()).toEqual([
      ...['ChatGPT', 'Claude', 'Copilot', 'Gemini', 'Perplexity'],
    ]);
    const clicks = countBy(season, ({ server }) => {
      const { searchParams } = new URL(valueText(server[0]?.autoProperties['$url'] ?? text('')));
      return [...searchParams.keys()].find((name) =>
        /^(\w*clk?id|gbraid|li_fat_id|rdt_cid)$/.test(name),
      );
    });
    expect([...clicks.keys()].sort()).toEqual([
      ...['fbclid', 'gbraid', 'gclid', 'li_fat_id', 'msclkid', 'rdt_cid', 'ttclid'],
    ]);
  });

  it('goes to rooms now and then', () => {
    const kinds = countBy(events, ({ kind }: Event) => kind);
    const of = (kind: string): number => kinds.get(kind) ?? 0;
    expect(of('message_sent') / events.length).toBeGreaterThan(0.02);
    expect(of('message_sent') / events.length).toBeLessThan(0.2);
    expect(of('message_edited')).toBeGreaterThan(of('message_deleted'));
    expect(of('message_deleted')).toBeGreaterThan(0);
    expect(of('message_edited')).toBeLessThan(of('message_sent') / 4);
    expect(of('block_response_sent')).toBeGreaterThan(0);
    const recordings = of('room_recording_published');
    expect(recordings).toBeGreaterThan(0);
    expect(recordings).toBeGreaterThanOrEqual(of('room_recording_transcript_published'));
  });
});
