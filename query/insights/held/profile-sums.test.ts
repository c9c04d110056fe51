// Sums of users beside sums that are made anew each time.

import { describe, expect, it } from 'vitest';
import { createDraw } from '../../../test/harness/insights/random.ts';
import type { HeldDay } from './held-days.ts';
import { MergedProfiles } from './merged-profiles.ts';
import { pairWords } from './packed-words.ts';
import { ProfileNumbers } from './profile-numbers.ts';
import { type MostEvents, ProfileSums } from './profile-sums.ts';

type Key = readonly [number, number];
type Events = [Key, number][];

const draw = createDraw(7);
const keys: readonly Key[] = Array.from({ length: 4_000 }, () => [
  draw.below(2 ** 32),
  draw.below(2 ** 32),
]);
const someEvents = (count: number, most: number): Events =>
  Array.from({ length: count }, () => [draw.pick(keys), 1 + draw.below(most)]);
const somePairs = (count: number): [Key, Key][] => {
  const ids = new Set(Array.from({ length: count }, () => draw.pick(keys)));
  return [...ids].map((id) => [id, draw.pick(keys)]);
};

function wordsOf(rows: readonly Key[]): string {
  return Buffer.from(Uint32Array.from(rows.flat()).buffer).toString('base64');
}

function pairsOf(events: Events): Uint32Array {
  return Uint32Array.from(events.flatMap(([[low, high], number]) => [low, high, number, 0]));
}

function dayOf(numbers: ProfileNumbers, events: Events): HeldDay {
  const quarters = [new Uint32Array(0), new Uint32Array(0), new Uint32Array(0)] as const;
  return {
    ...{ version: 1, persons: events.length, quarters },
    profiles: Uint32Array.from(events.map(([key]) => numbers.of(...key))),
    events: Uint32Array.from(events.map(([, number]) => number)),
  };
}

const mostOf = async (
  sums: ProfileSums,
  numbers: ProfileNumbers,
  others: Uint32Array,
  limit: number,
): Promise<MostEvents> => sums.most(await numbers.ofAll(others, pairWords), others, limit);

const nameOf = (key: Key): string => Buffer.from(Uint32Array.from(key).buffer).toString('hex');

/** Each user's events in a Map, sorted whole. */
function expected(
  events: Events,
  { merged, deleted }: { merged: [Key, Key][]; deleted: Key[] },
  limit: number,
): MostEvents {
  const roots = new Map(merged.map(([id, root]) => [nameOf(id), nameOf(root)]));
  const gone = new Set(deleted.map(nameOf));
  const sums = new Map<string, number>();
  for (const [key, number] of events) {
    const user = roots.get(nameOf(key)) ?? nameOf(key);
    if (!gone.has(user)) sums.set(user, (sums.get(user) ?? 0) + number);
  }
  const users = [...sums].map(([name, number]) => ({ name, events: number }));
  users.sort((one, other) => other.events - one.events || (one.name < other.name ? -1 : 1));
  return {
    users: users.slice(0, limit),
    count: users.length,
    whole: users.reduce((sum, { events: number }) => sum + number, 0),
  };
}

const identitiesOf = ({ merged, deleted }: { merged: [Key, Key][]; deleted: Key[] }) => ({
  merged: wordsOf(merged.flat()),
  deleted: wordsOf(deleted),
});
const nobodyMerged = { merged: [], deleted: [] };

describe('the users with the most events', () => {
  // Of few different numbers, most users come in the order of their names.
  it.each([
    ['who differ', 400],
    ['who have few events', 3],
    ['who have one event each', 1],
  ])('%s are those of sums made anew, question after question', async (_, most) => {
    const numbers = new ProfileNumbers();
    const days = [3_000, 2_000, 0].map((count) => someEvents(count, most));
    const held = days.map((events) => dayOf(numbers, events));
    const sums = await ProfileSums.of(numbers, held);
    let change = { merged: somePairs(500), deleted: [draw.pick(keys)] };
    for (let turn = 0; turn < 40; turn++) {
      sums.follow(await MergedProfiles.of(identitiesOf(change), numbers));
      const others = someEvents(turn % 4 === 0 ? 0 : 50, turn % 3 === 0 ? 2_000 : most);
      const limit = draw.pick([1, 10, 100]);
      expect(await mostOf(sums, numbers, pairsOf(others), limit)).toEqual(
        expected([...days.flat(), ...others], change, limit),
      );
      const { merged, deleted } = change;
      const left = merged.filter(() => draw.chance(0.98));
      const known = new Set(left.map(([id]) => id));
      const more = somePairs(turn === 20 ? 3_000 : 5).filter(([id]) => !known.has(id));
      change = {
        merged: [...left, ...more],
        deleted: turn % 10 === 0 ? [] : [...deleted, draw.pick(keys)],
      };
    }
  });

  it('are others where all who had the most are deleted', async () => {
    const numbers = new ProfileNumbers();
    const events: Events = keys.map((key, index) => [key, index + 1]);
    const sums = await ProfileSums.of(numbers, [dayOf(numbers, events)]);
    sums.follow(await MergedProfiles.of(identitiesOf(nobodyMerged), numbers));
    const change = { merged: [], deleted: keys.slice(-1_500) };
    sums.follow(await MergedProfiles.of(identitiesOf(change), numbers));
    expect(await mostOf(sums, numbers, new Uint32Array(0), 10)).toEqual(
      expected(events, change, 10),
    );
  });

  it('are those of profiles, too, that are in no held day', async () => {
    const numbers = new ProfileNumbers();
    const sums = await ProfileSums.of(numbers, []);
    sums.follow(await MergedProfiles.of(identitiesOf(nobodyMerged), numbers));
    const others = someEvents(2_000, 9);
    expect(await mostOf(sums, numbers, pairsOf(others), 10)).toEqual(
      expected(others, nobodyMerged, 10),
    );
    expect(await mostOf(sums, numbers, new Uint32Array(0), 10)).toEqual({
      users: [],
      count: 0,
      whole: 0,
    });
  });

  it('have more events than fit into 32 bits', async () => {
    const numbers = new ProfileNumbers();
    const key = keys[0] ?? [0, 0];
    const sums = await ProfileSums.of(numbers, [dayOf(numbers, [[key, 2 ** 32 - 1]])]);
    sums.follow(await MergedProfiles.of(identitiesOf(nobodyMerged), numbers));
    const others = Uint32Array.from([...key, 5, 3]);
    expect(others).toHaveLength(pairWords);
    const events = 2 ** 32 - 1 + 3 * 2 ** 32 + 5;
    expect(await mostOf(sums, numbers, others, 1)).toEqual({
      users: [{ name: nameOf(key), events }],
      count: 1,
      whole: events,
    });
  });
});
