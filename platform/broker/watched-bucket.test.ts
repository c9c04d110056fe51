import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { asOperator, startBroker } from '../../test/harness/servers/broker.ts';
import type { ChildServer } from '../../test/harness/servers/child-server.ts';
import { createLog } from '../log.ts';
import { connectBroker, type NatsConnection } from './nats.ts';
import { openBucket, type RecordBucket } from './record-bucket.ts';
import { type WatchedBucket, watchBucket } from './watched-bucket.ts';

interface Name {
  schemaVersion: 1;
  name: string;
}

function readName(value: unknown): Name | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const name = Reflect.get(value, 'name');
  return typeof name === 'string' ? { schemaVersion: 1, name } : undefined;
}

const log = createLog('silent');
const named = (name: string): Name => ({ schemaVersion: 1, name });
let broker: ChildServer;
let connections: NatsConnection[];
let views: WatchedBucket<Name>[];
/** Another process's view of the same bucket, on its own connection. */
let other: RecordBucket<Name>;

async function open(): Promise<RecordBucket<Name>> {
  const connection = await connectBroker(broker.url, log);
  connections.push(connection);
  return await openBucket(connection, 'names', readName);
}

async function watch(confirmEveryMs = 100): Promise<WatchedBucket<Name>> {
  const connection = await connectBroker(broker.url, log);
  connections.push(connection);
  const bucket = await openBucket(connection, 'names', readName);
  const view = await watchBucket(connection, bucket, { log, confirmEveryMs });
  views.push(view);
  return view;
}

/** Resolves when memory holds `name` under `key`; undefined = nothing. */
async function until(view: WatchedBucket<Name>, key: string, name?: string): Promise<void> {
  await new Promise<void>((resolve) => {
    const look = () => view.get(key)?.record.name === name && resolve();
    view.onChange(look);
    look();
  });
}

/** Resolves when the broker has confirmed memory after `momentMs` on performance's clock. */
async function untilConfirmed(view: WatchedBucket<Name>, momentMs: number): Promise<void> {
  while (performance.now() - view.unconfirmedMs() < momentMs) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}

beforeEach(async () => {
  connections = [];
  views = [];
  broker = await startBroker();
  const connection = await connectBroker(broker.url, log);
  connections.push(connection);
  await connection.jetstream().views.kv('names', { history: 5 });
  other = await open();
});

afterEach(async () => {
  for (const view of views) await view.close();
  for (const connection of connections) await connection.close();
  await broker.stop();
});

describe('a watched bucket', () => {
  it('holds from the start the newest value of every key', async () => {
    for (let index = 0; index < 300; index++) await other.create(`k${index}`, named('old'));
    await other.update('k7', named('new'), 8);
    await other.kv.delete('k8');
    const view = await watch();
    const records = new Map(view.records());
    expect(records.size).toBe(299);
    expect(records.get('k7')).toEqual(named('new'));
    expect(view.get('k8')).toBeUndefined();
    expect(view.get('k9')).toEqual({ record: named('old'), revision: 10 });
  });

  it('follows the writes of others, deletions included, and names each key to its listeners', async () => {
    const view = await watch();
    const told: string[] = [];
    view.onChange((key) => told.push(key));
    await other.create('a', named('one'));
    await until(view, 'a', 'one');
    await other.update('a', named('two'), 1);
    await until(view, 'a', 'two');
    await other.kv.delete('a');
    await until(view, 'a');
    await other.create('b', named('one'));
    await until(view, 'b', 'one');
    expect(told).toEqual(['a', 'a', 'a', 'b']);
  });

  it('holds an own write once it resolves, even without the watch', async () => {
    const view = await watch();
    await view.close();
    const made = await view.create('a', named('one'));
    expect(made).toEqual({ kind: 'written', revision: 1 });
    expect(view.get('a')).toEqual({ record: named('one'), revision: 1 });
    expect(await view.update('a', named('two'), 1)).toEqual({ kind: 'written', revision: 2 });
    expect(view.get('a')).toEqual({ record: named('two'), revision: 2 });
    expect(await view.update('a', named('three'), 1)).toEqual({ kind: 'conflict' });
    expect(view.get('a')?.record).toEqual(named('two'));
  });

  it('never goes back to an older value of a key', async () => {
    const view = await watch();
    const seen: string[] = [];
    view.onChange((key) => seen.push(view.get(key)?.record.name ?? ''));
    let revision = 0;
    for (let index = 0; index < 200; index++) {
      const name = named(String(index).padStart(3, '0'));
      const result =
        index === 0 ? await view.create('a', name) : await view.update('a', name, revision);
      if (result.kind === 'written') revision = result.revision;
    }
    await until(view, 'a', '199');
    expect(seen).toEqual([...seen].sort());
    expect(seen.length).toBe(200);
  });

  it('drops a record for a newer one that it cannot read', async () => {
    await other.create('a', named('one'));
    const view = await watch();
    await other.kv.put('a', JSON.stringify({ schemaVersion: 2 }));
    await until(view, 'a');
    expect([...view.records()]).toEqual([]);
  });
});

