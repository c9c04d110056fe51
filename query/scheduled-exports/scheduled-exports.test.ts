// ExportSchedulesService over HTTP with real accounts, a real broker, a real engine and a bucket that checks
// signatures: who asks for what, what is refused, what is kept of a key, what DuckDB reads in the bucket, and that
// nothing more is written there once a project or its organization is deleted.

import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { timestampFromMs, timestampMs } from '@bufbuild/protobuf/wkt';
import { Code } from '@connectrpc/connect';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { customerOf, principalOf } from '../../platform/access/auth-interceptor.ts';
import { buckets } from '../../platform/broker/buckets.ts';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../../platform/clickhouse/groups.ts';
import { createLog } from '../../platform/log.ts';
import { systemInternet } from '../../platform/mail/internet.ts';
import { networks } from '../../platform/private-networks.ts';
import {
  ExportCadence,
  ExportScheduleState,
  ExportSchedulesService,
} from '../../proto/gen/dashboard/exports/v1/export_schedules_pb.js';
import {
  ExportColumns,
  ExportFormat,
  ExportWhat,
} from '../../proto/gen/shared/exports/v1/exports_pb.js';
import { eventually } from '../../test/harness/clients/client.ts';
import {
  type S3Server,
  s3Key,
  s3Region,
  startS3Server,
} from '../../test/harness/exports/s3-server.ts';
import { useBroker, useEngine } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  newCustomer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { openScheduledExports, type ScheduledExports } from './start.ts';

const broker = useBroker();
const engine = useEngine();
const log = createLog('silent');
const directory = mkdtempSync(join(tmpdir(), 'millrace-schedules-'));
const hourMs = 3_600_000;
/** Within an hour, so that the one before is over and settled. */
const nowMs = Date.UTC(2026, 9, 11, 1, 30);
let aheadMs = 0;
/** Before which moment a project has no events. */
const retainedFromMs = new Map<string, number>();
let clickhouse: DatabaseClient;
let accounts: AccountsProcess;
let scheduled: ScheduledExports;
let server: S3Server;
let duckdb: DuckDBInstance;

beforeAll(async () => {
  server = await startS3Server('bucket');
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 6 });
  duckdb = await DuckDBInstance.create(':memory:', { autoinstall_known_extensions: 'false' });
  accounts = await startAccounts({
    brokerUrl: broker.url,
    async routes({ control, connection, projects }) {
      scheduled = await openScheduledExports({
        ...{ nats: connection, clickhouse: oneGroup(clickhouse), box: control.box, log },
        ...{ dataDir: directory, reserveBytes: 0, partRows: 10 },
        allowed: networks(['127.0.0.0/8']),
        internet: systemInternet,
        completeUntilMs: async () => nowMs + aheadMs,
        isProven: (customerId) => control.customers.get(customerId)?.emailVerified === true,
        callerOf: (context) => ({ ...customerOf(context), ...principalOf(context) }),
        mail: control.organizationMail,
        project: (id) => projects.get(id)?.record,
        retainedFrom: (id) => retainedFromMs.get(id),
        publicUrl: () => 'https://app.example.com',
        clock: { nowMs: () => nowMs + aheadMs },
      });
      return [];
    },
    reads: (router) => scheduled.register(router),
  });
});
beforeEach(() => {
  aheadMs = 0;
  server.files.clear();
  server.requests.length = 0;
  server.fault = () => undefined;
});
afterAll(async () => {
  await scheduled.stop();
  await accounts.close();
  await server.close();
  await clickhouse.close();
  duckdb.closeSync();
  rmSync(directory, { recursive: true });
});

async function newProject() {
  const customer = await newCustomer(accounts);
  const client = accounts.client(ExportSchedulesService, bearer(customer, customer.projectId));
  return { ...customer, client };
}

const asked = (changes: object = {}) => ({
  displayName: 'To the lake',
  query: { what: ExportWhat.EVENTS, format: ExportFormat.PARQUET },
  cadence: ExportCadence.HOURLY,
  bucket: {
    ...{ endpoint: server.url, region: s3Region, bucket: 'bucket', prefix: 'in' },
    ...{ pathStyle: true, accessKeyId: s3Key.accessKeyId },
  },
  secretAccessKey: s3Key.secret,
  ...changes,
});

const manifests = () => [...server.files.keys()].filter((key) => key.endsWith('_manifest.json'));

