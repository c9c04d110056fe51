// Deliveries in the log of webhooks that told of persons, by their keyed hashes: an erasure that is opened again knows
// no text any more. The log is in the first group of servers, and each group has keys of its own.

import type { StepContext } from '../erasure-parts.ts';
import { idLiterals, type Persons, projectsSql } from './person-rows.ts';
import { selectRows } from './select-rows.ts';

/** `store` has the persons' own rows, `log` the log of webhooks. */
export type StoreAndLog = Record<'store' | 'log', StepContext['store']>;

/**
 * Rows of a statement on the log. It is told the condition of the first attempts at deliveries whose payload names one
 * of the persons, and SQL of the profile id of such a row. Throws what the log's engine says without its text, which
 * repeats the keys.
 */
export async function selectAttempts(
  { store, log }: StoreAndLog,
  { projectIds, ids }: Persons,
  statement: (rows: string, id: string) => string,
): Promise<unknown[][]> {
  const [key0, key1] = await hashKeys(store);
  const named = "JSONExtractString(payload, 'data', 'distinctId')";
  // Parameters: texts of statements are kept by the server, whose keys are others.
  const id = `sipHash128Keyed(({key0:UInt64}, {key1:UInt64}), project_id, ${named})`;
  const rows = `${projectsSql(projectIds)} AND is_first AND ${id} IN (${idLiterals(ids)})`;
  try {
    return await selectRows(log, statement(rows, id), { key0, key1 });
  } catch (error) {
    const code = error instanceof Error && 'type' in error ? error.type : 'no answer';
    throw new Error(`erasure: the log of webhooks cannot be read: ${code}`);
  }
}

async function hashKeys(store: StoreAndLog['store']): Promise<[string, string]> {
  const [[text] = []] = await selectRows(
    store,
    "SELECT create_query FROM system.functions WHERE name = 'millraceProfileHash'",
  );
  const keys = [...String(text).matchAll(/toUInt64\((\d+)\)/g)].map(([, key]) => key);
  const [first, second] = keys;
  if (keys.length !== 2 || first === undefined || second === undefined) {
    throw new Error('erasure: the keys of profile ids cannot be read');
  }
  return [first, second];
}