it('is forgotten once it is closed, while its connection goes on', async () => {
  await other.create('a', named('one'));
  const connection = await connectBroker(broker.url, log);
  connections.push(connection);
  const bucket = await openBucket(connection, 'names', readName);
  const openAndClose = async (): Promise<WeakRef<object>> => {
    const view = await watchBucket(connection, bucket, { log });
    expect(view.get('a')?.record).toEqual(named('one'));
    await view.close();
    return new WeakRef(view);
  };
  const closed = await openAndClose();
  setFlagsFromString('--expose-gc');
  const collect: () => void = runInNewContext('gc');
  await vi.waitUntil(
    () => {
      collect();
      return closed.deref() === undefined;
    },
    { timeout: 20_000, interval: 20 },
  );
});

describe('a watch that fails', () => {
  it('is made good within the time between two questions', async () => {
    await other.create('a', named('one'));
    const view = await watch();
    await asOperator(broker, async ({ consumers }) => {
      for await (const { name } of consumers.list('KV_names')) {
        await consumers.delete('KV_names', name);
      }
    });
    await other.update('a', named('two'), 1);
    await until(view, 'a', 'two');
    await other.update('a', named('three'), 2);
    await until(view, 'a', 'three');
  });

  it('leaves memory that tells its age while the broker is silent, and catches up afterwards', async () => {
    await other.create('a', named('one'));
    const view = await watch();
    await untilConfirmed(view, performance.now());
    await broker.kill9();
    const downMs = 700;
    await new Promise((resolve) => setTimeout(resolve, downMs));
    expect(view.unconfirmedMs()).toBeGreaterThan(downMs);
    expect(view.get('a')?.record).toEqual(named('one'));

    await broker.restart();
    const writer = await open();
    await writer.update('a', named('two'), 1);
    await until(view, 'a', 'two');
    await untilConfirmed(view, performance.now());
  });

  it('catches up as soon as the connection is back', async () => {
    await other.create('a', named('one'));
    const view = await watch(3_600_000);
    await broker.kill9();
    const killedAt = performance.now();
    await broker.restart();
    const writer = await open();
    await untilConfirmed(view, killedAt);
    await writer.update('a', named('two'), 1);
    await until(view, 'a', 'two');
  });

  it('forgets the records of an earlier bucket of the same name', async () => {
    for (const key of ['a', 'b', 'c']) await other.create(key, named('one'));
    const view = await watch();
    await asOperator(broker, ({ streams }) => streams.delete('KV_names'));
    await connections[0]?.jetstream().views.kv('names', { history: 5 });
    await other.create('b', named('two'));
    await until(view, 'b', 'two');
    await until(view, 'a');
    expect([...view.records()]).toEqual([['b', named('two')]]);
  });

  it('does not start on a bucket that is not there', async () => {
    await asOperator(broker, ({ streams }) => streams.delete('KV_names'));
    await expect(watch()).rejects.toThrow('stream not found');
  });
});
