// What a statement may put on disk where its memory does not suffice: no statement may fill the disk.

import { expect, it } from 'vitest';
import { createClickHouse } from '../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../platform/log.ts';
import { inDatabase } from '../../test/harness/servers/engine.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';

const engine = useEngine({ memoryMiB: 128, migrated: false });

it('groups go to disk, and end where they would put more there than the engine has memory', async () => {
  const client = createClickHouse(inDatabase(engine.url, 'default'), {
    log: createLog('silent'),
    maxConnections: 1,
  });
  const grouped = async (rows: number): Promise<unknown> => {
    const query = `SELECT count() FROM (SELECT sipHash64(number) AS key, count() FROM numbers(${rows}) GROUP BY key)`;
    const answer = await client.query({
      query,
      format: 'JSONCompactEachRow',
      clickhouse_settings: { max_bytes_before_external_group_by: '5000000' },
    });
    return answer.json();
  };
  try {
    // Some ten bytes a row, which cannot be packed.
    expect(await grouped(3_000_000)).toEqual([['3000000']]);
    await expect(grouped(20_000_000)).rejects.toMatchObject({ type: 'TOO_MANY_ROWS_OR_BYTES' });
    expect(await grouped(3_000_000)).toEqual([['3000000']]);
  } finally {
    await client.close();
  }
});
