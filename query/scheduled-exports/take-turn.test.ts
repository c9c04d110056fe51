// Turns at scheduled exports with a real broker, a real engine and a server that checks signatures: whatever step the
// process dies at, the bucket holds each event once; late events, periods that are written again, failures and mails.

import { randomUUID } from 'node:crypto';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buckets } from '../../platform/broker/buckets.ts';
import { connectBroker } from '../../platform/broker/nats.ts';
import { openBucket, type RecordBucket } from '../../platform/broker/record-bucket.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { ExportFiles } from '../../platform/exports/export-files.ts';
import {
  readScheduleRecord,
  type ScheduleRecord,
  scheduleKey,
} from '../../platform/exports/schedule-record.ts';
import { createLog } from '../../platform/log.ts';
import { systemInternet } from '../../platform/mail/internet.ts';
import type { Mail, MailOutcome } from '../../platform/mail/mail.ts';
import { networks } from '../../platform/private-networks.ts';
import { ExportFormat, ExportWhat } from '../../proto/gen/shared/exports/v1/exports_pb.js';
import { newSchedule, scheduledQuery } from '../../test/harness/exports/new-schedule.ts';
import { type S3Server, s3Key, startS3Server } from '../../test/harness/exports/s3-server.ts';
import { useBroker, useEngine } from '../../test/harness/servers/use-servers.ts';
import { type StoredRow, storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { storeProfiles } from '../../test/harness/tables/stored-profiles.ts';
import { Mortal } from '../../test/harness/turns/mortal.ts';
import { noSegments } from '../insights/segments/listed-persons.ts';
import type { ScheduleParts } from './schedule-parts.ts';
import { type ObjectStore, openObjectStore } from './store/object-store.ts';
import { sha256Of } from './store/read-back.ts';
import { leaseMs, takeTurn } from './take-turn.ts';
import { pauseAfterMs, tellAfterMs } from './write-period.ts';

const broker = useBroker();
const engine = useEngine();
const log = createLog('silent');
const dataDir = mkdtempSync(join(tmpdir(), 'millrace-scheduled-'));
const files = new ExportFiles(dataDir, 'scheduled-exports');
const [minuteMs, hourMs, dayMs] = [60_000, 3_600_000, 86_400_000];
const startMs = Date.UTC(2026, 9, 10, 22);
const projectId = `prj_${randomUUID()}`;
const folder = `in/${projectId}/events/day=2026-10-10`;
const manifest = `${folder}/hour=22/_manifest.json`;

let states: RecordBucket<ScheduleRecord>;
let clickhouse: DatabaseClient;
let server: S3Server;
let rows: StoredRow[];
let nowMs = 0;
let key = '';
let place = 0;
let outcome: MailOutcome;
const mails: Mail[] = [];

beforeAll(async () => {
  const nats = await connectBroker(broker.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 16 * 1_048_576, shards: 1 });
  states = await openBucket(nats, buckets.exportSchedules, readScheduleRecord);
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 6 });
  server = await startS3Server('bucket');
  await files.openDirectory();
  const received = (receiveTimeMs: number, occurTimeMs = receiveTimeMs) =>
    storedRow({ projectId, occurTimeMs, receiveTimeMs });
  rows = [
    ...Array.from({ length: 24 }, (_, n) => received(startMs + n * minuteMs)),
    received(startMs + hourMs - 1),
    // Three days late, in the last hour of the day.
    received(startMs + hourMs, startMs - 3 * dayMs),
    received(startMs + hourMs + 1),
  ];
  await storeRows(clickhouse, rows);
  await storeRows(clickhouse, [
    storedRow({ projectId: `prj_${randomUUID()}`, occurTimeMs: startMs }),
  ]);
  return async () => {
    await server.close();
    await nats.close();
    await clickhouse.close();
  };
});
afterAll(() => rmSync(dataDir, { recursive: true }));

