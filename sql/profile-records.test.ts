// The migration that puts a profile's identity record beside the sums of its events, on a database that has both: it is
// interrupted after each of its statements, and profiles change before it is finished.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { readRecord, recordSql } from '../query/profiles/stored-profile.ts';
import { type OldDatabase, startOldDatabase } from '../test/harness/tables/old-database.ts';
import { storedRow, storeRows } from '../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../test/harness/tables/stored-profiles.ts';

let database: OldDatabase;
beforeAll(async () => {
  database = await startOldDatabase('0009_profile_records.sql');
});
afterAll(() => database?.stop());

const projectId = 'p';

async function rows(query: string): Promise<unknown[][]> {
  const result = await database.client.query({ query, format: 'JSONCompactEachRow' });
  return result.json<unknown[]>();
}

/** One line for each id: name, traits and `deleted` of its record, if any; its events; the years of two moments. */
async function stored(): Promise<unknown[]> {
  const found = await rows(`SELECT lower(hex(profile_id)) AS id, ${recordSql('profile_id')},
      toString(sum(total_events)), toString(year(min(first_received))), toString(year(min(first_seen)))
    FROM profile_activity WHERE project_id = '${projectId}' GROUP BY profile_id`);
  const texts = found.map(([id, text, ...rest]) => {
    const record = readRecord(String(id), text);
    if (record === undefined) return ['nobody', ...rest];
    const { externalId, traitKeys, traitValues } = record.stored;
    const traits = traitKeys.map((key, index) => `${key}=${traitValues[index]}`);
    return [externalId, traits.join(), record.deleted, ...rest];
  });
  return texts.sort((a, b) => (String(a[0]) < String(b[0]) ? -1 : 1));
}

it('copies existing records, and records that change while it is applied', async () => {
  const { client, statements } = database;
  for (const table of ['profiles', 'profile_activity']) {
    await client.command({ query: `SYSTEM STOP MERGES ${table}` });
  }
  const events = ['user 1', 'only events'].map((distinctId) => {
    const receiveTimeMs = Date.UTC(2026, 10, 1);
    return storedRow({ projectId, distinctId, receiveTimeMs });
  });
  await storeRows(client, events);
  const profile = (number: number, traits: object, fields: object = {}) => {
    return { projectId, distinctId: `user ${number}`, traits: { ...traits }, ...fields };
  };
  // The greater version has neither the greater text nor the greater first byte.
  const old = [1, 2, 3].map((number) => profile(number, { version: 255, odd: '\\"\n' }));
  await storeProfiles(client, old, '255');
  const merged = { wasClaimed: true, owner: 'user 1', root: 'user 1' };
  await storeProfiles(client, [profile(2, { version: 256 }), profile(4, {}, merged)], '256');
  expect(statements.length).toBe(6);
  await database.interruptMigration();
  const deleted = { deleted: true };
  await storeProfiles(client, [profile(3, {}, deleted), profile(5, { new: true })], '257');
  await database.finishMigration();
  const expected = [
    ['nobody', '1', '2026', '2026'],
    ['user 1', 'version=255,odd="\\\\\\"\\n"', false, '1', '2026', '2026'],
    ['user 2', 'version=256', false, '0', '2299', '2299'],
    ['user 3', '', true, '0', '2299', '2299'],
    ['user 4', '', false, '0', '2299', '2299'],
    ['user 5', 'new=true', false, '0', '2299', '2299'],
  ];
  expect(await stored()).toEqual(expected);
  for (const query of statements) await client.command({ query });
  for (const table of ['profiles', 'profile_activity']) {
    await client.command({ query: `SYSTEM START MERGES ${table}` });
  }
  await client.command({ query: 'OPTIMIZE TABLE profile_activity FINAL' });
  expect(await stored()).toEqual(expected);
  const layout = `SELECT engine_full LIKE '%merge_selector_base = 3%' FROM system.tables
    WHERE database = currentDatabase() AND name = 'profile_activity'`;
  expect(await rows(layout)).toEqual([[1]]);
  // A profile without events is not in profile_listing.
  expect(await rows('SELECT uniqExact(profile_id) FROM profile_listing')).toEqual([['2']]);
});