describe('a scheduled export', () => {
  it('tries the bucket, and writes hours that DuckDB reads by their days', async () => {
    const { client, projectId } = await newProject();
    const rows = Array.from({ length: 48 }, (_, n) =>
      storedRow({ projectId, occurTimeMs: nowMs - 4 * hourMs + n * 300_000 }),
    );
    await storeRows(clickhouse, rows);
    const startTime = timestampFromMs(nowMs - 3 * hourMs);
    const { schedule } = await client.create(asked({ startTime }));
    const tried = server.requests.slice(0, 3).map(({ method }) => method);
    expect(tried).toEqual(['PUT', 'GET', 'DELETE']);
    expect(schedule).toMatchObject({ state: ExportScheduleState.ACTIVE, lastError: '' });
    const id = schedule?.id ?? '';
    const done = await eventually(
      () => client.get({ id }),
      ({ schedule: one }) =>
        Number(one?.nextPeriodTime?.seconds) === Date.UTC(2026, 9, 11, 1) / 1_000,
    );
    expect(done.schedule?.lastPeriod).toMatchObject({ files: 2, rows: 12n });
    expect(done.schedule?.nextRunTime && timestampMs(done.schedule.nextRunTime)).toBe(
      Date.UTC(2026, 9, 11, 2, 5),
    );
    const base = `in/${projectId}/events`;
    expect(manifests().sort()).toEqual([
      `${base}/day=2026-10-10/hour=22/_manifest.json`,
      `${base}/day=2026-10-10/hour=23/_manifest.json`,
      `${base}/day=2026-10-11/hour=00/_manifest.json`,
    ]);
    const read = await readByDuckDb(base);
    // Rows are received a second after they occurred: the first hour begins with one of the hour before.
    expect(read).toEqual([
      ['2026-10-10', '22', 12n, true],
      ['2026-10-10', '23', 12n, true],
      ['2026-10-11', '00', 12n, true],
    ]);
  });

  it('sends no event that the project keeps no longer', async () => {
    const { client, projectId } = await newProject();
    const hours = [2, 1].map((ago) =>
      storedRow({ projectId, occurTimeMs: Date.UTC(2026, 9, 11, 1 - ago, 10) }),
    );
    await storeRows(clickhouse, hours);
    retainedFromMs.set(projectId, Date.UTC(2026, 9, 11));
    const startTime = timestampFromMs(nowMs - 2 * hourMs);
    const { schedule } = await client.create(asked({ startTime }));
    await eventually(
      () => client.get({ id: schedule?.id ?? '' }),
      ({ schedule: one }) =>
        Number(one?.nextPeriodTime?.seconds) === Date.UTC(2026, 9, 11, 1) / 1_000,
    );
    expect(await readByDuckDb(`in/${projectId}/events`)).toEqual([['2026-10-11', '00', 1n, true]]);
  });

  it('keeps the secret sealed, and answers it to nobody', async () => {
    const { client, projectId } = await newProject();
    const { schedule } = await client.create(asked());
    const answers = [schedule, await client.list({}), await client.get({ id: schedule?.id ?? '' })];
    const kv = await accounts.connection.jetstream().views.kv(buckets.exportSchedules, {
      bindOnly: true,
    });
    const stored = (await kv.get(`${projectId}.0`))?.string() ?? '';
    expect(stored).toContain('sealed.');
    const told = `${stored} ${JSON.stringify(answers, (_, value) => (typeof value === 'bigint' ? '' : value))}`;
    expect(told).not.toContain(s3Key.secret);
    expect(told).toContain(s3Key.accessKeyId);
    await client.delete({ id: schedule?.id ?? '' });
    const after = (await kv.get(`${projectId}.0`))?.string() ?? '';
    expect(after).not.toContain('sealed.');
    expect(after).not.toContain(s3Key.accessKeyId);
  });

  it('is told why a bucket does not work, and is not kept then', async () => {
    const { client } = await newProject();
    await expect(client.create(asked({ secretAccessKey: 'wrong' }))).rejects.toMatchObject({
      code: Code.FailedPrecondition,
      rawMessage:
        'the bucket was tried: the secret access key is not the one of the access key id (403 SignatureDoesNotMatch)',
    });
    server.fault = ({ method }) =>
      method === 'DELETE' ? { status: 403, code: 'AccessDenied' } : undefined;
    await expect(client.create(asked())).rejects.toThrow('the key may not delete files there');
    expect((await client.list({})).schedules).toEqual([]);
  });
});

