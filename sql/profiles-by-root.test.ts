// The migration that lists merged ids by their roots, on a database that has merges: interrupted after each of its
// statements, with a writer that goes on meanwhile.

import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../platform/clickhouse.ts';
import { createLog } from '../platform/log.ts';
import { startEngine, type TestEngine } from '../test/engine.ts';
import { storeProfiles } from '../test/stored-profiles.ts';
import { migrate, splitStatements } from './migrate.ts';

const log = createLog('silent');
const migrations = join(import.meta.dirname, 'migrations');
const name = '0007_profiles_by_root.sql';
const text = readFileSync(join(migrations, name), 'utf8');
let engine: TestEngine;
let client: DatabaseClient;
let directory: string;
beforeAll(async () => {
  engine = await startEngine({ migrated: false });
  client = createClickHouse(engine.url, { log, maxConnections: 2 });
  directory = mkdtempSync(join(tmpdir(), 'millrace-migrations-'));
  for (const file of readdirSync(migrations).filter((one) => one < name)) {
    cpSync(join(migrations, file), join(directory, file));
  }
});
afterAll(async () => {
  await client?.close();
  await engine?.stop();
  rmSync(directory, { recursive: true });
});

/** Of the ids `id <number>`, who is merged into whom. */
async function merged(): Promise<string[]> {
  const result = await client.query({
    query: `WITH arrayMap(n -> concat('id ', toString(n)), range(50)) AS ids,
        arrayMap(id -> millraceProfileHash('p', id), ids) AS hashes
      SELECT concat(transform(profile_id, hashes, ids, 'nobody'), ' into ', transform(root_id, hashes, ids, 'nobody')) AS one
      FROM profiles_by_root FINAL WHERE project_id = 'p' AND live ORDER BY one`,
    format: 'JSONCompactEachRow',
  });
  return (await result.json<[string]>()).map(([one]) => one);
}

it('lists the merges that are there, and those that change while it is applied', async () => {
  await migrate(client, log, directory);
  await client.command({ query: 'SYSTEM STOP MERGES profiles' });
  // Of the first version everybody is merged into id 0. Of the second, in parts that are not merged with it: a third
  // still is, a third was taken back, a third has another root.
  for (const version of [1, 2]) {
    await client.command({
      query: `INSERT INTO profiles (project_id, edge, distinct_id, owner, root, version)
        SELECT 'p', true, concat('id ', toString(number)), root,
          if(${version} = 1, 'id 0', ['id 0', '', 'id 9'][1 + number % 3]) AS root, ${version}
        FROM numbers(1, 8)`,
    });
  }
  await client.command({
    query: `INSERT INTO profiles (project_id, edge, distinct_id, named, root, version) VALUES
      ('p', false, 'id 8', true, 'id 9', 2), ('p', false, 'id 0', true, '', 2)`,
  });
  const statements = splitStatements(text);
  expect(statements.length).toBe(4);
  for (let count = 1; count < statements.length; count++) {
    const stopped = [...statements.slice(0, count), 'SELECT throwIf(1)'].join(';\n');
    writeFileSync(join(directory, name), stopped);
    await expect(migrate(client, log, directory)).rejects.toMatchObject({ code: '395' });
  }
  // Between the view and what fills the table: one is taken back, one moves, one is new, one comes again as it was.
  const edge = { projectId: 'p', named: false, wasClaimed: true };
  const changed = [
    { ...edge, distinctId: 'id 3', storedRoot: 'id 0' },
    { ...edge, distinctId: 'id 5', storedRoot: 'id 9', root: 'id 20' },
    { ...edge, distinctId: 'id 30', root: 'id 0' },
    { ...edge, distinctId: 'id 8', storedRoot: 'id 9', root: 'id 9' },
  ];
  await storeProfiles(client, changed, '3');
  writeFileSync(join(directory, name), text);
  await migrate(client, log, directory);
  const expected = ['id 2 into id 9', 'id 30 into id 0', 'id 5 into id 20'];
  expected.push('id 6 into id 0', 'id 8 into id 9');
  expect(await merged()).toEqual(expected);
  // What the migration has put there goes as well, and does not come back with it.
  const moved = { ...edge, distinctId: 'id 6', storedRoot: 'id 0', root: 'id 20' };
  const back = { ...edge, distinctId: 'id 2', storedRoot: 'id 9' };
  await storeProfiles(client, [moved, back], '4');
  const now = ['id 30 into id 0', 'id 5 into id 20', 'id 6 into id 20', 'id 8 into id 9'];
  expect(await merged()).toEqual(now);
  for (const query of statements) await client.command({ query });
  expect(await merged()).toEqual(now);
});
