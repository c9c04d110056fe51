// A backup of an instance under load, while the command and the service are killed in it, and its restore into an empty
// data directory: every event that was acknowledged before it is there once, and so is all that is made of them.

import { existsSync, mkdtempSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readManifest } from '../backup/manifest.ts';
import { admin, startAdmin } from './harness/backups/admin-run.ts';
import { type SteadyLoad, startSteadyLoad } from './harness/backups/steady-load.ts';
import { batchCreate, eventually, newEvent, rows } from './harness/clients/client.ts';
import { profileOf } from './harness/clients/profile-client.ts';
import { removeFolder } from './harness/remove-folder.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-backup-'));
const [from, to, place] = ['from', 'to', 'backup'].map((name) => join(directory, name));
if (from === undefined || to === undefined || place === undefined) throw new Error('no directory');
const seed = Number(process.env['MILLRACE_CRASH_SEED'] ?? Date.now() % 100_000);

let stack: Stack;
let load: SteadyLoad;
beforeAll(async () => {
  stack = await startStack({ dataDir: from });
  load = startSteadyLoad(() => stack);
});
afterAll(async () => {
  await load.stop();
  await stack.stop();
  await removeFolder(directory);
});

const storedEvents = (url: string) =>
  rows<{ count: number; ids: number }>(
    url,
    'SELECT count() AS count, uniqExact(event_id) AS ids FROM events',
  ).then(([row]) => row ?? { count: 0, ids: 0 });

/** Writers that stood still for a command that is gone go on. */
async function expectToBeStored(): Promise<void> {
  const batch = [newEvent(), newEvent()];
  const ids = batch.map(({ eventId }) => `'${eventId}'`).join(', ');
  await eventually(
    () => batchCreate(stack, batch),
    ({ status }) => status === 200,
  );
  await eventually(
    () => rows(stack.clickhouseUrl, `SELECT event_id FROM events WHERE event_id IN (${ids})`),
    (found) => found.length === 2,
  );
}

it(`goes on after kills of the command and of the service (seed ${seed})`, async () => {
  await eventually(
    () => storedEvents(stack.clickhouseUrl),
    ({ ids }) => ids > 500,
  );
  for (let round = 0; round < 2; round++) {
    const { child, ended } = startAdmin(from, ['backup', place]);
    await delay(600 + ((seed * 7 + round * 331) % 900));
    child.kill('SIGKILL');
    await ended;
    await expectToBeStored();
  }
  const { ended } = startAdmin(from, ['backup', place]);
  await delay(700 + (seed % 300));
  stack.kill9('service');
  const cut = await ended;
  stack = await stack.restart();
  // The log's lines may stand before it.
  const sentence = cut.error.trimEnd().split('\n').at(-1);
  if (cut.code !== 0) expect(sentence).toMatch(/^millrace: /);
});

it('is restored with every event of before, once, and all that is made of them', async () => {
  const acknowledged = new Set(load.acknowledged);
  const named = new Set(load.named);
  const taken = await admin(from, ['backup', place]);
  expect(taken.error).toBe('');
  expect(taken.out).toMatch(/and 4 keys are in .*; the writers stood still for \d+ ms\n$/);
  expect(statSync(place).mode & 0o777).toBe(0o700);
  const sent = new Set(load.sent);
  // A stopped writer would not go on.
  await expectToBeStored();
  expect(
    existsSync(join(from, 'clickhouse', 'shadow'))
      ? readdirSync(join(from, 'clickhouse', 'shadow')).filter((name) =>
          name.startsWith('millrace'),
        )
      : [],
  ).toEqual([]);

  const cut = startAdmin(to, ['restore', place]);
  await eventually(async () => existsSync(join(to, 'clickhouse', 'store')), Boolean);
  cut.child.kill('SIGKILL');
  await cut.ended;
  await expect(startStack({ dataDir: to })).rejects.toThrow(
    'was not finished: run the same restore again',
  );
  const restored = await admin(to, ['restore', place]);
  expect(restored.error).toBe('');
  expect(restored.out).toMatch(/^the backup of \S+ is whole: \d+ files, \d+ bytes\n/);
  const copy = await startStack({ dataDir: to });
  try {
    expect(copy.privateKey).toBe(stack.privateKey);
    const stored = await eventually(
      () => storedEvents(copy.clickhouseUrl),
      ({ ids }) => ids >= acknowledged.size,
    );
    expect(stored.count).toBe(stored.ids);
    const ids = await rows<{ event_id: string }>(copy.clickhouseUrl, 'SELECT event_id FROM events');
    const found = new Set(ids.map((row) => row.event_id));
    expect([...acknowledged].filter((id) => !found.has(id))).toEqual([]);
    expect([...found].filter((id) => !sent.has(id)).length).toBeLessThanOrEqual(8);
    for (const name of [...named].slice(0, 5)) {
      expect((await profileOf(copy, name))?.externalId).toBe(name);
    }
    // What is repeated is known, and what is new is stored.
    const fresh = newEvent({ eventId: [...acknowledged][0] ?? '' });
    await batchCreate(copy, [fresh, newEvent({ distinctId: 'later' })]);
    await eventually(
      () => rows(copy.clickhouseUrl, "SELECT event_id FROM events WHERE distinct_id = 'later'"),
      (later) => later.length === 1,
    );
    const after = await storedEvents(copy.clickhouseUrl);
    expect(after.count).toBe(after.ids);
    const checked = await admin(to, ['check']);
    expect(checked).toMatchObject({ code: 0, error: '' });
  } finally {
    await copy.stop();
  }
});

it('takes what has changed, where a backup is', async () => {
  const before = readManifest(place);
  await load.stop();
  await expectToBeStored();
  const again = await admin(from, ['backup', place]);
  expect(again.error).toBe('');
  const [, parts, fresh] = /in (\d+) parts, (\d+) of them new/.exec(again.out) ?? [];
  expect(Number(fresh)).toBeLessThan(Number(parts));
  const same = await admin(from, ['backup', place]);
  expect(same.out).toMatch(/ parts, \d+ of them new/);
  const idsOf = (name: string) =>
    readManifest(place)
      ?.store.tables.find((table) => table.name === name)
      ?.parts.map(({ id }) => id)
      .sort();
  expect(readdirSync(join(place, 'tables', 'events')).sort()).toEqual(idsOf('events'));
  expect(before?.takenMs).toBeLessThan(readManifest(place)?.takenMs ?? 0);
});

it('names a file that is damaged, and writes nothing', async () => {
  const manifest = readManifest(place);
  const [stream] = manifest?.streams ?? [];
  if (stream === undefined) throw new Error('no stream in the backup');
  const name = `${stream.name}-${stream.sha256.slice(0, 16)}`;
  // A file of its own: those of tables are links.
  writeFileSync(join(place, 'streams', name), 'x');
  const elsewhere = join(directory, 'elsewhere');
  const refused = await admin(elsewhere, ['restore', place]);
  expect(refused.code).toBe(1);
  expect(refused.error).toMatch(
    /^millrace: 1 of \d+ files of the backup are not what they were: streams\/EVENTS_0-\w+ has 1 bytes of \d+; nothing was written\n$/,
  );
  expect(existsSync(elsewhere)).toBe(false);
});