beforeEach(async () => {
  nowMs = startMs + hourMs + 5 * minuteMs;
  mails.length = 0;
  outcome = { kind: 'sent' };
  server.files.clear();
  server.requests.length = 0;
  server.fault = () => undefined;
  await begin();
});

async function begin(fields: Partial<ScheduleRecord> = {}): Promise<void> {
  key = scheduleKey(projectId, place++);
  const target = { endpoint: server.url, sealedSecret: 'sealed' };
  await states.create(key, { ...newSchedule(startMs, target), ...fields });
}

const openStore = ({ target }: ScheduleRecord): ObjectStore =>
  openObjectStore(
    { ...target, secret: s3Key.secret },
    { allowed: networks(['127.0.0.0/8']), internet: systemInternet },
  );

function partsOf(changes: Partial<ScheduleParts> = {}): ScheduleParts {
  return {
    states,
    known: () => undefined,
    files,
    room: {
      ...{ freeBytes: async () => 1_000_000, reserveBytes: 0, maxBytesOfProject: 1_000_000 },
      keptBytes: () => 0,
    },
    group: () => clickhouse,
    completeUntilMs: async () => nowMs,
    readSegments: async () => noSegments,
    partRows: 10,
    openStore,
    project: () => ({ organizationId: 'org', displayName: 'Shop' }),
    members: (_, ids) => ids.map((id) => ({ email: `${id}@a.example` })),
    admins: () => [{ email: 'admin@a.example' }],
    async sendMail(_, mail) {
      mails.push(mail);
      return outcome;
    },
    publicUrl: () => 'https://app.example.com',
    stopping: new AbortController().signal,
    clock: { nowMs: () => nowMs },
    log,
    ...changes,
  };
}

const turn = (changes: Partial<ScheduleParts> = {}) => takeTurn(partsOf(changes), key);

async function record(): Promise<ScheduleRecord> {
  const found = await states.get(key);
  if (found.kind !== 'found') throw new Error(found.kind);
  return found.record;
}

async function change(fields: Partial<ScheduleRecord>): Promise<void> {
  const found = await states.get(key);
  if (found.kind !== 'found') throw new Error(found.kind);
  await states.update(key, { ...found.record, ...fields }, found.revision);
}

const linesOf = (name: string): { event_id: string }[] =>
  String(server.files.get(name)?.data)
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

/** The ids in the files that a manifest names, which are there as it says. */
function idsOf(name: string): string[] {
  const { parts, rows: count } = JSON.parse(String(server.files.get(name)?.data));
  const ids: string[] = [];
  for (const part of parts) {
    const path = name.replace('_manifest.json', part.name);
    const data = server.files.get(path)?.data ?? Buffer.alloc(0);
    expect({ bytes: data.length, sha256: sha256Of(data) }).toEqual({
      ...{ bytes: part.bytes, sha256: part.sha256 },
    });
    ids.push(...linesOf(path).map(({ event_id: id }) => id));
  }
  expect(ids).toHaveLength(count);
  return ids.sort();
}

const wantedIds = (fromMs: number, toMs: number): string[] =>
  rows
    .filter(({ receiveTimeMs: at }) => at >= fromMs && at < toMs)
    .map(({ eventId }) => eventId)
    .sort();

const names = () => [...server.files.keys()].sort();
const hourFiles = (hour: string, count: number): string[] => [
  `${folder}/hour=${hour}/_manifest.json`,
  ...Array.from({ length: count }, (_, n) => `${folder}/hour=${hour}/events-000${n + 1}.ndjson`),
];
const filesLeft = () =>
  readdirSync(files.directory, { recursive: true }).filter((one) => /ndj/.test(String(one)));

