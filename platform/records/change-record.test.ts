// Compare-and-set over several connections to one broker, as several processes have them.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { connectBroker, type NatsConnection } from '../broker/nats.ts';
import { openBucket } from '../broker/record-bucket.ts';
import { type WatchedBucket, watchBucket } from '../broker/watched-bucket.ts';
import { createLog } from '../log.ts';
import { changeRecord } from './change-record.ts';

interface ListRecord {
  schemaVersion: 1;
  items: readonly string[];
}

const log = createLog('silent');
const broker = useBroker();
const connections: NatsConnection[] = [];
const watches: WatchedBucket<ListRecord>[] = [];

beforeAll(async () => {
  for (let process = 0; process < 5; process++) {
    const connection = await connectBroker(broker.url, log);
    await connection.jetstream().views.kv('lists', { history: 1 });
    const bucket = await openBucket<ListRecord>(
      connection,
      'lists',
      (value) => value as ListRecord,
    );
    watches.push(await watchBucket(connection, bucket, { log }));
    connections.push(connection);
  }
});

afterAll(async () => {
  for (const watch of watches) await watch.close();
  for (const connection of connections) await connection.close();
});

it('50 writers of one record over five connections lose no change', async () => {
  const [first] = watches;
  await first?.create('a', { schemaVersion: 1, items: [] });
  const wanted = Array.from({ length: 50 }, (_, index) => `item ${index}`);
  const answers = await Promise.all(
    wanted.map((item, index) => {
      const records = watches[index % watches.length];
      if (records === undefined) throw new Error('no watch');
      return changeRecord(records, 'a', (record) => ({
        write: { ...record, items: [...record.items, item] },
        answer: record.items.length,
      }));
    }),
  );
  const found = await first?.ask('a');
  expect(found?.kind === 'found' ? [...found.record.items].sort() : []).toEqual(wanted.sort());
  const counts = answers.map((answer) => (answer.kind === 'done' ? answer.answer : -1));
  expect(counts.sort((a, b) => a - b)).toEqual(wanted.map((_, index) => index));
});

it('writes nothing if the decision leaves the record or throws, or if there is no record', async () => {
  const [first] = watches;
  if (first === undefined) throw new Error('no watch');
  await first.create('b', { schemaVersion: 1, items: ['kept'] });
  const before = await first.ask('b');
  expect(await changeRecord(first, 'b', () => ({ leave: 'seen' }))).toEqual({
    kind: 'done',
    answer: 'seen',
  });
  const refusing = changeRecord(first, 'b', () => {
    throw new Error('no');
  });
  await expect(refusing).rejects.toThrow('no');
  expect(await first.ask('b')).toEqual(before);
  expect(await changeRecord(first, 'c', () => ({ leave: 'seen' }))).toEqual({ kind: 'absent' });
});
