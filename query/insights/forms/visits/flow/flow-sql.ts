// The statement of USER_FLOW. Values are numbers while visits are put in order: their places in the list of all values,
// in byte order, so that an array of them is small and equal counts are ordered by value.

import type { Moves } from './flow-moves.ts';

/** In place of a node: that of all other values, and the end of a visit. */
export const others = 0;
export const end = -1;

/**
 * SELECT of (step, source, target, visits, beyond, values_seen, source_text): how many visits went from a node to the
 * next step's, or ended. `beyond` counts their steps that are not followed, `values_seen` is the number of the step's
 * values in its row of others, and one row of each source has its text in the form of property-text.ts.
 */
export function flowSql({ values, moves }: Moves, maxNodes: number): string {
  const ranked = rankedSql(moves);
  const folded = `SELECT step, source, target, toUInt64(sum(move.visits)) AS visits, toUInt64(sum(move.beyond)) AS beyond, max(source_rank) AS values_seen FROM (
      SELECT step, visits, beyond, source_rank, if(source_rank <= ${maxNodes}, toInt64(code), ${others}) AS source,
        multiIf(next = 0, ${end}, target_rank <= ${maxNodes}, toInt64(next), ${others}) AS target
      FROM (${ranked})
    ) AS move GROUP BY step, source, target`;
  return `WITH (${values}) AS all_values
    SELECT step, source, target, visits, beyond, toUInt64(values_seen) AS values_seen,
      if(source > 0 AND row_number() OVER (PARTITION BY source) = 1, all_values[source + 1], '') AS source_text
    FROM (${folded})`;
}

/** Adds the ranks of a move's source and target among the values of their steps. */
function rankedSql(moves: string): string {
  const ends = `SELECT step, code, next, visits, beyond, is_target, step + is_target AS node_step, if(is_target, next, code) AS node
    FROM (${moves}) ARRAY JOIN if(next = 0, [0], [0, 1]) AS is_target`;
  const weighed = `SELECT *, sumIf(visits, NOT is_target) OVER (PARTITION BY node_step, node) AS node_visits FROM (${ends})`;
  const placed = `SELECT *, dense_rank() OVER (PARTITION BY node_step ORDER BY node_visits DESC, node) AS rank FROM (${weighed})`;
  return `SELECT step, code, next, any(placed.visits) AS visits, any(placed.beyond) AS beyond,
      maxIf(rank, NOT is_target) AS source_rank, maxIf(rank, is_target) AS target_rank
    FROM (${placed}) AS placed GROUP BY step, code, next`;
}
