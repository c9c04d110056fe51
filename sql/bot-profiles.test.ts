// The migration that tells profiles of bots from those of people, on a database that has both: it is interrupted after
// each of its statements, and applied by a second process that is late.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OldDatabase, startOldDatabase } from '../test/harness/tables/old-database.ts';
import { storedRow, storeRows } from '../test/harness/tables/stored-events.ts';

let database: OldDatabase;
beforeAll(async () => {
  database = await startOldDatabase('0032_bot_profiles.sql');
});
afterAll(() => database?.stop());

const projectId = 'p';
const event = (distinctId: string, isBot: boolean) =>
  storedRow({ projectId, distinctId, bools: isBot ? { $bot: true } : {} });

/** An identity record of a profile, as it was written with the columns of before. */
async function storeRecord(distinctId: string): Promise<void> {
  await database.client.command({
    query: `INSERT INTO profile_activity (project_id, profile_id, first_seen, first_received, record)
      SELECT '${projectId}', millraceProfileHash('${projectId}', '${distinctId}'),
        toDateTime64('2299-12-31 23:59:59.999', 3, 'UTC'), toDateTime64('2299-12-31 23:59:59.999', 3, 'UTC'), 'x'`,
  });
}

/** The distinct ids of `asked` with an event of a person. */
async function people(table: string, asked: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  for (const id of asked) {
    const result = await database.client.query({
      query: `SELECT max(person) FROM ${table} WHERE profile_id = millraceProfileHash('${projectId}', '${id}')`,
      format: 'JSONCompactEachRow',
    });
    const [[isPerson] = []] = await result.json<[boolean | number]>();
    if (Number(isPerson) === 1) found.push(id);
  }
  return found;
}

it('takes profiles of before for people, and tells bots of from now on', async () => {
  await storeRows(database.client, [event('of before', true)]);
  await storeRecord('named crawler');
  await database.interruptMigration();
  await database.finishMigration();
  const after = [event('crawler', true), event('named crawler', true), event('both', true)];
  await storeRows(database.client, after);
  await storeRows(database.client, [event('both', false), event('ada', false)]);
  await storeRecord('crawler');
  for (const query of database.statements) await database.client.command({ query });
  await storeRows(database.client, [event('crawler', true)]);
  const asked = ['of before', 'crawler', 'named crawler', 'both', 'ada'];
  for (const end of ['', ' FINAL']) {
    for (const table of ['profile_activity', 'profile_listing'])
      expect(await people(table + end, asked)).toEqual(['of before', 'both', 'ada']);
  }
});
