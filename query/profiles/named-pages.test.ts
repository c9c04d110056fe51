// Pages of named profiles against a model: more profiles than the first statement looks at, several of each moment, and
// changes while pages are read. Other kinds of profiles are profile-page.test.ts's.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { FilterOperator } from '../../proto/gen/common/v1/filter_pb.js';
import type { ListResponse } from '../../proto/gen/shared/profiles/v1/profiles_pb.js';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { type StoredProfile, storeProfiles } from '../../test/harness/tables/stored-profiles.ts';

const engine = useEngine();
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({ clickhouseUrl: engine.url });
  // Without the engine's merges, reads meet every old row.
  await service.clickhouse.command({ query: 'SYSTEM STOP MERGES profiles' });
  await service.clickhouse.command({ query: 'SYSTEM STOP MERGES profiles_by_creation' });
});
afterAll(async () => {
  await service?.stop();
});

const startMs = Date.UTC(2026, 9, 1);
type Request = Parameters<ReturnType<ReadService['profiles']>['list']>[0];

/** A page's profiles as `<creation in ms> <externalId> <mark>`, and the next page's token. */
interface Page {
  places: string[];
  nextPageToken: string;
}

async function pages(projectId: string, request: Request, atMost = 1_000): Promise<Page[]> {
  const found: Page[] = [];
  for await (const { profiles, nextPageToken } of service.profiles(projectId).list(request)) {
    found.push({ places: profiles.map(placeOf), nextPageToken: nextPageToken ?? '' });
    if (found.length === atMost) break;
  }
  return found;
}

function placeOf({ createTime, externalId, properties }: ListResponse['profiles'][number]): string {
  const { seconds = 0n, nanos = 0 } = createTime ?? {};
  return `${Number(seconds) * 1_000 + nanos / 1_000_000} ${externalId} ${properties?.['mark']}`;
}

function having(mark: string): Request {
  const filter = { property: 'mark', operator: FilterOperator.EQUALS, value: mark };
  return { filterGroups: [{ filters: [filter] }] };
}

interface Person {
  distinctId: string;
  createTimeMs: number;
  mark: string;
}

const stored = (projectId: string, { mark, ...person }: Person): StoredProfile => {
  return { projectId, ...person, traits: { mark } };
};

/** Newest first. Within one moment the list sorts by the ids' hashes, which the model does not know. */
function sorted(places: string[]): string[] {
  return [...places].sort((a, b) => Number.parseInt(b, 10) - Number.parseInt(a, 10));
}
function placesOf(people: readonly Person[]): string[] {
  return sorted(people.map((one) => `${one.createTimeMs} ${one.distinctId} ${one.mark}`));
}
function expectSame(found: readonly string[], expected: readonly string[]): void {
  expect(found).toEqual(sorted([...found]));
  expect([...found].sort()).toEqual([...expected].sort());
}

describe('among 9,000', () => {
  const projectId = 'crowd';
  const people = Array.from({ length: 9_000 }, (_, index): Person => {
    const mark = index < 130 ? 'first' : index > 8_960 ? 'last' : index % 30 === 0 ? 'some' : '';
    return { distinctId: `user ${index}`, createTimeMs: startMs + Math.floor(index / 7), mark };
  });
  beforeAll(async () => {
    await storeProfiles(
      service.clickhouse,
      people.map((person) => stored(projectId, person)),
    );
  });

  it.each([['first'], ['last'], ['some'], ['none']])('finds those marked %s', async (mark) => {
    const found = await pages(projectId, having(mark));
    const expected = placesOf(people.filter((person) => person.mark === mark));
    expectSame(
      found.flatMap(({ places }) => places),
      expected,
    );
    // Each token leads to the rest.
    for (const [index, { nextPageToken }] of found.entries()) {
      if (nextPageToken === '') continue;
      const rest = await pages(projectId, { ...having(mark), pageToken: nextPageToken });
      expect(rest).toEqual(found.slice(index + 1));
    }
  });

  it('finds each once, though many share the moment where the first statement stops', async () => {
    const tied = 'tied';
    await storeProfiles(
      service.clickhouse,
      Array.from({ length: 4_300 }, (_, index) =>
        stored(tied, { distinctId: `user ${index}`, createTimeMs: startMs, mark: `${index % 2}` }),
      ),
    );
    const found = await pages(tied, having('1'));
    const places = found.flatMap((page) => page.places);
    expect(new Set(places).size).toBe(2_150);
    expect(places.length).toBe(2_150);
  });
});

describe('profiles that change while pages are read', () => {
  // Each change is tried at several places of the list.
  const changes: [
    string,
    (person: Person) => Partial<StoredProfile>,
    (person: Person) => Person[],
  ][] = [
    [
      'gets another trait',
      () => ({ traits: { mark: 'new' } }),
      (person) => [{ ...person, mark: 'new' }],
    ],
    ['is deleted', () => ({ deleted: true, traits: {} }), () => []],
    ['is merged', () => ({ owner: 'user 0', root: 'user 0', wasClaimed: true }), () => []],
    [
      'is deleted and made anew at once',
      ({ createTimeMs }) => ({
        createTimeMs: startMs + 900_000,
        formerCreateTimesMs: [startMs + 800_000, createTimeMs],
      }),
      (person) => [{ ...person, createTimeMs: startMs + 900_000 }],
    ],
    [
      'is deleted and made anew within a millisecond',
      ({ createTimeMs }) => ({ formerCreateTimesMs: [createTimeMs] }),
      (person) => [person],
    ],
  ];

  it.each(changes)('one that %s is listed once, in its new state', async (name, change, after) => {
    const people = Array.from({ length: 250 }, (_, index): Person => {
      return { distinctId: `user ${index}`, createTimeMs: startMs + 1_000 * index, mark: 'old' };
    });
    const projectId = name;
    const store = (rows: readonly StoredProfile[], version: string): Promise<void> =>
      storeProfiles(service.clickhouse, rows, version);
    await store(
      people.map((person) => stored(projectId, person)),
      '1',
    );
    const [first] = await pages(projectId, {}, 1);
    expect(first?.places).toEqual(placesOf(people).slice(0, 100));

    const changed = people.filter((_, index) => index % 50 === 7);
    const others = people.filter((person) => !changed.includes(person));
    await store(
      changed.map((person) => ({ ...stored(projectId, person), ...change(person) })),
      '3',
    );
    // A block that comes late holds a former state.
    await store(
      changed.map((person) => ({ ...stored(projectId, person), traits: { mark: 'late' } })),
      '2',
    );
    const now = placesOf([...others, ...changed.flatMap(after)]);
    const lastMs = startMs + 1_000 * 150;
    const rest = await pages(projectId, { pageToken: first?.nextPageToken ?? '' });
    expect(rest.flatMap(({ places }) => places)).toEqual(
      now.filter((place) => Number.parseInt(place, 10) < lastMs),
    );
    const again = await pages(projectId, {});
    const places = again.flatMap((page) => page.places);
    expectSame(places, now);

    // A profile whose merge or deletion was taken back is listed at its old place.
    await store(
      changed.map((person) => stored(projectId, person)),
      '4',
    );
    if (name.includes('anew at once')) return;
    const whole = await pages(projectId, {});
    expect(whole.flatMap((page) => page.places)).toEqual(placesOf(people));
  });
});
