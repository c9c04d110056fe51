// Turns at kept exports with a real broker, a real engine and a real disk: whatever step the process dies at, the files
// are the same and the asker is told once; expiry, cancels, and the disk's room.

import { randomUUID } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create, toJson } from '@bufbuild/protobuf';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buckets } from '../../platform/broker/buckets.ts';
import { connectBroker } from '../../platform/broker/nats.ts';
import { openBucket, type RecordBucket } from '../../platform/broker/record-bucket.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import type { ResultReader, RowReader } from '../../platform/clickhouse/select-rows.ts';
import { ExportFiles } from '../../platform/exports/export-files.ts';
import {
  type ExportRecord,
  exportKey,
  readExportRecord,
} from '../../platform/exports/export-record.ts';
import { createLog } from '../../platform/log.ts';
import type { Mail, MailOutcome } from '../../platform/mail/mail.ts';
import { decodeDelivery } from '../../platform/webhooks/delivery.ts';
import type { WebhookRecord } from '../../platform/webhooks/webhook-record.ts';
import {
  CancelRequestSchema,
  ExportFormat,
  ExportQuerySchema,
  ExportWhat,
} from '../../proto/gen/shared/exports/v1/exports_pb.js';
import { useBroker, useEngine } from '../../test/harness/servers/use-servers.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { Mortal } from '../../test/harness/turns/mortal.ts';
import { noSegments } from '../insights/segments/listed-persons.ts';
import type { ExportParts } from './export-parts.ts';
import { createExportsRpc } from './exports-rpc.ts';
import { createFindExport } from './find-export.ts';
import { leaseMs, takeTurn } from './take-turn.ts';

const broker = useBroker();
const engine = useEngine();
const log = createLog('silent');
const dataDir = mkdtempSync(join(tmpdir(), 'millrace-turns-'));
const files = new ExportFiles(dataDir);
const dayMs = 86_400_000;
const startMs = Date.UTC(2026, 9, 10);
const projectId = `prj_${randomUUID()}`;

let states: RecordBucket<ExportRecord>;
let clickhouse: DatabaseClient;
let nowMs = 0;
let key = '';
const mails: Mail[] = [];
const deliveries: { subject: string; messageId: string; payload: Record<string, unknown> }[] = [];
let outcome: MailOutcome;
let place = 0;

beforeAll(async () => {
  const nats = await connectBroker(broker.url, log);
  await ensureTopology(nats, { eventsMaxBytes: 16 * 1_048_576, shards: 1 });
  states = await openBucket(nats, buckets.exports, readExportRecord);
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 6 });
  await files.openDirectory();
  const rows = Array.from({ length: 30 }, (_, n) =>
    storedRow({ projectId, occurTimeMs: startMs + Math.floor(n / 10) * dayMs + n }),
  );
  await storeRows(clickhouse, rows);
  return async () => {
    await nats.close();
    await clickhouse.close();
  };
});
afterAll(() => rmSync(dataDir, { recursive: true }));

beforeEach(async () => {
  nowMs = Date.UTC(2026, 10, 1);
  mails.length = 0;
  deliveries.length = 0;
  outcome = { kind: 'sent' };
  key = exportKey(projectId, place++);
  await states.create(key, newRecord());
});

function newRecord(fields: Partial<ExportRecord> = {}): ExportRecord {
  const query = create(ExportQuerySchema, {
    ...{ what: ExportWhat.EVENTS, format: ExportFormat.NDJSON },
  });
  return {
    ...{ schemaVersion: 1, id: randomUUID(), directoryId: 'own', customerId: 'ada' },
    query: toJson(ExportQuerySchema, query),
    ...{
      state: 'pending',
      reason: '',
      createMs: nowMs,
      stateMs: nowMs,
      progressMs: nowMs,
      expireMs: 0,
    },
    ...{
      completeUntilMs: 0,
      partCount: 0,
      parts: [],
      hasFiles: true,
      isTold: false,
      areQueued: false,
    },
    ...{ tries: 0, nextTryMs: 0, leaseEndMs: 0 },
    ...fields,
  };
}