describe('a period', () => {
  it('is in the bucket once it is complete, its manifest last', async () => {
    await turn();
    expect(names()).toEqual(hourFiles('22', 3));
    expect(idsOf(manifest)).toEqual(wantedIds(startMs, startMs + hourMs));
    const puts = server.requests.filter(({ method }) => method === 'PUT').map((one) => one.key);
    expect(puts.at(-1)).toBe(manifest);
    const { schema, ...told } = JSON.parse(String(server.files.get(manifest)?.data));
    expect(told).toMatchObject({
      ...{ what: 'events', format: 'ndjson', cadence: 'hourly', selected_by: 'receive_time' },
      ...{ from: '2026-10-10T22:00:00.000Z', to: '2026-10-10T23:00:00.000Z', rows: 25 },
      complete_until: '2026-10-10T23:05:00.000Z',
    });
    expect(schema).toContainEqual({ name: 'receive_time', type: "DateTime64(3, 'UTC')" });
    const now = await record();
    expect(now).toMatchObject({ nextFromMs: startMs + hourMs, leaseEndMs: 0 });
    expect(now.last).toMatchObject({ fromMs: startMs, files: 3, rows: 25 });
    expect(now.progress).toBeUndefined();
    expect(filesLeft()).toEqual([]);
  });

  it('that is not over, or not stored whole, waits; nobody is told of a failure', async () => {
    nowMs = startMs + hourMs + 5 * minuteMs - 1;
    expect(await turn()).toBe(startMs + hourMs + 5 * minuteMs);
    nowMs += 1;
    expect(await turn({ completeUntilMs: async () => nowMs - 1 })).toBe(nowMs + minuteMs);
    nowMs += minuteMs;
    expect(await turn({ completeUntilMs: async () => undefined })).toBe(nowMs + minuteMs);
    expect(server.files.size).toBe(0);
    expect(await record()).toMatchObject({ tries: 0, lastError: '', failingSinceMs: 0 });
    nowMs += minuteMs;
    await turn();
    expect(names()).toEqual(hourFiles('22', 3));
  });

  it('has the events that came in it, however late; one without events has a manifest alone', async () => {
    nowMs = startMs + 3 * hourMs + 5 * minuteMs;
    await turn();
    const next = `in/${projectId}/events/day=2026-10-11/hour=00/_manifest.json`;
    expect(names()).toEqual([...hourFiles('22', 3), ...hourFiles('23', 1), next]);
    expect(idsOf(hourFiles('23', 1)[0] ?? '')).toEqual(
      wantedIds(startMs + hourMs, startMs + 2 * hourMs),
    );
    expect(idsOf(next)).toEqual([]);
  });

  it('is begun with a key that may not list, to which S3 says of absent files that they are forbidden', async () => {
    server.fault = ({ method, key: name }) =>
      method === 'GET' && !server.files.has(name)
        ? { status: 403, code: 'AccessDenied' }
        : undefined;
    await turn();
    expect(idsOf(manifest)).toEqual(wantedIds(startMs, startMs + hourMs));
  });

  it('of a day is one folder, as Parquet that names its columns', async () => {
    const from = startMs - (startMs % dayMs);
    await change({
      ...{ cadence: 'daily', nextFromMs: from },
      query: scheduledQuery(ExportWhat.EVENTS, ExportFormat.PARQUET),
    });
    nowMs = from + dayMs + 5 * minuteMs;
    await turn();
    const parts = ['events-0001.parquet', 'events-0002.parquet', 'events-0003.parquet'];
    expect(names()).toEqual(['_manifest.json', ...parts].map((name) => `${folder}/${name}`));
    expect((await record()).last).toMatchObject({ rows: rows.length, files: 3 });
  });

  it('of persons has all of them as they are now; those that were missed are one', async () => {
    const profileRow = { projectId, distinctId: 'ada', traits: { plan: 'pro' } };
    await storeProfiles(clickhouse, [profileRow]);
    await change({ query: scheduledQuery(ExportWhat.PROFILES), cadence: 'daily' });
    nowMs = startMs + 5 * dayMs;
    await turn();
    const last = `in/${projectId}/profiles/day=2026-10-14`;
    expect(names()).toEqual([`${last}/_manifest.json`, `${last}/profiles-0001.ndjson`]);
    expect((await record()).nextFromMs).toBe(Date.UTC(2026, 9, 15));
  });
});

