// The order in which a backup is taken, of a real broker and engine: another one loses what moves meanwhile.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { connectBroker, type NatsConnection } from '../platform/broker/nats.ts';
import { ensureTopology } from '../platform/broker/topology.ts';
import { createClickHouse, type DatabaseClient } from '../platform/clickhouse/clickhouse.ts';
import { createLog } from '../platform/log.ts';
import { operatorUrl } from '../test/harness/servers/broker.ts';
import { useBroker, useEngine } from '../test/harness/servers/use-servers.ts';
import { freezeTables } from './frozen-parts.ts';
import { readManifest } from './manifest.ts';
import { takeBackup } from './take-backup.ts';

const broker = useBroker();
const engine = useEngine();
const directory = mkdtempSync(join(tmpdir(), 'millrace-order-'));
let connection: NatsConnection;
let clickhouse: DatabaseClient;
beforeAll(async () => {
  const log = createLog('silent');
  connection = await connectBroker(operatorUrl(broker), log);
  await ensureTopology(connection, { eventsMaxBytes: 16 * 1_048_576, shards: 2 });
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 2 });
});
afterAll(async () => {
  await Promise.all([connection.close(), clickhouse.close()]);
  rmSync(directory, { recursive: true, force: true });
});

it('is taken though webhooks are delivered all the time, and tells that it may lack a delivery', async () => {
  let tries = 0;
  const snapshots = connection.subscribe('$JS.API.STREAM.SNAPSHOT.WEBHOOK_DUE', {
    callback: () => void connection.publish(`whd.moving.${++tries}`),
  });
  const taken = freezeTables(clickhouse, engine.dir);
  const place = join(directory, 'busy');
  const options = { connection, clickhouse, taken, dataDir: directory, directory: place };
  const { hasAllDeliveries } = await takeBackup({ ...options, nowMs: 1 });
  snapshots.unsubscribe();
  expect(hasAllDeliveries).toBe(false);
  expect(tries).toBe(11);
  expect(readManifest(place)?.streams.map(({ name }) => name)).toContain('WEBHOOK_DUE');
});

it('is queues, tables, deliveries, the log of attempts, then all else but salts', async () => {
  const steps: string[] = [];
  const snapshots = connection.subscribe('$JS.API.STREAM.SNAPSHOT.*', {
    callback: (_, { subject }) => void steps.push(subject.split('.').at(-1) ?? ''),
  });
  const frozen = freezeTables(clickhouse, engine.dir);
  const taken = {
    ...frozen,
    async take(table: Parameters<typeof frozen.take>[0]) {
      await connection.flush();
      steps.push(`table ${table.name}`);
      await frozen.take(table);
    },
  };
  const options = { connection, clickhouse, taken, dataDir: directory, nowMs: 1 };
  await takeBackup({ ...options, directory: join(directory, 'backup') });
  snapshots.unsubscribe();
  const at = (step: string): number => steps.indexOf(step);
  const queues = ['EVENTS_0', 'EVENTS_1', 'PROFILES_0', 'PROFILES_1'];
  expect(steps.slice(0, 4)).toEqual(queues);
  const tables = steps.slice(4, at('WEBHOOK_DUE'));
  expect(tables.every((step) => step.startsWith('table '))).toBe(true);
  expect(tables.slice(0, 2)).toEqual(['table event_ids_reach', 'table event_ids']);
  expect(tables).toContain('table events');
  expect(tables).toContain('table profile_activity');
  const rest = steps.slice(at('WEBHOOK_DUE'));
  expect(rest.slice(0, 5)).toEqual([
    ...['WEBHOOK_DUE', 'WEBHOOK_RETRY', 'WEBHOOK_PARK', 'WEBHOOK_LOG'],
    'table webhook_attempts',
  ]);
  expect(rest).toContain('EVENTS_DLQ');
  expect(rest).toContain('KV_ledger');
  const manifest = readManifest(join(directory, 'backup'));
  const names = manifest?.streams.map(({ name }) => name);
  expect(names).toHaveLength(9 + 20);
  expect(names).not.toContain('KV_salts');
  expect(manifest?.store.tables.map(({ name }) => name)).not.toContain('kept_days');
});
