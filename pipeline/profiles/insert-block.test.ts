// Blocks of records, stored in a real engine and read back.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../platform/log.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { blockOf, insertBlock, isStored } from './insert-block.ts';
import { loadMembers, loadRecords } from './read-records.ts';
import { newRecord } from './record.ts';
import { ProfileTraits } from './traits.ts';

const engine = useEngine();
let clickhouse: DatabaseClient;

beforeAll(async () => {
  clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 2 });
});

afterAll(async () => {
  await clickhouse.close();
});

it('stores records of many ids and of few that read back the same, and tells blocks apart', async () => {
  const odd = ["it's", 'a b:c', '\\', '😀', '{p:String}'];
  const ids = [...odd, ...Array.from({ length: 20_000 }, (_, index) => `id-${index}`)];
  const records = ids.map((distinctId) => ({
    ...newRecord('many', distinctId),
    named: true,
    traits: new ProfileTraits([[distinctId, JSON.stringify(distinctId)]]),
    owner: 'owner',
    root: 'owner',
    wasClaimed: true,
  }));
  await insertBlock(clickhouse, blockOf(records, 3, '77'));
  const result = await clickhouse.query({
    query: 'SELECT uniqExact(_part) AS parts, count() AS n FROM profiles WHERE version = 77',
    format: 'JSONEachRow',
  });
  expect(await result.json()).toEqual([{ parts: '1', n: '40010' }]);
  expect(await isStored(clickhouse, 3, '77')).toBe(true);
  expect(await isStored(clickhouse, 3, '78')).toBe(false);
  expect(await isStored(clickhouse, 4, '77')).toBe(false);

  const names = ids.map((distinctId) => ({ projectId: 'many', distinctId }));
  for (const asked of [names, names.slice(0, 7)]) {
    const found = await loadRecords(clickhouse, asked);
    expect(found.map(({ distinctId }) => distinctId).sort()).toEqual(
      asked.map(({ distinctId }) => distinctId).sort(),
    );
    const one = found.find(({ distinctId }) => distinctId === "it's");
    expect(one).toMatchObject({
      named: true,
      owner: 'owner',
    });
    expect(one?.traits?.values).toEqual(new Map([["it's", `"it's"`]]));
  }
  expect(await loadRecords(clickhouse, [{ projectId: 'other', distinctId: 'id-1' }])).toEqual([]);
  expect((await loadMembers(clickhouse, [{ projectId: 'many', distinctId: 'owner' }])).length).toBe(
    ids.length,
  );
});
