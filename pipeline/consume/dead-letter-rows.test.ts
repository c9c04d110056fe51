// The rows of dead letters: once for each letter, however often its batch is built, and never in the way of events.

import { ClickHouseError } from '@clickhouse/client';
import { expect, it, onTestFinished } from 'vitest';
import { createClickHouse } from '../../platform/clickhouse/clickhouse.ts';
import { createLog } from '../../platform/log.ts';
import { retry } from '../../platform/retry.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import type { DeadLetter } from '../build/thread-messages.ts';
import { createDeadLetterRows } from './dead-letter-rows.ts';

const engine = useEngine();
const log = createLog('silent');
const timeMs = Date.now();
const eventId = '0f0e0d0c-0b0a-4908-8706-050403020100';
const again = <T>(call: () => Promise<T>): Promise<T> =>
  retry(call, { signal: AbortSignal.timeout(10_000), baseMs: 1, capMs: 1 });

function letter(fields: Partial<DeadLetter>, event: unknown = {}): DeadLetter {
  return {
    ...{ streamSeq: 7, request: 0, event: 0, reason: 'kind_missing', projectId: 'p' },
    ...{ receiveTimeMs: timeMs, events: 1, content: Buffer.from(JSON.stringify(event)) },
    ...fields,
  };
}

const letters = [
  letter({}, { event_id: eventId.toUpperCase(), kind: 'view', secret: 'a value' }),
  letter({ event: 1 }, { eventId: 'ada@example.com', kind: 'ada@example.com' }),
  letter({ request: 1, event: undefined, events: 5, reason: 'request_unreadable' }),
  letter({ request: undefined, event: undefined, projectId: undefined, receiveTimeMs: undefined }),
];

it('are one for each letter of a project, also where a batch is built again', async () => {
  const clickhouse = createClickHouse(engine.url, { log, maxConnections: 1 });
  onTestFinished(() => clickhouse.close());
  const insert = createDeadLetterRows({ clickhouse, shard: 3, log, retry: again });
  await insert(letters);
  await insert(letters);
  await insert([]);
  const query = `SELECT project_id, toUnixTimestamp64Milli(time) AS ms, shard, stream_seq, reason, kind, event_id, events
    FROM dead_letters FINAL ORDER BY request, event`;
  const result = await clickhouse.query({ query, format: 'JSONCompactEachRow' });
  const place = ['p', String(timeMs), 3, '7'];
  expect(await result.json()).toEqual([
    [...place, 'kind_missing', 'view', eventId, 1],
    [...place, 'kind_missing', '', '', 1],
    [...place, 'request_unreadable', '', '', 5],
  ]);
});

it('are tried again while the engine is away, and left out where it refuses them', async () => {
  const refusal = { message: 'no such row', code: '27', type: 'CANNOT_PARSE' };
  const failures = [new Error('away'), new Error('away'), new ClickHouseError(refusal)];
  let tries = 0;
  const clickhouse = { insert: () => Promise.reject(failures[tries++]) };
  const insert = createDeadLetterRows({ clickhouse, shard: 0, log, retry: again });
  await insert(letters);
  expect(tries).toBe(3);
});
