// The look-up of stored sessions on a real engine. sessions.test.ts has what becomes of them.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { hourMs } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { SessionlessTable } from '../build/sessionless-rows.ts';
import { visitorKey } from '../build/visitor-key.ts';
import type { LookUp } from './look-ups.ts';
import { findSessions } from './session-store.ts';
import { Sessions } from './sessions.ts';

const startMs = Date.UTC(2026, 10, 20);
const rows = { shard: 0, hwm: 10, ahead: [], streamCreatedMs: startMs };
const engine = useEngine();
let clickhouse: DatabaseClient;

beforeAll(async () => {
  clickhouse = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 2 });
  for (const project of ['p', 'q']) {
    await clickhouse.command({
      query: `INSERT INTO events (project_id, event_id, kind, distinct_id, session_id, session_derived, occur_time,
          receive_time, shard, stream_seq)
        SELECT {project:String}, generateUUIDv4(), 'k', concat('visitor ', toString(number)),
          toUUID(concat('00000000-0000-4000-8000-', leftPad(toString(number), 12, '0'))), true,
          {time:DateTime64(3)} AS time, time, 0, 1 FROM numbers(50000)`,
      query_params: { project, time: new Date(startMs + hourMs) },
    });
  }
});

afterAll(async () => {
  await clickhouse.close();
});

/** Asks about the first two hours. */
function lookUpOf(visitors: readonly string[]): LookUp {
  const hours = new Set([startMs / hourMs, startMs / hourMs + 1]);
  return {
    hours: new Map(visitors.map((visitor) => [visitor, hours])),
    fromMs: startMs,
    toMs: startMs + 2 * hourMs,
  };
}

it('finds the sessions of a few visitors without a look at all rows of their day', async () => {
  const narrow: Pick<DatabaseClient, 'query'> = {
    query: (parameters) =>
      // Of 100,000. Keys are drawn for each database: each of the two may lie where two granules of 8,192 rows meet.
      clickhouse.query({ ...parameters, clickhouse_settings: { max_rows_to_read: '33000' } }),
  };
  const visitors = [visitorKey('p', 'visitor 7'), visitorKey('q', 'visitor 8')];
  const found = await findSessions(narrow, rows, lookUpOf(visitors));
  const times = { firstMs: startMs + hourMs, lastMs: startMs + hourMs };
  expect(found.sort((a, b) => (a.id < b.id ? -1 : 1))).toEqual([
    { id: '00000000-0000-4000-8000-000000000007', visitors: [visitors[0]], ...times },
    { id: '00000000-0000-4000-8000-000000000008', visitors: [visitors[1]], ...times },
  ]);
});

it('finds the sessions of more visitors than one statement holds', async () => {
  const visitors = Array.from({ length: 5_000 }, (_, n) => visitorKey('p', `visitor ${10 * n}`));
  // Twice four hexadecimal digits for each of these characters: 20 MB of text.
  const strangers = visitors.map((visitor) => visitor + '😀'.repeat(500));
  const mixed = visitors.flatMap((visitor, n) => [visitor, strangers[n] ?? '']);
  const found = await findSessions(clickhouse, rows, lookUpOf(mixed));
  expect(found.flatMap((session) => session.visitors).sort()).toEqual(visitors.toSorted());
});

it('finds the sessions near the events alone, however many their visitors have had', async () => {
  const [visitors, sessionsOfEach] = [500, 400];
  await clickhouse.command({
    query: `INSERT INTO events (project_id, event_id, kind, distinct_id, session_id, session_derived, occur_time,
        receive_time, shard, stream_seq)
      SELECT 'many', generateUUIDv4(), 'k', concat('visitor ', toString(number % ${visitors})), generateUUIDv4(), true,
        fromUnixTimestamp64Milli(${startMs} + toInt64(intDiv(number, ${visitors})) * ${hourMs}) AS time, time, 0, 1
      FROM numbers(${visitors * sessionsOfEach})`,
  });
  const table = new SessionlessTable();
  // One of each visitor, over all of these days.
  for (let visitor = 0; visitor < visitors; visitor++) {
    const hour = Math.floor((visitor * sessionsOfEach) / visitors);
    table.add(visitor, 'many', `visitor ${visitor}`, '', startMs + hour * hourMs + 1);
  }
  const find = (lookUp: LookUp) => findSessions(clickhouse, rows, lookUp);
  const sessions = new Sessions({ find });
  sessions.load([], startMs + 1_000 * hourMs);
  const ids = Buffer.from(await sessions.assign(table.snapshot(), undefined));
  expect(sessions.size).toBeLessThanOrEqual(2 * visitors);
  const [last] = await find({
    hours: new Map([
      [
        visitorKey('many', `visitor ${visitors - 1}`),
        new Set([startMs / hourMs + sessionsOfEach - 1]),
      ],
    ]),
    fromMs: startMs,
    toMs: startMs + sessionsOfEach * hourMs,
  });
  expect(ids.subarray(-16).toString('hex')).toBe(last?.id.replaceAll('-', ''));
});

it('counts rows beyond the mark that are done, and no others', async () => {
  const visitors = [visitorKey('p', 'visitor 7')];
  const found = async (ahead: [number, number][]) => {
    const counted = { ...rows, hwm: 0, ahead };
    return (await findSessions(clickhouse, counted, lookUpOf(visitors))).length;
  };
  // Each row is of message 1.
  expect(await found([])).toBe(0);
  expect(await found([[1, 1]])).toBe(1);
  expect(
    await found([
      [2, 3],
      [7, 9],
    ]),
  ).toBe(0);
  const many = Array.from({ length: 2_000 }, (_, n): [number, number] => [
    1e12 + 2 * n,
    1e12 + 2 * n,
  ]);
  expect(await found([[1, 1], ...many])).toBe(1);
});
