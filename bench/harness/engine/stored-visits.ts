// Events of the last ten hours, made by the engine itself in the project of a running service: for questions about a
// service that has stored much.

import type { Stack } from '../../../test/harness/servers/stack.ts';
import { runStatement } from './engine-statement.ts';

const eventsPerInsert = 500_000;
const spanMs = 10 * 3_600_000;
const visitors = 200_000;

const gaps = 'char(255, 255, 255)';
/** The columns browser, agent (of a system alone) and place (of a country alone) of event `number`, in SQL. */
export const whereFromSql = `['Chrome', 'Firefox', 'Safari'][1 + number % 3],
      concat(char(255), ['Windows', 'Linux'][1 + number % 2], ${gaps}), concat(['DE', 'US'][1 + number % 2], char(255), ${gaps})`;

/** Stores the events 0 to `events` - 1, the oldest first; the last of them occurred at `lastMs`. */
export async function storeVisits(stack: Stack, events: number, lastMs: number): Promise<void> {
  // Profiles' sums are no part of such a question, and take nine tenths of the time.
  await runStatement(stack, 'DETACH TABLE profile_activity_view');
  for (let from = 0; from < events; from += eventsPerInsert) {
    const count = Math.min(eventsPerInsert, events - from);
    await runStatement(stack, visitsSql(stack.projectId, { events, lastMs, from, count }));
  }
  await runStatement(stack, 'ATTACH TABLE profile_activity_view');
}

/** The id and the time of event `number` of those that `storeVisits` stored, in SQL. */
export function visitSql(
  number: string,
  events: number,
  lastMs: number,
): { id: string; time: string } {
  const agoMs = `intDiv((${events - 1} - toInt64(${number})) * ${spanMs}, ${events})`;
  return {
    id: `reinterpretAsUUID(sipHash128(toUInt64(${number})))`,
    time: `fromUnixTimestamp64Milli(${lastMs} - ${agoMs})`,
  };
}

/** A tenth of the events came without a session. */
function visitsSql(
  projectId: string,
  { events, lastMs, from, count }: { events: number; lastMs: number; from: number; count: number },
): string {
  const { id, time } = visitSql('number', events, lastMs);
  return `INSERT INTO events (project_id, event_id, kind, distinct_id, session_id, session_derived, occur_time,
      receive_time, shard, stream_seq, browser, agent, place)
    SELECT '${projectId}', ${id}, ['page_view', 'click', 'signup'][1 + number % 3],
      concat('visitor-', toString(cityHash64(number) % ${visitors})) AS distinct,
      reinterpretAsUUID(sipHash128(distinct, toStartOfHour(time))), cityHash64(distinct) % 10 = 0,
      ${time} AS time, time, 0, 1 + intDiv(number, 500),
      ${whereFromSql}
    FROM numbers(${from}, ${count})`;
}
