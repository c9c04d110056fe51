// Deliveries in the log of webhooks that told of persons, by their keyed hashes: an erasure that is opened again knows
// no text any more. The log is in the first group of servers, and each group has keys of its own.

import type { StepContext } from '../erasure-parts.ts';
import { idLiterals, type Persons, projectsSql } from './person-rows.ts';
import { selectRows } from './select-rows.ts';

/**
 * Conditions on the log: the first attempts of deliveries whose payload names one of the persons; and `id`, SQL of the
 * profile id of such a row. `store` has the persons' own rows. Throws the engine's errors.
 */
export async function firstAttemptsSql(
  store: StepContext['store'],
  { projectIds, ids }: Persons,
): Promise<{ rows: string; id: string }> {
  const [[text] = []] = await selectRows(
    store,
    "SELECT create_query FROM system.functions WHERE name = 'millraceProfileHash'",
  );
  const keys = [...String(text).matchAll(/toUInt64\((\d+)\)/g)].map(([key]) => key);
  if (keys.length !== 2) throw new Error('erasure: the keys of profile ids cannot be read');
  const named = "JSONExtractString(payload, 'data', 'distinctId')";
  const id = `sipHash128Keyed((${keys.join(', ')}), project_id, ${named})`;
  return { rows: `${projectsSql(projectIds)} AND is_first AND ${id} IN (${idLiterals(ids)})`, id };
}
