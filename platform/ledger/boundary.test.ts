// When tables may be taken: never while a ledger promises a batch, and again where a ledger was written meanwhile.

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { operatorUrl } from '../../test/harness/servers/broker.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { buckets } from '../broker/buckets.ts';
import { connectBroker, type KV, type NatsConnection } from '../broker/nats.ts';
import { eventsLedgerKey, profilesLedgerKey } from '../broker/streams.ts';
import { ensureTopology } from '../broker/topology.ts';
import { createLog } from '../log.ts';
import { atBoundary } from './boundary.ts';
import { writersHoldSubject } from './writers-hold.ts';

const broker = useBroker();
let connection: NatsConnection;
let ledgers: KV;
beforeAll(async () => {
  connection = await connectBroker(operatorUrl(broker), createLog('silent'));
  await ensureTopology(connection, { eventsMaxBytes: 16 * 1_048_576, shards: 1 });
  ledgers = await connection.jetstream().views.kv(buckets.ledger, { bindOnly: true });
});
afterAll(() => connection.close());

const key = eventsLedgerKey(0);
const write = (record: object) => ledgers.put(key, JSON.stringify(record));
beforeEach(() => write({ hwm: 1 }));

it('is no moment at which a batch is promised', async () => {
  await write({ hwm: 1, pending: {} });
  let asked = (): void => {};
  const isAsked = new Promise<void>((resolve) => {
    asked = resolve;
  });
  const heard = connection.subscribe(writersHoldSubject, { callback: () => asked() });
  let isPromised = true;
  const boundary = atBoundary({ connection, shards: 1, take: async () => isPromised });
  await isAsked;
  isPromised = false;
  await write({ hwm: 2 });
  const { taken, records } = await boundary;
  heard.unsubscribe();
  expect(taken).toBe(false);
  expect(records).toContainEqual({ bucket: buckets.ledger, key, value: '{"hwm":2}' });
  const none = { bucket: buckets.ledger, key: profilesLedgerKey(0), value: null };
  expect(records).toContainEqual(none);
});

it('is tried again where a writer went on meanwhile', async () => {
  let takes = 0;
  const { taken, records } = await atBoundary({
    connection,
    shards: 1,
    async take() {
      if (++takes === 1) await write({ hwm: 7 });
      return takes;
    },
  });
  expect(taken).toBe(2);
  expect(records).toContainEqual({ bucket: buckets.ledger, key, value: '{"hwm":7}' });
});

it('lets the writers go, where taking fails too', async () => {
  const words: string[] = [];
  const heard = connection.subscribe(writersHoldSubject, {
    callback: (_, message) => void words.push(message.string()),
  });
  const take = () => Promise.reject(new Error('no room'));
  await expect(atBoundary({ connection, shards: 1, take })).rejects.toThrow('no room');
  await connection.flush();
  heard.unsubscribe();
  expect(words.at(-1)).toBe('go');
});
