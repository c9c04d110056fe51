// Somebody who reads a project may ask for dear reads: texts that nearly match, eight at once. What a search costs,
// that the engine ends it, and that other projects and the probe of readiness are answered meanwhile.

import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { RowReader, Select } from '../platform/clickhouse/select-rows.ts';
import { FilterOperator } from '../proto/gen/common/v1/filter_pb.js';
import { useEngine } from '../test/harness/servers/use-servers.ts';
import { type ReadService, startReadService } from '../test/harness/services/read-service.ts';
import { storedRow, storeRows } from '../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../test/harness/tables/stored-profiles.ts';
import { turnBounds } from './calls/turn-bounds.ts';
import { systemTimer } from './timer.ts';
import { Turns } from './turns.ts';

const dear = 'prj_dear';
/** Has few texts: a search whose cost is not bounded takes seconds there, and minutes in the other. */
const near = 'prj_near';
const other = 'prj_other';
const person = 'a person';
const { CONTAINS } = FilterOperator;

/** The statements that are at the store, and the most of one project and of all there ever were. */
const atStore = { dear: 0, all: 0, mostDear: 0, mostAll: 0 };
/** A dear statement keeps its turn until then, however fast the engine is. */
let giveBack = () => {};
const givenBack = new Promise<void>((resolve) => {
  giveBack = resolve;
});
function countOf({ params }: Select): 0 | 1 {
  return Object.values(params).includes(dear) ? 1 : 0;
}

const engine = useEngine();
let service: ReadService;
beforeAll(async () => {
  const reader = (store: RowReader): RowReader => ({
    async select(select, onRow) {
      atStore.dear += countOf(select);
      atStore.all += 1;
      atStore.mostDear = Math.max(atStore.mostDear, atStore.dear);
      atStore.mostAll = Math.max(atStore.mostAll, atStore.all);
      try {
        await store.select(select, onRow);
        if (countOf(select) > 0) await givenBack;
      } finally {
        atStore.dear -= countOf(select);
        atStore.all -= 1;
      }
    },
  });
  const turns = new Turns({ ...turnBounds(1), waitMs: 120_000 }, systemTimer);
  service = await startReadService({ clickhouseUrl: engine.url, reader, turns });
  for (const [projectId, rows] of [
    [dear, 20_000],
    [near, 1_000],
  ]) {
    await service.clickhouse.command({
      query: `INSERT INTO events (project_id, event_id, kind, distinct_id, session_id, occur_time, receive_time, string_properties)
        SELECT '${projectId}', generateUUIDv4(), 'k', 'd', generateUUIDv4(), now64(3), now64(3), map('text', repeat('a', 1024), 'none', 'b')
        FROM numbers(${rows})`,
    });
  }
  await storeRows(service.clickhouse, [storedRow({ projectId: other, distinctId: person })]);
  await storeProfiles(service.clickhouse, [{ projectId: other, distinctId: person }]);
});
afterAll(() => service?.stop());

/** The longest part that is taken, and no text holds it, though each of its places begins like it. */
const nearMatch = `${'a'.repeat(255)}b`;
const search = (projectId: string, value: string, count = 1) =>
  service.activity(projectId).list({
    filters: Array.from({ length: count }, () => ({ property: 'text', operator: CONTAINS, value })),
  });

describe('a part that nearly matches', () => {
  it('costs no more than ten times a part that does not', async () => {
    const timed = async (value: string): Promise<number> => {
      const startMs = performance.now();
      expect((await search(near, value)).events).toEqual([]);
      return performance.now() - startMs;
    };
    await timed('zz');
    const plainMs = Math.min(await timed('zz'), await timed('zz'));
    // Neighbours add to a measurement and never take from it: work that is too much is above in every one.
    const least = async (value: string): Promise<number> => {
      let ms = await timed(value);
      for (let run = 1; run < 20 && ms >= 10 * plainMs; run++)
        ms = Math.min(ms, await timed(value));
      return ms;
    };
    expect(await least(nearMatch)).toBeLessThan(10 * plainMs);
    expect(await least(`${'ab'.repeat(100)}b`)).toBeLessThan(10 * plainMs);
    // A letter with three forms of different lengths.
    expect(await least(`${'K'.repeat(255)}b`)).toBeLessThan(10 * plainMs);
  });
});

describe('eight dear reads of one project', () => {
  it('take two turns at the engine, and others are answered meanwhile', async () => {
    const reads = Array.from({ length: 8 }, () => search(dear, nearMatch, 10));
    const answers = [];
    try {
      while (answers.length < 3) {
        const { profile } = await service.profiles(other).getByExternalId({ externalId: person });
        const { events } = await service.activity(other).list({});
        const ready = await service.clickhouse.isReady();
        answers.push([profile?.externalId, events.length, ready]);
      }
    } finally {
      giveBack();
    }
    expect(answers).toEqual(Array(3).fill([person, 1, true]));
    for (const { events } of await Promise.all(reads)) expect(events).toEqual([]);
    expect(atStore.mostDear).toBe(2);
    expect(atStore.mostAll).toBeLessThanOrEqual(4);
    expect(atStore.all).toBe(0);
  });
});

describe('requests of a size that no reader needs', () => {
  const method = 'shared.activity.v1.ActivityService/List';
  const among = (values: string[]) => ({
    filters: [{ property: 'a', operator: 'FILTER_OPERATOR_IN', values }],
  });

  it('are refused before their texts are looked at', async () => {
    const many = await service.post(dear, method, among(Array(80_000).fill('')));
    expect([many.status, JSON.parse(many.text).message]).toEqual([
      400,
      'filters[0].values: takes at most 1000',
    ]);
    const large = await service.post(dear, method, among(Array(120_000).fill('')));
    expect([large.status, JSON.parse(large.text).code]).toEqual([400, 'invalid_argument']);
    const filters = [
      { property: 'a', operator: FilterOperator.IN, values: Array(100_000).fill('') },
    ];
    const error = await service
      .activity(dear)
      .list({ filters })
      .then(() => expect.fail('taken'), ConnectError.from);
    expect(error.code).toBe(Code.InvalidArgument);
  });

  it('may be nested as deep as they like', async () => {
    const deep = `{"nonsense":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    expect((await service.post(dear, method, deep)).status).toBeLessThan(500);
  });
});
