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

const match = (...groups: DatabaseClient[]) => matchStore({ nats, groups });
const claim = (clickhouse: DatabaseClient, how = keep) =>
  claimStore({ nats, groups: [clickhouse] }, how);
const [isThis, isAnother] = [{ kind: 'this' }, { kind: 'another', place: 0 }];

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
    expect(await match(clickhouse)).toEqual({ kind: 'unclaimed' });
    expect(await claim(clickhouse)).toEqual(isThis);
    expect(await claim(clickhouse)).toEqual(isThis);
    expect(await match(clickhouse)).toEqual(isThis);
    const empty = await openStore(false);
    expect(await match(empty)).toEqual(isAnother);
    await migrate(empty, log, { directory });
    expect(await claim(empty)).toEqual(isAnother);
    expect(await match(clickhouse)).toEqual(isThis);
  });

  it('takes the place of another one where the operator says so', async () => {
    const [before, after] = [await openStore(), await openStore()];
    await claim(before);
    expect(await claim(after, { ...keep, replaces: true })).toEqual(isThis);
    expect(await match(before)).toEqual(isAnother);
    // And back: it has its id still.
    expect(await claim(before, { ...keep, replaces: true })).toEqual(isThis);
  });

  it('that is copied is another one once either has started again', async () => {
    const [moved, left] = [await openStore(), await openStore()];
    const copy = (from: DatabaseClient, to: DatabaseClient) =>
      to.command({
        query: `INSERT INTO store_identity SELECT * FROM ${from.database}.store_identity`,
      });
    const renew = { ...keep, renews: true };
    expect(await claim(left, renew)).toEqual(isThis);
    await copy(left, moved);
    expect(await match(moved)).toEqual(isThis);
    expect(await claim(moved, renew)).toEqual(isThis);
    expect(await match(left)).toEqual(isAnother);
    expect(await claim(left, renew)).toEqual(isAnother);
    expect(await claim(moved, renew)).toEqual(isThis);
  });

  it('is the broker’s after a start that was killed before the broker learned of its id', async () => {
    const clickhouse = await openStore();
    expect(await claim(clickhouse)).toEqual(isThis);
    await clickhouse.command({
      query: "INSERT INTO store_identity VALUES ('of a killed start', now64(3))",
    });
    expect(await match(clickhouse)).toEqual(isThis);
    expect(await claim(clickhouse, { ...keep, renews: true })).toEqual(isThis);
  });

  it('is one for all processes that start first at once, and for one of two stores', async () => {
    const one = await openStore();
    const other = await openStore();
    const claims = (clickhouse: DatabaseClient) =>
      [true, false, true, false].map(async (renews) => {
        const { kind } = await claim(clickhouse, { ...keep, renews });
        return kind;
      });
    expect(new Set(await Promise.all(claims(one)))).toEqual(new Set(['this']));
    await forgetStore();
    const [ofOne = [], ofOther = []] = await Promise.all(
      [one, other].map((clickhouse) => Promise.all(claims(clickhouse))),
    );
    const answers = [new Set(ofOne), new Set(ofOther)].map((set) => [...set]);
    expect(answers.toSorted()).toEqual([['another'], ['this']]);
  });
});

it('a store of several groups is the same groups in the same order', async () => {
  const [a, b, c] = [await openStore(), await openStore(), await openStore()];
  const renew = { ...keep, renews: true };
  const replace = { replaces: true, renews: true };
  const claimAll = (groups: DatabaseClient[], how: typeof keep) =>
    claimStore({ nats, groups }, how);
  expect(await claimAll([a, b], renew)).toEqual(isThis);
  expect(await match(a, b)).toEqual(isThis);
  expect(await claimAll([a, b], renew)).toEqual(isThis);
  expect(await match(a, c)).toEqual({ kind: 'another', place: 1 });
  expect(await claimAll([a, c], keep)).toEqual({ kind: 'another', place: 1 });
  // Shards would be looked for where they are not: the operator cannot accept that either.
  expect(await claimAll([b, a], replace)).toEqual({ kind: 'otherOrder' });
  for (const groups of [[a], [a, b, c]]) {
    expect(await claimAll(groups, replace)).toEqual({ kind: 'otherCount', kept: 2 });
  }
  expect(await match(a, b)).toEqual(isThis);
  expect(await claimAll([a, c], replace)).toEqual(isThis);
  expect(await match(a, b)).toEqual({ kind: 'another', place: 1 });
});
