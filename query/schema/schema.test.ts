// Names and values for pickers, end to end over HTTP and the real engine: exact counts and types, bounds for projects
// with thousands of names, hostile names, and merged types.

import { randomUUID } from 'node:crypto';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dayMs } from '../../platform/clock.ts';
import { PropertySource } from '../../proto/gen/common/v1/filter_pb.js';
import { PropertyValueType } from '../../proto/gen/common/v1/filter_schema_pb.js';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../../test/harness/services/read-service.ts';
import { type StoredRow, storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';

const nowMs = Date.UTC(2026, 10, 20, 12);
const engine = useEngine();
let service: ReadService;
beforeAll(async () => {
  service = await startReadService({
    clickhouseUrl: engine.url,
    clock: { nowMs: () => nowMs },
  });
});
afterAll(() => service?.stop());

function row(projectId: string, fields: Partial<StoredRow> = {}): StoredRow {
  return storedRow({ projectId, occurTimeMs: nowMs - 3_600_000, ...fields });
}

async function refused(call: Promise<unknown>): Promise<string> {
  const error = await call.then(
    () => undefined,
    (cause: unknown) => cause,
  );
  if (!(error instanceof ConnectError)) return 'answered';
  expect(error.code).toBe(Code.InvalidArgument);
  return error.rawMessage;
}

describe('names', () => {
  const projectId = randomUUID();
  beforeAll(async () => {
    const late = { receiveTimeMs: nowMs + 5_000 };
    await storeRows(service.clickhouse, [
      row(projectId, { strings: { plan: 'pro' }, columns: { browser: 'Lynx' } }),
      row(projectId, { ints: { plan: 1n }, strings: { $browser: '' } }),
      row(projectId, { strings: { plan: 'free', "a'; --": 'x' }, ...late }),
    ]);
    await storeRows(service.clickhouse, [
      row(projectId, { kind: 'Click', bools: { plan: true }, times: { at: 5 } }),
    ]);
    const traits = { plan: 'pro', 'seats.max': 3, odd: [1], none: null };
    await storeProfiles(service.clickhouse, [
      { projectId, distinctId: 'a', traits },
      { projectId, distinctId: 'b', traits: { plan: 1.5 } },
      { projectId, distinctId: 'c', traits: { plan: 'gone' }, deleted: true },
    ]);
    await storeProfiles(
      service.clickhouse,
      [{ projectId, distinctId: 'b', traits: { plan: 2.5 } }],
      '2',
    );
  });

  it('with counts, types and last moments, the most frequent first', async () => {
    const { kinds, properties, isCut } = await service.insights(projectId).getFilterSchema({});
    expect(kinds.map(({ kind, count }) => [kind, count])).toEqual([
      ['page_view', 3n],
      ['Click', 1n],
    ]);
    expect(kinds[0]?.lastSeen).toEqual(timestampFromMs(nowMs + 5_000));
    const { STRING, INTEGER, FLOAT, BOOLEAN, DATETIME, OTHER } = PropertyValueType;
    const { AUTO, CUSTOM, PROFILE } = PropertySource;
    expect(
      properties.map(({ property, count, types, source }) => [property, count, types, source]),
    ).toEqual([
      ['plan', 4n, [STRING, BOOLEAN, INTEGER], CUSTOM],
      ['$browser', 2n, [STRING], AUTO],
      ['profile.plan', 2n, [FLOAT, STRING], PROFILE],
      ["a'; --", 1n, [STRING], CUSTOM],
      ['at', 1n, [DATETIME], CUSTOM],
      ['profile.odd', 1n, [OTHER], PROFILE],
      ['profile.seats.max', 1n, [INTEGER], PROFILE],
    ]);
    expect(properties[0]?.lastSeen).toEqual(timestampFromMs(nowMs + 5_000));
    expect(properties[2]?.lastSeen).toBeUndefined();
    expect(isCut).toBe(false);
  });

  it('by the place of their values, on both services alike, and of the types asked for', async () => {
    const { STRING, INTEGER, FLOAT, DATETIME, OTHER } = PropertyValueType;
    const schema = await service.insights(projectId).getFilterSchema({});
    expect(await service.activity(projectId).getFilterSchema({})).toEqual(schema);
    expect(schema.events.map(({ name, count }) => [name, count])).toEqual([
      ['page_view', 3n],
      ['Click', 1n],
    ]);
    expect(schema.events[0]?.lastSeenAt).toEqual(timestampFromMs(nowMs + 5_000));
    const shown = (keys: typeof schema.autoPropertyKeys) =>
      keys.map(({ name, count, valueType }) => [name, count, valueType]);
    expect(shown(schema.autoPropertyKeys)).toEqual([['$browser', 2n, STRING]]);
    expect(shown(schema.customPropertyKeys)).toEqual([
      ['plan', 4n, STRING],
      ["a'; --", 1n, STRING],
      ['at', 1n, DATETIME],
    ]);
    expect(shown(schema.profilePropertyKeys)).toEqual([
      ['plan', 2n, FLOAT],
      ['odd', 1n, OTHER],
      ['seats.max', 1n, INTEGER],
    ]);
    const allowedTypes = [INTEGER, DATETIME];
    const numeric = await service.insights(projectId).getFilterSchema({ allowedTypes });
    expect(numeric.events).toHaveLength(2);
    expect(shown(numeric.customPropertyKeys)).toEqual([
      ['at', 1n, DATETIME],
      ['plan', 1n, INTEGER],
    ]);
    expect(shown(numeric.profilePropertyKeys)).toEqual([['seats.max', 1n, INTEGER]]);
    expect(shown(numeric.autoPropertyKeys)).toEqual([]);
    const none = service.insights(projectId).getFilterSchema({ allowedTypes: [0] });
    expect(await refused(none)).toBe('allowedTypes[0]: 0 is not a type');
  });

  it('beside whether there are bots and cookieless visitors, whatever names are asked for', async () => {
    const visited = randomUUID();
    const seen = async (id: string) => {
      const asked = { prefix: 'nothing', limit: 1 };
      const { hasBots, hasCookieless } = await service.insights(id).getFilterSchema(asked);
      return { hasBots, hasCookieless };
    };
    await storeRows(service.clickhouse, [row(visited)]);
    expect(await seen(visited)).toEqual({ hasBots: false, hasCookieless: false });
    const fields = { cookieless: true, distinctId: 'cookieless-x', kind: 'Click' };
    await storeRows(service.clickhouse, [row(visited, fields)]);
    expect(await seen(visited)).toEqual({ hasBots: false, hasCookieless: true });
    await storeRows(service.clickhouse, [row(visited, { bools: { $bot: true } })]);
    expect(await seen(visited)).toEqual({ hasBots: true, hasCookieless: true });
    expect(await seen(projectId)).toEqual({ hasBots: false, hasCookieless: false });
  });

  it('of one kind, by a prefix in any case, and cut at a limit', async () => {
    const read = service.insights(projectId);
    const named = async (request: Parameters<typeof read.getFilterSchema>[0]) => {
      const { kinds, properties, isCut } = await read.getFilterSchema(request);
      return [kinds.map(({ kind }) => kind), properties.map(({ property }) => property), isCut];
    };
    expect(await named({ eventKind: 'Click', prefix: 'PL' })).toEqual([[], ['plan'], false]);
    expect(await named({ prefix: 'profile.p' })).toEqual([[], ['profile.plan'], false]);
    expect(await named({ prefix: 'c' })).toEqual([['Click'], [], false]);
    // Not a pattern.
    expect(await named({ prefix: '.*' })).toEqual([[], [], false]);
    expect(await named({ limit: 1 })).toEqual([['page_view'], ['plan'], true]);
  });

  it('refuses what breaks a rule', async () => {
    const read = service.insights(projectId);
    expect(await refused(read.getFilterSchema({ limit: 1_001 }))).toBe(
      'limit: must be from 1 to 1000',
    );
    expect(await refused(read.getFilterSchema({ limit: -1 }))).toBe(
      'limit: must be from 1 to 1000',
    );
    expect(await refused(read.getFilterSchema({ prefix: 'x'.repeat(264) }))).toBe(
      'prefix: takes at most 263 code points',
    );
    expect(await refused(read.getFilterSchema({ eventKind: 'x'.repeat(201) }))).toBe(
      'eventKind: takes at most 200 characters',
    );
  });
});

describe('ten thousand names', () => {
  const projectId = randomUUID();
  beforeAll(async () => {
    for (let start = 0; start < 10_000; start += 1_000) {
      const rows = Array.from({ length: 10 }, (_, index) => {
        const names = Array.from({ length: 100 }, (__, place) => `n${start + 100 * index + place}`);
        return row(projectId, {
          ints: { often: 1n, ...Object.fromEntries(names.map((name) => [name, 1n])) },
        });
      });
      await storeRows(service.clickhouse, rows);
    }
  });

  it('are answered as far as the limit goes, and found by their beginning', async () => {
    const read = service.insights(projectId);
    const all = await read.getFilterSchema({});
    expect(all.properties).toHaveLength(1_000);
    expect(all.properties[0]).toMatchObject({ property: 'often', count: 100n });
    expect(all.isCut).toBe(true);
    const some = await read.getFilterSchema({ prefix: 'N999' });
    expect(some.properties.map(({ property }) => property)).toEqual([
      'n999',
      ...Array.from({ length: 10 }, (_, digit) => `n999${digit}`),
    ]);
    expect(some.isCut).toBe(false);
  });

  it('beyond what a block may add are told to be missing', async () => {
    const other = randomUUID();
    const names = (start: number) =>
      Object.fromEntries(Array.from({ length: 250 }, (_, place) => [`n${start + place}`, 1n]));
    const flood = Array.from({ length: 9 }, (_, index) => row(other, { ints: names(index * 250) }));
    await storeRows(service.clickhouse, flood);
    const read = service.insights(other);
    expect((await read.getFilterSchema({ prefix: 'n1' })).isCut).toBe(true);
    // One of the missing names: its values are looked for in every map.
    const { properties } = await read.getFilterSchema({ prefix: 'n999' });
    expect(properties).toEqual([]);
    const { counts } = await read.getPropertyValues({ propertyKey: 'n999' });
    expect(counts.map(({ value, count }) => [value, count])).toEqual([['1', 1n]]);
  });
});

describe('values', () => {
  const projectId = randomUUID();
  beforeAll(async () => {
    const old = { occurTimeMs: nowMs - 31 * dayMs };
    await storeRows(service.clickhouse, [
      row(projectId, { strings: { mixed: '1', city: 'Ärhus' }, columns: { country: 'DE' } }),
      row(projectId, {
        ints: { mixed: 1n },
        strings: { city: 'ärhus' },
        columns: { country: 'DE' },
      }),
      row(projectId, { doubles: { mixed: 1 }, strings: { $country: '' } }),
      row(projectId, { doubles: { mixed: -0 }, kind: 'other' }),
      row(projectId, { bools: { mixed: true }, ints: { $country: 7n } }),
      row(projectId, { times: { mixed: Date.UTC(2026, 0, 2) } }),
      row(projectId, { doubles: { mixed: 1e300 } }),
    ]);
    await storeRows(service.clickhouse, [row(projectId, { strings: { mixed: '1' }, ...old })]);
    await storeProfiles(service.clickhouse, [
      { projectId, distinctId: 'a', traits: { plan: 'Pro', seats: { max: 3 } } },
      { projectId, distinctId: 'b', traits: { plan: 'Pro', seats: { max: 4 } } },
      { projectId, distinctId: 'c', traits: { plan: 'free', list: [1] } },
    ]);
  });
  const values = async (
    request: Parameters<ReturnType<ReadService['insights']>['getPropertyValues']>[0],
  ) => {
    const answer = await service.insights(projectId).getPropertyValues(request);
    expect(answer.values).toEqual(answer.counts.map(({ value }) => value));
    return answer.counts.map(({ value, count }) => `${value} ${count}`);
  };

  it('of all types with one canonical text are one, the most frequent first', async () => {
    expect(await values({ propertyKey: 'mixed' })).toEqual([
      '1 3',
      '0 1',
      '1e+300 1',
      '2026-01-02T00:00:00Z 1',
      'true 1',
    ]);
    expect(await values({ propertyKey: '$country' })).toEqual(['DE 2', ' 1', '7 1']);
    expect(await values({ propertyKey: 'absent' })).toEqual([]);
  });

  it('by kind, prefix, limit and time', async () => {
    expect(await values({ propertyKey: 'mixed', eventKind: 'other' })).toEqual(['0 1']);
    expect(await values({ propertyKey: 'mixed', limit: 1 })).toEqual(['1 3']);
    expect(await values({ propertyKey: 'mixed', prefix: 'TR' })).toEqual(['true 1']);
    expect(await values({ propertyKey: 'city', prefix: 'är' })).toEqual(['Ärhus 1', 'ärhus 1']);
    const timeRange = { from: timestampFromMs(nowMs - 90 * dayMs) };
    expect((await values({ propertyKey: 'mixed', timeRange }))[0]).toBe('1 4');
    const before = { to: timestampFromMs(nowMs - 30 * dayMs) };
    expect(await values({ propertyKey: 'mixed', timeRange: before })).toEqual(['1 1']);
  });

  it('are told to be cut at the limit, and where their texts are too long together', async () => {
    const read = service.insights(projectId);
    const isCut = async (limit: number) =>
      (await read.getPropertyValues({ propertyKey: 'mixed', limit })).isCut;
    expect([await isCut(4), await isCut(5)]).toEqual([true, false]);
    const other = randomUUID();
    // Six characters of JSON each.
    const long = '\u0001'.repeat(60_000);
    const rows = Array.from({ length: 30 }, (_, index) =>
      row(other, { strings: { long: `${index}${long}` } }),
    );
    await storeRows(service.clickhouse, rows);
    const answer = await service
      .insights(other)
      .getPropertyValues({ propertyKey: 'long', limit: 100 });
    expect(answer.isCut).toBe(true);
    expect(answer.values.length).toBeGreaterThan(20);
    expect(answer.values.length).toBeLessThan(30);
  });

  it('of traits are counted by profiles', async () => {
    expect(await values({ propertyKey: 'profile.plan' })).toEqual(['Pro 2', 'free 1']);
    expect(await values({ propertyKey: 'profile.plan', prefix: 'f' })).toEqual(['free 1']);
    expect(await values({ propertyKey: 'profile.seats.max' })).toEqual(['3 1', '4 1']);
    expect(await values({ propertyKey: 'profile.list' })).toEqual(['[1] 1']);
  });

  it('of a property that is named by its place', async () => {
    const { AUTO, CUSTOM, PROFILE } = PropertySource;
    const read = service.activity(projectId);
    const of = async (propertyKey: string, source: PropertySource) =>
      (await read.getPropertyValues({ propertyKey, source })).values;
    expect(await of('plan', PROFILE)).toEqual(['Pro', 'free']);
    expect(await of('plan', CUSTOM)).toEqual([]);
    expect(await of('city', CUSTOM)).toEqual(['Ärhus', 'ärhus']);
    expect(await of('$country', AUTO)).toEqual(['DE', '', '7']);
    expect(await of('profile.plan', CUSTOM)).toEqual([]);
    const starts = 'propertyKey: an auto property starts with $';
    expect(await refused(of('country', AUTO))).toBe(starts);
    const doesNot = 'propertyKey: a custom property does not start with $';
    expect(await refused(of('$country', CUSTOM))).toBe(doesNot);
  });

  it('refuses what breaks a rule', async () => {
    const read = service.insights(projectId);
    const from = timestampFromMs(nowMs - 91 * dayMs);
    expect(await refused(read.getPropertyValues({}))).toBe('propertyKey: must be given');
    expect(await refused(read.getPropertyValues({ propertyKey: 'x', limit: 101 }))).toBe(
      'limit: must be from 1 to 100',
    );
    expect(await refused(read.getPropertyValues({ propertyKey: 'x', timeRange: { from } }))).toBe(
      'timeRange: takes at most 90 days',
    );
    expect(
      await refused(read.getPropertyValues({ propertyKey: 'x', prefix: 'x'.repeat(257) })),
    ).toBe('prefix: takes at most 256 code points');
    expect(
      await refused(read.getPropertyValues({ propertyKey: 'profile.x', eventKind: 'k' })),
    ).toBe('eventKind: must be empty for a trait');
    expect(await refused(read.getPropertyValues({ propertyKey: 'x'.repeat(256) }))).toBe(
      'propertyKey: takes at most 255 code points',
    );
  });

  it('names that would be SQL or patterns are only names', async () => {
    for (const property of [
      "'",
      '`',
      '{p0:String}',
      '\\',
      'a\u0000',
      "') OR 1=1 --",
      '$',
      '.',
      'profile.',
      "profile.a'.b",
    ]) {
      expect(await values({ propertyKey: property, prefix: property.slice(0, 20) })).toEqual([]);
    }
  });
});
