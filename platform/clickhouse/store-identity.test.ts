// Which of several databases is the broker's, on a real broker and a real engine, where starts are killed or run at
// once.

import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { migrate } from '../../sql/migrate.ts';
import { inDatabase } from '../../test/harness/servers/engine.ts';
import { useBroker, useEngine } from '../../test/harness/servers/use-servers.ts';
import { root } from '../../test/harness/source-tree.ts';
import { buckets } from '../broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../broker/nats.ts';
import { ensureTopology } from '../broker/topology.ts';
import { createLog } from '../log.ts';
import { createClickHouse, type DatabaseClient } from './clickhouse.ts';
import { claimStore, matchStore } from './store-identity.ts';

const broker = useBroker();
const engine = useEngine({ migrated: false });
const log = createLog('silent');
const keep = { replaces: false, renews: false };
/** With the one migration that counts here. */
const directory = mkdtempSync(join(tmpdir(), 'millrace-store-'));
let nats: NatsConnection;

beforeAll(async () => {
  const name = '0031_store_identity.sql';
  cpSync(join(root, 'sql', 'migrations', name), join(directory, name));
  nats = await connectBroker(broker.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 64 * 1_048_576, shards: 1 });
  return async () => {
    await nats.close();
    rmSync(directory, { recursive: true });
  };
});
beforeEach(() => forgetStore());

async function forgetStore(): Promise<void> {
  const kv = await nats.jetstream().views.kv(buckets.instance, { bindOnly: true });
  await kv.delete('store');
}

let databases = 0;
/** A database of its own. */
async function openStore(isMigrated = true): Promise<DatabaseClient> {
  const url = inDatabase(engine.url, `store_${++databases}`);
  const clickhouse = createClickHouse(url, { log, maxConnections: 1 });
  onTestFinished(() => clickhouse.close());
  if (isMigrated) await migrate(clickhouse, log, { directory });
  return clickhouse;
}

describe('a store', () => {
  it('is the broker’s from its first start on, and no other one is', async () => {
    const clickhouse = await openStore();
    expect(await matchStore({ nats, clickhouse })).toBe('unclaimed');
    expect(await claimStore({ nats, clickhouse }, keep)).toBe('this');
    expect(await claimStore({ nats, clickhouse }, keep)).toBe('this');
    expect(await matchStore({ nats, clickhouse })).toBe('this');
    const empty = await openStore(false);
    expect(await matchStore({ nats, clickhouse: empty })).toBe('another');
    await migrate(empty, log, { directory });
    expect(await claimStore({ nats, clickhouse: empty }, keep)).toBe('another');
    expect(await matchStore({ nats, clickhouse })).toBe('this');
  });

  it('takes the place of another one where the operator says so', async () => {
    const [before, after] = [await openStore(), await openStore()];
    await claimStore({ nats, clickhouse: before }, keep);
    expect(await claimStore({ nats, clickhouse: after }, { ...keep, replaces: true })).toBe('this');
    expect(await matchStore({ nats, clickhouse: before })).toBe('another');
    // And back: it has its id still.
    expect(await claimStore({ nats, clickhouse: before }, { ...keep, replaces: true })).toBe(
      'this',
    );
  });

  it('that is copied is another one once either has started again', async () => {
    const [moved, left] = [await openStore(), await openStore()];
    const copy = (from: DatabaseClient, to: DatabaseClient) =>
      to.command({
        query: `INSERT INTO store_identity SELECT * FROM ${from.database}.store_identity`,
      });
    const renew = { ...keep, renews: true };
    expect(await claimStore({ nats, clickhouse: left }, renew)).toBe('this');
    await copy(left, moved);
    expect(await matchStore({ nats, clickhouse: moved })).toBe('this');
    expect(await claimStore({ nats, clickhouse: moved }, renew)).toBe('this');
    expect(await matchStore({ nats, clickhouse: left })).toBe('another');
    expect(await claimStore({ nats, clickhouse: left }, renew)).toBe('another');
    expect(await claimStore({ nats, clickhouse: moved }, renew)).toBe('this');
  });

  it('is the broker’s after a start that was killed before the broker learned of its id', async () => {
    const clickhouse = await openStore();
    expect(await claimStore({ nats, clickhouse }, keep)).toBe('this');
    await clickhouse.command({
      query: "INSERT INTO store_identity VALUES ('of a killed start', now64(3))",
    });
    expect(await matchStore({ nats, clickhouse })).toBe('this');
    expect(await claimStore({ nats, clickhouse }, { ...keep, renews: true })).toBe('this');
  });

  it('is one for all processes that start first at once, and for one of two stores', async () => {
    const one = await openStore();
    const other = await openStore();
    const claims = (clickhouse: DatabaseClient) =>
      [true, false, true, false].map((renews) =>
        claimStore({ nats, clickhouse }, { ...keep, renews }),
      );
    expect(new Set(await Promise.all(claims(one)))).toEqual(new Set(['this']));
    await forgetStore();
    const [ofOne = [], ofOther = []] = await Promise.all(
      [one, other].map((clickhouse) => Promise.all(claims(clickhouse))),
    );
    const answers = [new Set(ofOne), new Set(ofOther)].map((set) => [...set]);
    expect(answers.toSorted()).toEqual([['another'], ['this']]);
  });
});
