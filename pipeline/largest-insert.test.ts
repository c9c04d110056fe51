// The largest batch that a writer takes, of events that cost the engine most: each of another visitor, in another
// session, with an address of its own. The least engine must store it, because an insert is repeated until it is.

import { randomBytes, randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import {
  createClickHouse,
  type DatabaseClient,
  insertArrow,
} from '../platform/clickhouse/clickhouse.ts';
import { createLog } from '../platform/log.ts';
import { leastEngineMemoryMiB } from '../platform/memory/engine-memory.ts';
import { encodeContext } from '../proto/wire/frame.ts';
import { encodeFrame } from '../proto/wire/frame-writer.ts';
import { useEngine } from '../test/harness/servers/use-servers.ts';
import { BatchBuilder } from './build/build-batch.ts';
import type { BuiltRows } from './build/thread-messages.ts';
import { packMessages } from './consume/message-batch.ts';
import { eventBatches } from './event-shard.ts';

const engine = useEngine({ memoryMiB: leastEngineMemoryMiB });
let client: DatabaseClient;
beforeAll(() => {
  client = createClickHouse(engine.url, { log: createLog('silent'), maxConnections: 2 });
});
afterAll(() => client.close());

const receiveTimeMs = Date.UTC(2026, 10, 20, 12);
const eventsAMessage = 500;
const text = (characters: number) => randomBytes(characters / 2).toString('hex');

const monthMs = 31 * 86_400_000;

function bodyOf(pathCharacters: number, months: number): Buffer {
  const events = Array.from({ length: eventsAMessage }, (_, index) => ({
    eventId: randomUUID(),
    kind: 'page_view',
    distinctId: text(20),
    sessionId: randomUUID(),
    occurTime: new Date(receiveTimeMs - (index % months) * monthMs).toISOString(),
    autoProperties: { $url: { stringValue: `https://x.example/${text(pathCharacters)}` } },
  }));
  return Buffer.from(JSON.stringify({ events }));
}

/** As many rows as a batch takes, with addresses so long that it takes no more bytes either. */
function largestBatch(months: number): BuiltRows {
  const { maxRows, maxBytes } = eventBatches;
  // Of a public key the path of the address is derived, and stored again in two views.
  const context = encodeContext({ projectId: 'p', credential: 'public', receiveTimeMs });
  const count = maxRows / eventsAMessage;
  const pathCharacters =
    2 * Math.floor((maxBytes / count - bodyOf(0, 1).length) / eventsAMessage / 2);
  const messages = Array.from({ length: count }, (_, index) => {
    const body = bodyOf(pathCharacters, months);
    return { seq: index + 1, data: encodeFrame([{ context, body, events: eventsAMessage }]) };
  });
  const builder = new BatchBuilder(Buffer.alloc(32));
  builder.read(0, packMessages({ messages }));
  const { rows } = builder.finish({ dropped: undefined });
  if (rows?.rows !== maxRows) throw new Error(`${rows?.rows} rows`);
  return rows;
}

it.each([
  ['one month', 1, 1],
  ['300 months', 300, 4],
])(
  'of %s is stored once by the least engine, however often it is sent',
  async (_, months, parts) => {
    await client.command({ query: 'SYSTEM STOP MERGES' });
    for (const table of ['events', 'profile_activity']) {
      await client.command({ query: `TRUNCATE TABLE ${table}` });
    }
    const { arrow, rows, partitions } = largestBatch(months);
    expect(partitions).toBe(parts);
    const token = `largest-${months}`;
    for (let time = 0; time < 2; time++) await insertArrow(client, 'events', arrow, token);
    const result = await client.query({
      query: `SELECT
      (SELECT count() FROM system.parts WHERE table = 'events' AND active), (SELECT count() FROM events),
      (SELECT sum(total_events) FROM profile_activity)`,
      format: 'JSONCompactEachRow',
    });
    expect(await result.json()).toEqual([[String(parts), String(rows), String(rows)]]);
  },
);
