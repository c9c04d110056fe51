// Rows of a statement of the erasure, as JSON arrays: 64-bit integers are texts.

import type { DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';

/** Throws the client's errors. */
export async function selectRows(
  store: Pick<DatabaseClient, 'query'>,
  sql: string,
  params: Readonly<Record<string, unknown>> = {},
): Promise<unknown[][]> {
  const result = await store.query({
    query: sql,
    query_params: params,
    format: 'JSONCompactEachRow',
    clickhouse_settings: { max_query_size: String(16 * 1_048_576) },
  });
  return result.json<unknown[]>();
}
