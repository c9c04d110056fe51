// The tests of what vendors' SDKs have stored: each event once, under the right person, with the types that were sent
// and the time at which it occurred, but for what an SDK loses by itself. Whether a page is seen left depends on when
// a test ends.

import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { batchCreate, eventually, newEvent, type StoredEvent } from '../clients/client.ts';
import type { Stack } from '../servers/stack.ts';
import type { BusyServer } from './busy-server.ts';
import {
  busyFor,
  closedFor,
  type OutageName,
  playOutage,
  restartOf,
  type TrackedEvents,
} from './outages.ts';
import type { Player } from './player.ts';

export interface Expected {
  sdk: string;
  /** Kinds of each person's events; the last person goes on over outages. */
  persons: readonly (readonly string[])[];
  /** Of `user1`; undefined where the SDK names nobody. */
  traits?: Record<string, unknown>;
  /** Whether events are told with the time at which they were tracked; else they are of when they came. */
  hasTimes: boolean;
  /** What the SDK does not lose by itself: over ten seconds of 503, over ten without a connection, at the end. */
  keeps: Record<Exclude<OutageName, 'restart'>, boolean> & { last: boolean | 'by luck' };
  /** Custom properties of `signed_up`. */
  types: Record<string, unknown>;
}

/** Of the properties that all SDKs are given. */
export const allTypes = {
  s: { stringValue: 'text é' },
  i: { intValue: '7' },
  f: { doubleValue: 1.5 },
  b: { boolValue: true },
  d: { timestampValue: '2026-01-02T03:04:05.678Z' },
  a: { stringValue: '[1,"x"]' },
  o: { stringValue: '{"k":1}' },
};

export interface Performance {
  players: Player[];
  tracked: TrackedEvents;
  /** The moment that `dated` is told to have occurred at: an hour ago. */
  past: string;
  /** The kind of an event that is stored behind all that an SDK sent. */
  marker: string;
}

export function newPerformance(): Performance {
  const hourAgoMs = Math.floor(Date.now() / 1_000) * 1_000 - 3_600_000;
  return {
    ...{ players: [], tracked: new Map() },
    past: new Date(hourAgoMs).toISOString(),
    marker: `marker-${randomUUID()}`,
  };
}

/** What was played has arrived, a restart, ten seconds of 503, ten seconds without a connection, and the end. */
export async function perform(
  all: readonly Expected[],
  { players, tracked, marker }: Performance,
  stack: Stack,
  busy: BusyServer,
): Promise<void> {
  const keeps = ({ sdk }: Player, outage: OutageName): boolean =>
    outage === 'restart' || all.find((one) => one.sdk === sdk)?.keeps[outage] === true;
  await Promise.all(players.map((player) => arrivalOf(player, all)));
  for (const outage of [
    restartOf(stack, players),
    busyFor(busy, stack, players),
    closedFor(players),
  ]) {
    await playOutage(outage, players, keeps, tracked);
  }
  const fromMs = Date.now();
  for (const player of players) {
    await player.end();
    await player.gate.stop();
    // Behind it in the queue stands nothing that the SDK sent.
    const publicKey = player.customer.key;
    await batchCreate({ ...stack, publicKey }, [newEvent({ kind: marker })]);
  }
  tracked.set('last', { fromMs, beforeMs: Date.now() });
}

/** Some of the SDKs send once and no more: a restart while a request is on its way would be another play. */
async function arrivalOf({ sdk, customer, gate }: Player, all: readonly Expected[]): Promise<void> {
  const played = new Set(all.find((one) => one.sdk === sdk)?.persons.flat());
  await eventually(
    async () => {
      const kinds = new Set((await customer.events()).map(({ kind }) => String(kind)));
      return { sdk, missing: [...played].filter((kind) => !kinds.has(kind)), sent: gate.requests };
    },
    ({ missing }) => missing.length === 0,
  );
}

export function describePlays(all: readonly Expected[], performance: Performance): void {
  const playerOf = (sdk: string): Player => {
    const player = performance.players.find((one) => one.sdk === sdk);
    if (player === undefined) throw new Error(`${sdk} has not played`);
    return player;
  };
  const storedOf = (sdk: string) => stored(playerOf(sdk), performance.marker);

  describe.each(all)('$sdk', (expected) => {
    const { sdk } = expected;

    it('has each event stored once, under the right person, but for what it loses itself', async () => {
      const left = expected.keeps.last === 'by luck' ? ['page_leave', 'last'] : ['page_leave'];
      const read = async () => {
        const events = await storedOf(sdk);
        return personsOf(events.filter((event) => !left.includes(String(event['kind']))));
      };
      const isLinked = (found: string[][]) => found.length <= expected.persons.length;
      // Persons are linked a moment after their events are stored.
      const persons = await eventually(read, isLinked).catch(read);
      expect(persons).toEqual(expectedPersons(expected));
      expect(await playerOf(sdk).customer.traitsOf('user1')).toEqual(expected.traits);
    });

    it('has the types that it sent', async () => {
      const events = await storedOf(sdk);
      const signedUp = events.find(({ kind }) => kind === 'signed_up');
      expect(signedUp?.customProperties).toMatchObject(expected.types);
      expect(signedUp?.customProperties).not.toHaveProperty('n');
    });

    it('has the times at which its events occurred', async () => {
      const { past, tracked } = performance;
      for (const { kind, occurTime } of await storedOf(sdk)) {
        const ms = Date.parse(String(occurTime));
        if (kind === 'dated') {
          expect([kind, ms]).toEqual([kind, Date.parse(past)]);
          continue;
        }
        const { fromMs, beforeMs } = tracked.get(String(kind)) ?? wholePlay(performance);
        const isBefore = !expected.hasTimes || ms <= beforeMs;
        expect([kind, ms >= fromMs, isBefore]).toEqual([kind, true, true]);
      }
    });
  });
}

/** A page that is opened at the end says that it is viewed, too. */
function wholePlay({ tracked }: Performance): { fromMs: number; beforeMs: number } {
  return {
    fromMs: tracked.get('play')?.fromMs ?? Number.NaN,
    beforeMs: tracked.get('last')?.beforeMs ?? Number.NaN,
  };
}

async function stored({ customer }: Player, marker: string): Promise<StoredEvent[]> {
  const events = await eventually(
    () => customer.events(),
    (found) => found.some((event) => event['kind'] === marker),
    60_000,
  );
  return events.filter((event) => event['kind'] !== marker);
}

/** The kinds of each person's events. */
function personsOf(events: readonly StoredEvent[]): string[][] {
  const kinds = new Map<string, string[]>();
  for (const { profileId, kind } of events) {
    kinds.set(profileId, [...(kinds.get(profileId) ?? []), String(kind)]);
  }
  return [...kinds.values()].map((list) => list.sort()).sort();
}

function expectedPersons({ persons, keeps }: Expected): string[][] {
  const goesOn = [
    ...['in_restart', 'after_restart', 'after_busy', 'after_closed'],
    ...(keeps.busy ? ['in_busy'] : []),
    ...(keeps.closed ? ['in_closed'] : []),
    ...(keeps.last === true ? ['last'] : []),
  ];
  return persons
    .map((kinds, index) => [...kinds, ...(index === persons.length - 1 ? goesOn : [])].sort())
    .sort();
}