describe('a process that dies', () => {
  it('at any step leaves each event once, and the period whole, to the next', async () => {
    let steps = 0;
    for (const isDone of [false, true]) {
      for (let dieAt = 1; ; dieAt++) {
        server.files.clear();
        nowMs = startMs + hourMs + 5 * minuteMs;
        await begin();
        const mortal = new Mortal(dieAt, isDone);
        const dying = { ...dyingParts(mortal), partRows: 13 };
        const ended = await Promise.race([
          turn(dying).then(() => 'lived'),
          mortal.died.then(() => 'died'),
        ]);
        if (ended === 'lived') break;
        if (server.files.has(manifest)) idsOf(manifest);
        nowMs += leaseMs;
        await turn({ partRows: 13 });
        expect(names(), `step ${dieAt}, ${isDone}`).toEqual(hourFiles('22', 2));
        expect(idsOf(manifest)).toEqual(wantedIds(startMs, startMs + hourMs));
        expect((await record()).nextFromMs).toBe(startMs + hourMs);
        steps += 1;
      }
    }
    // The lease; the old manifest and the record; two files with four steps each and the record; looks at both, the
    // manifest and the record; the release. Each is died at twice.
    expect(steps).toBe(2 * (1 + 2 + 2 * 5 + 2 + 3 + 1));
  });

  it('and another one that is at it: one alone writes', async () => {
    const alone = partsOf();
    await Promise.all([takeTurn(alone, key), takeTurn(partsOf(), key)]);
    expect(names()).toEqual(hourFiles('22', 3));
    const puts = server.requests.filter(({ method }) => method === 'PUT');
    expect(puts).toHaveLength(4);
  });

  it('not, and writes after its lease: what it leaves is found before the manifest', async () => {
    let isOver = false;
    server.fault = ({ method, key: name }) => {
      if (method === 'PUT' && name.endsWith('0003.ndjson') && !isOver) {
        isOver = true;
        const first = `${folder}/hour=22/events-0001.ndjson`;
        server.files.set(first, { data: Buffer.from('{}\n'), headers: {} });
      }
      return undefined;
    };
    await turn();
    const failed = await record();
    expect(failed.lastError).toBe(
      'events-0001.ndjson is not there as it was written: the period is written again',
    );
    expect(names()).not.toContain(manifest);
    nowMs = failed.nextTryMs;
    await turn();
    expect(idsOf(manifest)).toEqual(wantedIds(startMs, startMs + hourMs));
  });
});

/** Every step that the broker, the bucket or the disk sees. */
function dyingParts(mortal: Mortal): Partial<ScheduleParts> {
  return {
    states: {
      get: states.get.bind(states),
      create: states.create.bind(states),
      update: mortal.step(states.update.bind(states)),
    },
    files: {
      make: files.make.bind(files),
      write: (project, id, name, write) =>
        mortal.step(() => files.write(project, id, name, write))(),
      remove: mortal.step(files.remove.bind(files)),
      pathOf: files.pathOf.bind(files),
    },
    openStore(of) {
      const store = openStore(of);
      return {
        put: mortal.step(store.put),
        head: mortal.step(store.head),
        get: mortal.step(store.get),
        delete: mortal.step(store.delete),
        close: store.close,
      };
    },
  };
}

