import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { asOperator } from '../../test/harness/servers/broker.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { createLog } from '../log.ts';
import { connectBroker, type NatsConnection } from './nats.ts';
import { openBucket, type RecordBucket } from './record-bucket.ts';

interface Counter {
  schemaVersion: 1;
  count: number;
}

function readCounter(value: unknown): Counter | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const count = Reflect.get(value, 'count');
  if (Reflect.get(value, 'schemaVersion') !== 1 || typeof count !== 'number') return undefined;
  return { schemaVersion: 1, count };
}

const counter = (count: number): Counter => ({ schemaVersion: 1, count });
const broker = useBroker();
let connection: NatsConnection;
let bucket: RecordBucket<Counter>;
let buckets = 0;

beforeAll(async () => {
  connection = await connectBroker(broker.url, createLog('silent'));
});

beforeEach(async () => {
  const name = `counters${buckets++}`;
  await connection.jetstream().views.kv(name);
  bucket = await openBucket(connection, name, readCounter);
});

afterAll(async () => {
  await connection.close();
});

it('creates once, and updates only over the revision that was read', async () => {
  expect(await bucket.get('a')).toEqual({ kind: 'absent' });
  expect(await bucket.create('a', counter(1))).toEqual({ kind: 'written', revision: 1 });
  expect(await bucket.create('a', counter(9))).toEqual({ kind: 'conflict' });
  expect(await bucket.update('a', counter(2), 1)).toEqual({ kind: 'written', revision: 2 });
  expect(await bucket.update('a', counter(9), 1)).toEqual({ kind: 'conflict' });
  expect(await bucket.get('a')).toEqual({ kind: 'found', record: counter(2), revision: 2 });
});

it('loses no increment between writers that retry on conflict', async () => {
  await bucket.create('sum', counter(0));
  const increment = async (): Promise<void> => {
    for (;;) {
      const read = await bucket.get('sum');
      if (read.kind !== 'found') throw new Error(read.kind);
      const next = counter(read.record.count + 1);
      const write = await bucket.update('sum', next, read.revision);
      if (write.kind === 'written') return;
    }
  };
  await Promise.all(Array.from({ length: 20 }, increment));
  expect(await bucket.get('sum')).toMatchObject({ record: counter(20) });
});

it('creates a deleted key again', async () => {
  await bucket.create('a', counter(1));
  await bucket.kv.delete('a');
  expect(await bucket.get('a')).toEqual({ kind: 'absent' });
  expect(await bucket.create('a', counter(2))).toEqual({ kind: 'written', revision: 3 });
});

it('returns no record that the reader does not accept', async () => {
  await bucket.kv.put('newer', JSON.stringify({ schemaVersion: 2, total: 7 }));
  await bucket.kv.put('broken', '{"schemaVersion":1,');
  expect(await bucket.get('newer')).toEqual({ kind: 'unreadable', revision: 1 });
  expect(await bucket.get('broken')).toEqual({ kind: 'unreadable', revision: 2 });
});

it('throws where the broker does not answer, since the write may have happened', async () => {
  await asOperator(broker, (manager) => manager.streams.delete(`KV_${bucket.name}`));
  await expect(bucket.create('a', counter(1))).rejects.toThrow();
});
