// Dead letters of all projects come from all groups of the store in one order, page by page, on a real engine whose
// databases stand for groups.

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../platform/log.ts';
import { migrate } from '../../sql/migrate.ts';
import { inDatabase } from '../../test/harness/servers/engine.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { root } from '../../test/harness/source-tree.ts';
import { readDeadLetters, readPageAsked } from './dead-letter-page.ts';

const engine = useEngine({ migrated: false });
const log = createLog('silent');
const nowMs = Date.now();
const groups: DatabaseClient[] = [];

beforeAll(async () => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-letters-'));
  const name = '0012_dead_letters.sql';
  cpSync(join(root, 'sql', 'migrations', name), join(directory, name));
  for (const database of ['one', 'other', 'long']) {
    const client = createClickHouse(inDatabase(engine.url, database), { log, maxConnections: 2 });
    await migrate(client, log, { directory });
    groups.push(client);
  }
  rmSync(directory, { recursive: true });
});
afterAll(() => Promise.all(groups.map((client) => client.close())));

interface Letter {
  ageSeconds: number;
  shard: number;
  seq: number;
  kind: string;
}

/** Of the first group the even shards, of the second the odd ones; two letters of different groups have one moment. */
const letters: Letter[] = Array.from({ length: 20 }, (_, n) => {
  const ageSeconds = Math.floor(n / 2) * 7;
  return { ageSeconds, shard: (n * n) % 4, seq: n + 1, kind: `kind-${n}` };
});

async function store(client: DatabaseClient | undefined, those: readonly Letter[]): Promise<void> {
  const values = those.map(({ ageSeconds, shard, seq, kind }) => {
    const at = { time: Math.round(nowMs - ageSeconds * 1_000), shard, stream_seq: seq };
    return { ...at, request: 0, event: -1, project_id: `p${shard}`, kind, events: 1 };
  });
  await client?.insert({ table: 'dead_letters', values, format: 'JSONEachRow' });
}

async function kindsOf(of: readonly DatabaseClient[], pageSize: number): Promise<string[]> {
  const kinds: string[] = [];
  for (let pageToken = ''; ; ) {
    const asked = readPageAsked(undefined, { pageSize, pageToken });
    const deadline = { signal: AbortSignal.timeout(60_000), remainingMs: () => 60_000 };
    const page = await readDeadLetters(of, undefined, asked, { nowMs, deadline });
    kinds.push(...page.letters.map(({ letter }) => letter.kind));
    if (page.nextPageToken === '') return kinds;
    pageToken = page.nextPageToken;
  }
}

it('pages have the newest letters of all groups, each once', async () => {
  const [one, other] = groups;
  await store(
    one,
    letters.filter(({ shard }) => shard % 2 === 0),
  );
  await store(
    other,
    letters.filter(({ shard }) => shard % 2 === 1),
  );
  const inOrder = letters.toSorted(
    (a, b) => a.ageSeconds - b.ageSeconds || b.shard - a.shard || b.seq - a.seq,
  );
  const wanted = inOrder.map(({ kind }) => kind);
  for (const pageSize of [1, 3, 20, 100]) {
    expect(await kindsOf(groups, pageSize), `pages of ${pageSize}`).toEqual(wanted);
  }
});

it('a page ends where a group has more letters than can be read at once', async () => {
  const [one, , long] = groups;
  // A megabyte is read of each group; these lie among the first group's letters, beyond it.
  const many = Array.from({ length: 900 }, (_, n): Letter => {
    const kind = `${n} ${'x'.repeat(2_000)}`;
    return { ageSeconds: n / 100, shard: 1, seq: n + 1, kind };
  });
  await store(long, many);
  const found = await kindsOf(
    [one, long].flatMap((client) => client ?? []),
    1_000,
  );
  const ofOne = letters.filter(({ shard }) => shard % 2 === 0);
  expect(found).toHaveLength(many.length + ofOne.length);
  expect(new Set(found).size).toBe(found.length);
  expect(found.filter((kind) => kind.includes(' '))).toEqual(many.map(({ kind }) => kind));
});
