// Rows of the log of webhooks written straight into the engine: deliveries that told of persons.

import type { DatabaseClient } from '../../../platform/clickhouse/clickhouse.ts';

/** Two attempts now at a delivery for each person, whose event was accepted at the given time. */
export async function storeAttempts(
  clickhouse: DatabaseClient,
  projectId: string,
  acceptedMs: Readonly<Record<string, number>>,
): Promise<void> {
  const rows = Object.entries(acceptedMs).flatMap(([distinctId, acceptMs]) =>
    [1, 2].map((attempt) => {
      const payload = attempt === 1 ? JSON.stringify({ data: { distinctId } }) : '';
      const accepted = `fromUnixTimestamp64Milli(toInt64(${acceptMs}))`;
      return `('${projectId}', '${distinctId}', '${distinctId}-${attempt}', now64(3), ${accepted}, ${attempt === 1}, '${payload}')`;
    }),
  );
  await clickhouse.command({
    query: `INSERT INTO webhook_attempts (project_id, delivery_id, attempt_id, attempt_time, accept_time, is_first, payload)
      VALUES ${rows.join(', ')}`,
  });
}

/** Rows of: a delivery, and how many attempts at it are stored. */
export async function deliveries(
  clickhouse: DatabaseClient,
  projectId: string,
): Promise<unknown[]> {
  const result = await clickhouse.query({
    query: `SELECT delivery_id, count() FROM webhook_attempts WHERE project_id = '${projectId}' GROUP BY 1 ORDER BY 1`,
    format: 'JSONCompactEachRow',
  });
  return result.json();
}
