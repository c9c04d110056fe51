// The migration that stores numbers of `events` by T64, on a database that has events of before and gets more.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OldDatabase, startOldDatabase } from '../test/harness/tables/old-database.ts';

let database: OldDatabase;
beforeAll(async () => {
  database = await startOldDatabase('0026_packed_numbers.sql');
});
afterAll(() => database?.stop());

/** Sequences and milliseconds beside each other, from the least that the columns hold to the greatest. */
const numbers: [sequence: bigint, receiveMs: bigint][] = [
  [0n, -2_208_988_800_000n],
  [1n, -1n],
  [2n ** 32n, 0n],
  [2n ** 63n, 1_795_000_000_123n],
  [2n ** 64n - 1n, 10_413_791_999_999n],
];

async function store(kind: string): Promise<void> {
  const rows = numbers.map(
    ([sequence, ms]) =>
      `('p', generateUUIDv4(), '${kind}', '2026-11-01', fromUnixTimestamp64Milli(toInt64(${ms}), 'UTC'), ${sequence})`,
  );
  await database.client.command({
    query: `INSERT INTO events (project_id, event_id, kind, occur_time, receive_time, stream_seq) VALUES ${rows.join(', ')}`,
  });
}

async function rowsOf(query: string): Promise<string[][]> {
  const result = await database.client.query({ query, format: 'JSONCompactStringsEachRow' });
  return result.json<string[]>();
}

it('keeps every number, from before and from after, and stores it by T64', async () => {
  await store('before');
  await database.finishMigration();
  await store('after');
  await database.client.command({ query: 'OPTIMIZE TABLE events FINAL' });

  const read = 'SELECT stream_seq, toUnixTimestamp64Milli(receive_time) FROM events';
  const stored = numbers.map((pair) => pair.map(String));
  for (const kind of ['before', 'after']) {
    expect(await rowsOf(`${read} WHERE kind = '${kind}' ORDER BY stream_seq`)).toEqual(stored);
  }
  const [[schema = ''] = []] = await rowsOf('SHOW CREATE TABLE events');
  expect(schema).toContain('`stream_seq` UInt64 CODEC(T64');
  expect(schema).toContain("`receive_time` DateTime64(3, 'UTC') CODEC(T64");
});