function partsOf(changes: Partial<ExportParts> = {}): ExportParts {
  return {
    states,
    known: () => undefined,
    ...{ files, directoryId: 'own' },
    room: {
      ...{ freeBytes: async () => 1_000_000, reserveBytes: 0, maxBytesOfProject: 1_000_000 },
      keptBytes: () => 0,
    },
    group: () => clickhouse,
    completeUntilMs: async () => nowMs,
    readSegments: async () => noSegments,
    deliveries: {
      webhooks: { webhooksOf: () => [webhook] },
      async publish(subject, content, messageId) {
        deliveries.push({ subject, messageId, payload: payloadIn(content) });
        return { kind: 'stored', seq: 1, duplicate: false };
      },
    },
    partRows: 10,
    project: () => ({ organizationId: 'org', displayName: 'Shop' }),
    members: (_, ids) => ids.map((customerId) => ({ customerId, email: 'ada@a.example' })),
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

const webhook: WebhookRecord = {
  ...{
    id: 'hook',
    name: 'CRM',
    description: '',
    endpointUrl: 'https://a.example/',
    status: 'ACTIVE',
  },
  ...{ sealedSecret: '', createTime: '', updateTime: '', activeTime: '' },
  subscriptions: [{ subjectType: 'PROJECT', subjectId: projectId, eventType: 'export_ready' }],
};

function payloadIn(content: Uint8Array): Record<string, unknown> {
  const delivery = decodeDelivery(content);
  return JSON.parse(String(delivery?.payload));
}

const turn = (changes: Partial<ExportParts> = {}) => takeTurn(partsOf(changes), key);

async function record(): Promise<ExportRecord> {
  const found = await states.get(key);
  if (found.kind !== 'found') throw new Error(found.kind);
  return found.record;
}

async function change(fields: Partial<ExportRecord>): Promise<void> {
  const found = await states.get(key);
  if (found.kind !== 'found') throw new Error(found.kind);
  await states.update(key, { ...found.record, ...fields }, found.revision);
}

async function filesOnDisk(): Promise<string[]> {
  const path = join(files.directory, projectId, (await record()).id);
  return existsSync(path) ? readdirSync(path).sort() : [];
}

const whole = [
  ...['events-0001.ndjson', 'events-0002.ndjson', 'events-0003.ndjson'],
  ...['manifest.json', 'plan.json'],
];

/** The hashes that an export has when nothing goes wrong. */
async function untouched(): Promise<string[]> {
  await turn();
  const { parts } = await record();
  await states.create(exportKey(projectId, place), newRecord());
  key = exportKey(projectId, place++);
  return parts.map(({ sha256 }) => sha256);
}

describe('a process that dies', () => {
  it('at any step leaves the same files and one mail to the next', async () => {
    const wanted = await untouched();
    let steps = 0;
    for (const isDone of [false, true]) {
      for (let dieAt = 1; ; dieAt++) {
        mails.length = 0;
        deliveries.length = 0;
        const mortal = new Mortal(dieAt, isDone);
        const { deliveries: own } = partsOf();
        const dying: Partial<ExportParts> = {
          states: {
            get: states.get.bind(states),
            create: states.create.bind(states),
            update: mortal.step(states.update.bind(states)),
          },
          files: {
            make: mortal.step(files.make.bind(files)),
            write: (project, id, name, write) =>
              mortal.step(() => files.write(project, id, name, write))(),
            readText: files.readText.bind(files),
            remove: mortal.step(files.remove.bind(files)),
          },
          deliveries: { ...own, publish: mortal.step(own.publish) },
          sendMail: mortal.step(async (_, mail) => {
            mails.push(mail);
            return outcome;
          }),
        };
        const ended = await Promise.race([
          turn(dying).then(() => 'lived'),
          mortal.died.then(() => 'died'),
        ]);
        if (ended === 'lived') break;
        steps = Math.max(steps, dieAt);
        nowMs += leaseMs + 1;
        await turn();
        const { state, parts, isTold } = await record();
        expect([dieAt, state, isTold]).toEqual([dieAt, 'ready', true]);
        expect(parts.map(({ sha256 }) => sha256)).toEqual(wanted);
        expect(await filesOnDisk()).toEqual(whole);
        // Where it died between the taking of the mail and the write, it is the same mail again.
        expect(new Set(mails.map(({ messageId }) => messageId)).size).toBe(1);
        expect(mails.length).toBeLessThanOrEqual(2);
        // The stream keeps one of a name.
        expect(new Set(deliveries.map(({ messageId }) => messageId)).size).toBe(1);
        await change(newRecord());
      }
    }
    expect(steps).toBeGreaterThan(10);
  });

  it('in the middle of a file leaves nothing that looks whole', async () => {
    const broken: RowReader & ResultReader = {
      select: clickhouse.select.bind(clickhouse),
      async *stream() {
        yield Buffer.from('{}\n');
        throw Object.assign(new Error('gone'), { code: 'ECONNRESET' });
      },
    };
    await turn({ group: () => broken });
    expect(await filesOnDisk()).toEqual(['plan.json']);
    expect(await record()).toMatchObject({ state: 'running', parts: [], tries: 1 });
    nowMs += dayMs / 2;
    await turn();
    expect(await record()).toMatchObject({ state: 'ready', tries: 0, reason: '' });
  });
});

describe('an export that nobody can finish', () => {
  it('is left alone while another process has its lease', async () => {
    await change({ leaseEndMs: nowMs + 30_000 });
    expect(await turn()).toBe(nowMs + 30_000);
    expect(await record()).toMatchObject({ state: 'pending' });
  });

  it('is given up after a day, also by a process without its files', async () => {
    await change({ directoryId: 'elsewhere' });
    await turn();
    expect(await record()).toMatchObject({ state: 'pending' });
    nowMs += dayMs;
    await turn();
    expect(await record()).toMatchObject({
      ...{ state: 'failed', reason: 'nothing of it could be written for a day' },
    });
  });

  it('is not given up while its files are being written, however long that takes', async () => {
    await change({ directoryId: 'elsewhere', state: 'running', partCount: 2 });
    nowMs += dayMs;
    await change({ progressMs: nowMs - 1 });
    await turn();
    expect(await record()).toMatchObject({ state: 'running' });
  });

  it('fails where its files are gone', async () => {
    await change({ partCount: 3, state: 'running' });
    await turn();
    expect(await record()).toMatchObject({ state: 'failed', reason: 'its files are gone' });
  });
});

describe('the disk', () => {
  const room = partsOf().room;

  it('keeps its reserve: the export fails with the reason, and its files are gone', async () => {
    let looks = 0;
    const freeBytes = async () => (looks++ < 2 ? 100 : 1);
    await turn({ room: { ...room, freeBytes, reserveBytes: 10 } });
    const reason = 'the disk has no room beside its reserve (MILLRACE_DISK_RESERVE_MIB)';
    expect(await record()).toMatchObject({ state: 'failed', reason, hasFiles: false, parts: [] });
    expect(await filesOnDisk()).toEqual([]);
  });

  it('has a bound for each project', async () => {
    await turn({ room: { ...room, keptBytes: () => 1_000_001 } });
    expect(await record()).toMatchObject({
      ...{
        state: 'failed',
        reason: expect.stringContaining("the project's exports take more than"),
      },
    });
  });
});

describe('the end of an export', () => {
  it('comes after seven days: its files are deleted', async () => {
    await turn();
    expect(await filesOnDisk()).toEqual(whole);
    nowMs += 7 * dayMs - 1;
    await turn();
    expect(await record()).toMatchObject({ state: 'ready' });
    nowMs += 1;
    await turn();
    expect(await record()).toMatchObject({ state: 'expired', hasFiles: false, parts: [] });
    expect(await filesOnDisk()).toEqual([]);
  });

  it('by a person stops a statement under way, and its files are deleted', async () => {
    let signal: AbortSignal | undefined;
    let begun = (): void => {};
    const begins = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const slow: RowReader & ResultReader = {
      select: clickhouse.select.bind(clickhouse),
      async *stream(select) {
        signal = select.signal;
        begun();
        await new Promise((_, reject) => {
          select.signal.addEventListener('abort', () => reject(select.signal.reason));
        });
      },
    };
    let known: ExportRecord | undefined;
    const turned = turn({ group: () => slow, known: () => known });
    await begins;
    const bucket = {
      ...{ get: () => undefined, ask: states.get.bind(states) },
      ...{ create: states.create.bind(states), update: states.update.bind(states) },
    };
    const { room } = partsOf();
    const clock = { nowMs: () => nowMs };
    const find = createFindExport(bucket, clock);
    const rpc = createExportsRpc({
      ...{ bucket, find, directoryId: 'own', room, clock, log },
      readSegments: partsOf().readSegments,
      // As a disk refuses while the statement still writes: no error of the caller's, a turn comes back to it.
      removeFiles: () => Promise.reject(new Error('ENOTEMPTY: directory not empty')),
    });
    const { id } = await record();
    const caller = {
      projectId,
      keyId: 'key',
      organizationId: 'org',
      credential: 'private',
    } as const;
    await rpc.cancel(create(CancelRequestSchema, { id }), caller);
    known = await record();
    await turned;
    expect(signal?.aborted).toBe(true);
    expect(await record()).toMatchObject({ state: 'cancelled', leaseEndMs: 0, hasFiles: true });
    await turn();
    expect(await record()).toMatchObject({ state: 'cancelled', hasFiles: false });
    expect(await filesOnDisk()).toEqual([]);
  });
});

describe('the asker', () => {
  it('is told again where the mail server is away, and no more once it was told', async () => {
    outcome = { kind: 'unavailable', reason: 'away' };
    await turn();
    expect(await record()).toMatchObject({ state: 'ready', isTold: false });
    outcome = { kind: 'sent' };
    nowMs += 60_000;
    await turn();
    nowMs += 60_000;
    await turn();
    expect(mails).toHaveLength(2);
    expect(mails[1]).toMatchObject({
      ...{ to: 'ada@a.example', subject: 'Your export of Shop is ready' },
      text: expect.stringContaining(`https://app.example.com/p/${projectId}/exports`),
    });
  });

  it('is nobody where a key has asked, or the member may not see the project', async () => {
    await turn({ members: () => [] });
    expect(await record()).toMatchObject({ state: 'ready', isTold: true });
    expect(mails).toEqual([]);
  });
});

describe('webhooks', () => {
  it('that subscribe to the project are told what is ready', async () => {
    await turn();
    const { id, parts, expireMs, areQueued } = await record();
    expect(areQueued).toBe(true);
    expect(deliveries).toHaveLength(1);
    expect(deliveries[0]).toMatchObject({ subject: expect.stringContaining('hook') });
    expect(deliveries[0]?.payload).toMatchObject({
      ...{ webhookId: 'hook', organizationId: 'org', projectId, eventType: 'export_ready' },
      data: {
        ...{ eventId: id, exportId: id, what: 'events', format: 'ndjson', rows: 30 },
        files: parts.map(({ name }) => name),
        completeUntil: new Date(nowMs).toISOString(),
        expireTime: new Date(expireMs).toISOString(),
      },
    });
  });

  it('are told later where the broker does not answer, and mails go on then', async () => {
    const { deliveries: own } = partsOf();
    const silent = { ...own, publish: async () => ({ kind: 'full' }) as const };
    await turn({ deliveries: silent });
    expect(await record()).toMatchObject({ state: 'ready', isTold: false, tries: 1 });
    expect(mails).toEqual([]);
    nowMs += 60_000;
    await turn();
    expect(await record()).toMatchObject({ isTold: true, areQueued: true, tries: 0 });
    expect([deliveries.length, mails.length]).toEqual([1, 1]);
  });

  it('of other projects, and those that are inactive, are told nothing', async () => {
    const { deliveries: own } = partsOf();
    const [subscription] = webhook.subscriptions;
    if (subscription?.subjectType !== 'PROJECT') return expect.fail('no subscription');
    const others: WebhookRecord[] = [
      { ...webhook, status: 'INACTIVE' },
      { ...webhook, subscriptions: [{ ...subscription, subjectId: 'prj_other' }] },
      { ...webhook, subscriptions: [{ ...subscription, eventType: 'alert' }] },
    ];
    await turn({ deliveries: { ...own, webhooks: { webhooksOf: () => others } } });
    expect(await record()).toMatchObject({ isTold: true });
    expect(deliveries).toEqual([]);
  });
});
