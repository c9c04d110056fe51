// The migration that gives `campaign` a sixth value, on a database that has events with five.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { type OldDatabase, startOldDatabase } from '../test/harness/tables/old-database.ts';
import { expectRollupsOfEvents } from '../test/harness/tables/rollups.ts';
import { storedRow, storeRows } from '../test/harness/tables/stored-events.ts';

let database: OldDatabase;
beforeAll(async () => {
  database = await startOldDatabase('0029_ai_assistants.sql');
});
afterAll(() => database?.stop());

const campaigns = [
  {},
  { utm_source: 's' },
  { utm_content: 'c' },
  { utm_source: 's', utm_content: 'c' },
];

async function store(seed: string, more: Record<string, string> = {}): Promise<void> {
  const rows = campaigns.map((columns, index) =>
    storedRow({ projectId: 'p', kind: `${seed}.${index}`, columns: { ...columns, ...more } }),
  );
  await storeRows(database.client, rows);
}

it('leaves every value of before as it was, and has the new one', async () => {
  const { client } = database;
  await store('before');
  await database.interruptMigration();
  await store('between');
  await database.finishMigration();
  await store('after', { ai_assistant: 'ChatGPT' });
  const result = await client.query({
    query:
      "SELECT kind, utm_source, utm_content, ai_assistant FROM events WHERE campaign != '' ORDER BY kind",
    format: 'JSONCompactEachRow',
  });
  expect(await result.json()).toEqual([
    ['after.0', '', '', 'ChatGPT'],
    ['after.1', 's', '', 'ChatGPT'],
    ['after.2', '', 'c', 'ChatGPT'],
    ['after.3', 's', 'c', 'ChatGPT'],
    ...['before', 'between'].flatMap((when) => [
      [`${when}.1`, 's', '', ''],
      [`${when}.2`, '', 'c', ''],
      [`${when}.3`, 's', 'c', ''],
    ]),
  ]);
  await expectRollupsOfEvents(client);
});
