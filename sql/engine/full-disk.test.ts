// Inserts while the disk is full, with no, a little or some room left: each fails in a way that is worth another try,
// and under its token it lands once, in the table and in its view.

import { Int64, Table, tableToIPC, vectorFromArray } from 'apache-arrow';
import { expect, it } from 'vitest';
import { createClickHouse, failureOf, insertArrow } from '../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../platform/log.ts';
import { startEngine } from '../../test/harness/servers/engine.ts';
import { hasSmallDisks, mountSmallDisk } from '../../test/harness/servers/small-disk.ts';

const KiB = 1_024;
const rows = 20_000;
const settings = 'SETTINGS non_replicated_deduplication_window = 1000, fsync_after_insert = 1';

// Numbers that do not pack, so that a part takes as much room as its file.
function arrowOf(round: number): Uint8Array {
  const factor = 0x9e3779b97f4a7c15n + BigInt(2 * round);
  const numbers = Array.from({ length: rows }, (_, n) => BigInt.asIntN(64, BigInt(n + 1) * factor));
  return tableToIPC(new Table({ n: vectorFromArray(numbers, new Int64()) }), 'stream');
}

it.runIf(hasSmallDisks)('are stored once when the same insert comes again', async () => {
  const disk = await mountSmallDisk(64);
  const engine = await startEngine({ disk, migrated: false });
  const client = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 1 });
  const command = (query: string) => client.command({ query, http_headers: inDefault });
  const inDefault = { 'X-ClickHouse-Database': 'default' };
  try {
    await command('CREATE DATABASE millrace');
    for (const query of [
      `CREATE TABLE numbers (n Int64) ENGINE = MergeTree ORDER BY n ${settings}`,
      `CREATE TABLE copies (n Int64) ENGINE = MergeTree ORDER BY n ${settings}`,
      'CREATE MATERIALIZED VIEW numbers_to_copies TO copies AS SELECT n FROM numbers',
    ]) {
      await client.command({ query });
    }
    let failed = 0;
    const leftKiB = [0, 100, 250, 400];
    for (const [round, left] of leftKiB.entries()) {
      const insert = () => insertArrow(client, 'numbers', arrowOf(round), `round-${round}`);
      disk.fill(left * KiB);
      const error = await insert().catch((reason) => reason);
      disk.free();
      if (error !== undefined) {
        failed++;
        expect(failureOf(error)).toBe('retry');
      }
      await insert();
      const stored = await client.query({
        query: `SELECT (SELECT count() FROM numbers) AS numbers, (SELECT count() FROM copies) AS copies`,
        format: 'JSONEachRow',
      });
      const counted = String((round + 1) * rows);
      expect(await stored.json(), `${left} KiB left`).toEqual([
        { numbers: counted, copies: counted },
      ]);
    }
    expect(failed).toBeGreaterThan(1);
  } finally {
    await client.close();
    await engine.stop();
    await disk.close();
  }
});