describe('a period that is written again', () => {
  it('takes the place of the former one, and leaves none of its files', async () => {
    await turn({ partRows: 5 });
    expect(names()).toEqual(hourFiles('22', 5));
    await change({ nextFromMs: startMs });
    server.requests.length = 0;
    await turn();
    expect(names()).toEqual(hourFiles('22', 3));
    expect(idsOf(manifest)).toEqual(wantedIds(startMs, startMs + hourMs));
    // It is not there while its files change.
    const changes = server.requests.filter(({ method }) => method === 'PUT' || method === 'DELETE');
    expect(changes[0]).toEqual({ method: 'DELETE', key: manifest });
    expect(changes.at(-1)).toEqual({ method: 'PUT', key: manifest });
  });

  it('deletes nothing that is not named as a file of an export', async () => {
    const foreign = { parts: [{ name: '../../other' }, { name: 'events-0009.ndjson' }] };
    server.files.set(manifest, { data: Buffer.from(JSON.stringify(foreign)), headers: {} });
    await turn();
    const deleted = server.requests.filter(({ method }) => method === 'DELETE');
    expect(deleted.map((one) => one.key)).toEqual([
      manifest,
      `${folder}/hour=22/events-0009.ndjson`,
    ]);
  });
});

describe('a failure', () => {
  it('is told in words, tried again later each time, and leaves nothing on the disk', async () => {
    server.fault = ({ method }) =>
      method === 'PUT' ? { status: 403, code: 'AccessDenied' } : undefined;
    const waits: number[] = [];
    for (let tries = 1; tries <= 9; tries++) {
      await turn();
      const now = await record();
      expect(now).toMatchObject({
        ...{ tries, lastError: 'the key may not write files there (403 AccessDenied)' },
        ...{ lastErrorMs: nowMs, failingSinceMs: startMs + hourMs + 5 * minuteMs },
      });
      waits.push(now.nextTryMs - nowMs);
      nowMs = now.nextTryMs;
    }
    expect(waits[0]).toBeLessThanOrEqual(minuteMs);
    expect(Math.max(...waits)).toBeLessThanOrEqual(hourMs);
    expect(waits.at(-1)).toBeGreaterThan(20 * minuteMs);
    expect(filesLeft()).toEqual([]);
    server.fault = () => undefined;
    await turn();
    expect(names()).toContain(manifest);
    expect(await record()).toMatchObject({ tries: 0, failingSinceMs: 0 });
  });

  it('that lasts is told once by mail; after a week it is paused, and that is told', async () => {
    server.fault = () => ({ status: 503, code: 'SlowDown' });
    const failAt = async (atMs: number): Promise<void> => {
      nowMs = Math.max(atMs, (await record()).nextTryMs);
      await turn();
    };
    await failAt(nowMs);
    const sinceMs = nowMs;
    await failAt(sinceMs + tellAfterMs - 10 * minuteMs);
    expect(mails).toEqual([]);
    outcome = { kind: 'unavailable', reason: 'busy' };
    await failAt(sinceMs + tellAfterMs);
    expect(mails).toHaveLength(1);
    outcome = { kind: 'sent' };
    nowMs = (await record()).nextTellMs;
    await turn();
    await failAt(nowMs + hourMs);
    expect(mails).toHaveLength(2);
    expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(1);
    expect(mails[1]).toMatchObject({ to: 'ada@a.example', subject: 'To the lake of Shop fails' });
    expect(mails[1]?.text).toContain('the endpoint asks to slow down (503 SlowDown)');
    await failAt(sinceMs + pauseAfterMs);
    expect(await record()).toMatchObject({ state: 'paused' });
    expect((await record()).reason).toContain('it has failed for a week: the endpoint asks');
    expect(mails[2]?.subject).toBe('To the lake of Shop is paused');
    await turn();
    expect(mails).toHaveLength(3);
  });

  it('of a maker who is gone is told to an admin', async () => {
    await change({ ...{ telling: 'failing', toldMs: nowMs, failingSinceMs: nowMs } });
    await turn({ members: () => [] });
    expect(mails.map(({ to }) => to)).toEqual(['admin@a.example']);
  });
});

it('one that is paused or deleted while it is written writes no manifest', async () => {
  const parts = partsOf({
    async readSegments() {
      await change({ state: 'paused' });
      return noSegments;
    },
  });
  await takeTurn(parts, key);
  expect(server.files.size).toBe(0);
  expect((await record()).state).toBe('paused');
  nowMs += leaseMs;
  await turn();
  expect(server.files.size).toBe(0);
});
