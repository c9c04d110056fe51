import { afterAll, beforeAll, expect, it } from 'vitest';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { createLog } from '../log.ts';
import { createClickHouse, type DatabaseClient } from './clickhouse.ts';

const engine = useEngine();
let clickhouse: DatabaseClient;
beforeAll(() => {
  clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 2 });
});
afterAll(() => clickhouse.close());

async function bytesOf(sql: string, format: string): Promise<Buffer> {
  const { signal } = new AbortController();
  const chunks: Buffer[] = [];
  for await (const chunk of clickhouse.stream({ sql, params: {}, settings: {}, signal }, format)) {
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

it('has the whole of a long result', async () => {
  const text = await bytesOf('SELECT number FROM numbers(200000)', 'CSV');
  expect(text.toString().split('\n')).toHaveLength(200_001);
  expect((await bytesOf('SELECT 1 WHERE 0', 'CSV')).length).toBe(0);
});

it.each(['Parquet', 'CSV', 'ArrowStream'])(
  'throws where a %s is cut off by a failure',
  async (format) => {
    const settings = 'SETTINGS max_block_size = 1000, output_format_parquet_row_group_size = 10000';
    const sql = `SELECT throwIf(number = 1900000), number, randomString(50) AS text FROM numbers(2000000) ${settings}`;
    await expect(bytesOf(sql, format)).rejects.toMatchObject({ code: '395' });
  },
);

it('throws the error of a statement that does not begin', async () => {
  await expect(bytesOf('SELECT nothing', 'CSV')).rejects.toMatchObject({ code: '47' });
});