describe('what is asked', () => {
  it.each<[string, object]>([
    ['displayName: is required', { displayName: ' ' }],
    ['cadence: is required', { cadence: 0 }],
    ['cadence: must be DAILY', { query: { what: ExportWhat.PROFILES, format: ExportFormat.CSV } }],
    ['query: is required', { query: undefined }],
    ['query.format: is required', { query: { what: ExportWhat.EVENTS } }],
    ['query.timeRange: must be empty', { query: { timeRange: {} } }],
    ['query.distinctId: is not for', { query: { distinctId: 'ada' } }],
    ['query.columns: must be MAPS', { query: { columns: ExportColumns.FLAT } }],
    ['secretAccessKey: is required', { secretAccessKey: '' }],
    ['secretAccessKey: must be', { secretAccessKey: 'a b' }],
    ['startTime: must not be after now', { startTime: timestampFromMs(nowMs + hourMs) }],
    ['startTime: must be at most 1000', { startTime: timestampFromMs(nowMs - 1_001 * hourMs) }],
  ])('%s', async (rule, changes) => {
    const { client } = await newProject();
    await expect(client.create(asked(changes))).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: expect.stringContaining(rule),
    });
    expect(server.requests).toEqual([]);
  });

  it.each<[string, object]>([
    ['bucket.endpoint: is required', { endpoint: '' }],
    ['bucket.endpoint: must be a URL', { endpoint: 'storage' }],
    ['bucket.endpoint: must have no path', { endpoint: 'https://s3.example.com/bucket' }],
    ['bucket.endpoint: must lead to the public internet', { endpoint: 'https://10.0.0.1' }],
    ['bucket.endpoint: must start with https://', { endpoint: 'http://9.9.9.9' }],
    ['bucket.endpoint: must not have a user name', { endpoint: 'https://a:b@s3.example.com' }],
    ['bucket.region', { region: 'EU Central' }],
    ['bucket.bucket', { bucket: 'a/b' }],
    ['bucket.bucket', { bucket: '..' }],
    ['bucket.prefix', { prefix: 'a/../b' }],
    ['bucket.prefix', { prefix: '/a' }],
    ['bucket.prefix', { prefix: 'a?b' }],
    ['bucket.accessKeyId: is required', { accessKeyId: '' }],
  ])('%s', async (rule, changes) => {
    const { client } = await newProject();
    const bucket = { ...asked().bucket, ...changes };
    await expect(client.create(asked({ bucket }))).rejects.toMatchObject({
      code: Code.InvalidArgument,
      rawMessage: expect.stringContaining(rule),
    });
    expect(server.requests).toEqual([]);
  });

  it('has five places of its own in a project; another project has its own', async () => {
    const { client } = await newProject();
    const made = await client.create(asked());
    await expect(client.create(asked())).rejects.toMatchObject({ code: Code.AlreadyExists });
    for (let n = 1; n < 5; n++) {
      await client.create(asked({ bucket: { ...asked().bucket, prefix: `in${n}/` } }));
    }
    const sixth = asked({ bucket: { ...asked().bucket, prefix: 'in6/' } });
    await expect(client.create(sixth)).rejects.toMatchObject({ code: Code.ResourceExhausted });
    await client.delete({ id: made.schedule?.id ?? '' });
    await client.create(sixth);
    expect((await client.list({})).schedules).toHaveLength(5);
    const other = await newProject();
    const id = made.schedule?.id ?? '';
    for (const call of [
      other.client.get({ id }),
      client.get({ id }),
      other.client.delete({ id }),
    ]) {
      await expect(call).rejects.toMatchObject({ code: Code.NotFound });
    }
  });
});

describe('a change', () => {
  it('pauses and resumes, and takes another key only if it works', async () => {
    const { client } = await newProject();
    const { schedule } = await client.create(asked());
    const id = schedule?.id ?? '';
    const paused = await client.update({ id, paused: true, displayName: 'Later' });
    expect(paused.schedule).toMatchObject({
      ...{ state: ExportScheduleState.PAUSED, displayName: 'Later', reason: '' },
    });
    expect(paused.schedule?.nextRunTime).toBeUndefined();
    await expect(client.run({ id })).rejects.toMatchObject({ code: Code.FailedPrecondition });
    const resumed = await client.update({ id, paused: false });
    expect(resumed.schedule?.state).toBe(ExportScheduleState.ACTIVE);
    const key = { accessKeyId: s3Key.accessKeyId, secretAccessKey: 'wrong' };
    await expect(client.update({ id, ...key })).rejects.toThrow('the secret access key is not');
    await expect(client.update({ id, accessKeyId: 'a' })).rejects.toThrow('secretAccessKey: is');
    await client.update({ id, ...key, secretAccessKey: s3Key.secret });
  });

  it('has periods written again, from a moment on', async () => {
    const { client } = await newProject();
    const startTime = timestampFromMs(nowMs - 2 * hourMs);
    const { schedule } = await client.create(asked({ startTime }));
    const id = schedule?.id ?? '';
    await eventually(
      async () => manifests().length,
      (count) => count === 2,
    );
    // The record is written after the manifest.
    await eventually(
      () => client.get({ id }),
      ({ schedule: one }) =>
        Number(one?.nextPeriodTime?.seconds) === Date.UTC(2026, 9, 11, 1) / 1_000,
    );
    server.files.clear();
    await client.run({ id, fromTime: timestampFromMs(nowMs - hourMs) });
    await eventually(
      async () => manifests().length,
      (count) => count === 1,
    );
    expect(manifests()[0]).toContain('day=2026-10-11/hour=00/');
  });
});

describe('a deletion', () => {
  /** A project with three hours of two files each. The first file is on its way to the bucket. */
  async function underWay() {
    const { client, projectId, ...customer } = await newProject();
    const rows = Array.from({ length: 48 }, (_, n) =>
      storedRow({ projectId, occurTimeMs: nowMs - 4 * hourMs + n * 300_000 }),
    );
    await storeRows(clickhouse, rows);
    let goOn = (): void => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const begun = new Promise<void>((resolve) => {
      server.fault = async ({ method, key }) => {
        if (method !== 'PUT' || !key.endsWith('events-0001.parquet')) return undefined;
        if (!key.includes(projectId)) return undefined;
        resolve();
        await held;
        return undefined;
      };
    });
    const startTime = timestampFromMs(nowMs - 3 * hourMs);
    await client.create(asked({ startTime }));
    await begun;
    return { ...customer, projectId, goOn, own: accounts.as(bearer(customer)) };
  }

  /** Writes and deletions below the project's folder. */
  const changesOf = (projectId: string): string[] =>
    server.requests
      .filter(({ method, key }) => method !== 'GET' && method !== 'HEAD' && key.includes(projectId))
      .map(({ method, key }) => `${method} ${key}`);

  /** The only place for schedules is another project's, and has been again: whatever had it before is over. */
  async function untilItsTurnIsOver(): Promise<void> {
    const { client } = await newProject();
    const bucket = { ...asked().bucket, prefix: 'other' };
    const startTime = timestampFromMs(nowMs - hourMs);
    const { schedule } = await client.create(asked({ bucket, startTime }));
    await eventually(
      () => client.get({ id: schedule?.id ?? '' }),
      ({ schedule: one }) => one?.lastPeriod !== undefined,
    );
  }

  it('of the project ends a run after the file that is on its way', async () => {
    const { own, orgId, projectId, goOn } = await underWay();
    const { projects } = await own.projects.list({ orgId });
    const displayName = projects.find(({ id }) => id === projectId)?.displayName ?? '';
    const before = changesOf(projectId);
    await own.projects.delete({ orgId, id: projectId, displayName });
    goOn();
    await untilItsTurnIsOver();
    expect(changesOf(projectId)).toEqual(before);
    expect(manifests().some((key) => key.includes(projectId))).toBe(false);
  });

  it('of the organization ends a run that waits for its bucket, and nobody is told of a failure', async () => {
    const { own, orgId, projectId, goOn } = await underWay();
    const { org } = await own.orgs.get({ orgId });
    const before = changesOf(projectId);
    await own.orgs.delete({ orgId, displayName: org?.displayName ?? '' });
    await untilItsTurnIsOver();
    const kv = await accounts.connection.jetstream().views.kv(buckets.exportSchedules, {
      bindOnly: true,
    });
    expect((await kv.get(`${projectId}.0`))?.json()).toMatchObject({ tries: 0, lastError: '' });
    goOn();
    expect(changesOf(projectId)).toEqual(before);
    const left = readdirSync(join(directory, 'scheduled-exports'), { recursive: true });
    expect(left).not.toContainEqual(expect.stringContaining('.parquet'));
  });
});

/** Rows by day and hour, and whether they were received then. */
async function readByDuckDb(base: string): Promise<unknown[][]> {
  const folder = mkdtempSync(join(directory, 'read-'));
  for (const [key, { data }] of server.files) {
    mkdirSync(dirname(join(folder, key)), { recursive: true });
    writeFileSync(join(folder, key), data);
  }
  const connection = await duckdb.connect();
  await connection.run("SET TimeZone = 'UTC'");
  const files = `read_parquet('${folder}/${base}/*/*/*.parquet', hive_partitioning = true, hive_types_autocast = false)`;
  const read = await connection.runAndReadAll(
    `SELECT day, hour, count(DISTINCT event_id), bool_and(strftime(receive_time, '%Y-%m-%d %H') = day || ' ' || hour)
      FROM ${files} GROUP BY ALL ORDER BY ALL`,
  );
  connection.closeSync();
  return read.getRows();
}
