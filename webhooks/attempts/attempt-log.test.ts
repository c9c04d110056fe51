// The log as it is read, with a real engine: pages, filters, tokens, and deliveries for sending them again.

import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { beforeAll, describe, expect, it } from 'vitest';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import { dayMs } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import type { AttemptRecord, AttemptStatus } from '../../platform/webhooks/attempt-record.ts';
import { useEngine } from '../../test/harness/servers/use-servers.ts';
import { attemptRecord } from '../../test/harness/webhooks/attempts.ts';
import { type AttemptLog, createAttemptLog } from './attempt-log.ts';
import { insertAttempts } from './insert-attempts.ts';
import type { AttemptQuery } from './read-attempts.ts';

const engine = useEngine();
const log = createLog('silent');
const nowMs = Date.now();
const clock = { nowMs: () => nowMs };
let clickhouse: DatabaseClient;
let attempts: AttemptLog;

beforeAll(() => {
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 2 });
  attempts = createAttemptLog({ clickhouse, clock, log });
  return () => clickhouse.close();
});

const insert = async (...records: AttemptRecord[]): Promise<void> => {
  expect(await insertAttempts(clickhouse, records)).toEqual([]);
};

const ask = (webhookId: string, fields: Partial<AttemptQuery> = {}): AttemptQuery => {
  return { organizationId: 'org', webhookId, pageSize: 100, pageToken: '', ...fields };
};

const page = async (query: AttemptQuery) => {
  const answer = await attempts.readAttempts(query);
  if (answer.kind !== 'read') throw new Error(answer.kind);
  return answer;
};

/** The ids of all pages, and how many pages there were. */
async function allPages(query: AttemptQuery): Promise<{ ids: string[]; pages: number }> {
  const ids: string[] = [];
  for (let [pages, pageToken] = [1, '']; ; pages++) {
    const answer = await page({ ...query, pageToken });
    ids.push(...answer.attempts.map(({ attemptId }) => attemptId));
    pageToken = answer.nextPageToken;
    if (pageToken === '') return { ids, pages };
  }
}

describe('pages of attempts', () => {
  it('are newest first, over days and equal times, and hold each attempt once', async () => {
    const webhookId = randomUUID();
    const agoMs = [0, 0, 0, 5, 1_000, dayMs, dayMs + 1, 5 * dayMs, 12 * dayMs, 29 * dayMs];
    const records = agoMs.map((ms, index) =>
      attemptRecord({ webhookId, attemptTimeMs: nowMs - ms, attemptId: `a${9 - index}` }),
    );
    await insert(...records);
    // In a batch of its own, so that both rows are there.
    await insert(...records.slice(1, 8));
    await insert(attemptRecord({ webhookId, organizationId: 'other' }));
    const expected = ['a9', 'a8', 'a7', 'a6', 'a5', 'a4', 'a3', 'a2', 'a1', 'a0'];
    for (const pageSize of [1, 2, 3, 9, 10, 1_000]) {
      const pages = Math.ceil(10 / pageSize);
      expect(await allPages(ask(webhookId, { pageSize }))).toEqual({ ids: expected, pages });
    }
  });

  it('that the last day fills take one statement', async () => {
    const webhookId = randomUUID();
    const ago = (ms: number) => attemptRecord({ webhookId, attemptTimeMs: nowMs - ms });
    await insert(ago(0), ago(dayMs / 2), ago(20 * dayMs));
    let statements = 0;
    const counted: RowReader = {
      select(...select) {
        statements++;
        return clickhouse.select(...select);
      },
    };
    const counting = createAttemptLog({ clickhouse: counted, clock, log });
    await counting.readAttempts(ask(webhookId, { pageSize: 1 }));
    expect(statements).toBe(1);
  });

  it('show the whole record, without the body that was sent', async () => {
    const webhookId = randomUUID();
    const record = attemptRecord({
      ...{ webhookId, attemptTimeMs: nowMs, attempt: 6, trigger: 'MANUAL', status: 'EXHAUSTED' },
      ...{ responseCode: 503, error: 'http_status', responseBody: 'out\tof\norder "é" \\' },
      ...{ nextAttemptTimeMs: 1_900_000_000_001, acceptTimeMs: 1_800_000_000_002 },
    });
    await insert(record);
    const { payload: _sent, ...listed } = record;
    expect((await page(ask(webhookId))).attempts).toEqual([listed]);
  });

  it('can be of one status, one event type, one project and a time, its end excluded', async () => {
    const webhookId = randomUUID();
    const of = (attemptId: string, fields: Partial<AttemptRecord>) =>
      attemptRecord({ webhookId, attemptId, attemptTimeMs: nowMs - 1_000, ...fields });
    await insert(
      of('failed', { status: 'EXHAUSTED' }),
      of('edited', { eventType: 'message_edited' }),
      of('both', { status: 'EXHAUSTED', eventType: 'message_edited', projectId: 'other' }),
      of('old', { status: 'EXHAUSTED', attemptTimeMs: nowMs - 5_000 }),
      of('end', { status: 'EXHAUSTED', attemptTimeMs: nowMs - 500 }),
    );
    const status = 'EXHAUSTED' as const;
    const eventType = 'message_edited';
    const time = { fromMs: nowMs - 1_000, toMs: nowMs - 500 };
    const ids = async (fields: Partial<AttemptQuery>) =>
      (await allPages(ask(webhookId, { pageSize: 2, ...fields }))).ids.sort();
    expect(await ids({ status })).toEqual(['both', 'end', 'failed', 'old']);
    expect(await ids({ eventType })).toEqual(['both', 'edited']);
    expect(await ids({ status, eventType })).toEqual(['both']);
    expect(await ids({ projectId: 'other' })).toEqual(['both']);
    expect(await ids({ projectIds: ['none', 'other'] })).toEqual(['both']);
    expect(await ids({ projectIds: ['none'], projectId: 'other' })).toEqual([]);
    const [first] = (await page(ask(webhookId, { pageSize: 1 }))).attempts;
    expect(await ids({ projectId: first?.projectId ?? '' })).toEqual([
      'edited',
      'end',
      'failed',
      'old',
    ]);
    const { nextPageToken: pageToken } = await page(ask(webhookId, { pageSize: 1 }));
    const mixed = ask(webhookId, { pageSize: 1, projectId: 'other', pageToken });
    expect(await attempts.readAttempts(mixed)).toEqual({ kind: 'bad_token' });
    expect(await ids(time)).toEqual(['both', 'edited', 'failed']);
    expect(await ids({ ...time, status })).toEqual(['both', 'failed']);
    expect(await ids({ eventType: "' OR 1 = 1 --" })).toEqual([]);
  });

  it('end earlier where their answers are long, and lose none', async () => {
    const webhookId = randomUUID();
    const responseBody = 'x'.repeat(16_384);
    const records = Array.from({ length: 1_000 }, (_, index) =>
      attemptRecord({ webhookId, responseBody, attemptTimeMs: nowMs - index }),
    );
    await insert(...records);
    const first = await page(ask(webhookId, { pageSize: 1_000 }));
    expect(first.attempts.length).toBeGreaterThan(400);
    expect(first.attempts.length).toBeLessThan(600);
    const { ids } = await allPages(ask(webhookId, { pageSize: 1_000 }));
    expect(ids).toEqual(records.map(({ attemptId }) => attemptId));
  });

  it('hold nothing older than 30 days, which the engine may still have', async () => {
    const webhookId = randomUUID();
    await clickhouse.command({ query: 'SYSTEM STOP TTL MERGES webhook_attempts' }).catch(() => {});
    await insert(attemptRecord({ webhookId, attemptTimeMs: nowMs - 30 * dayMs - 1 }));
    expect(await allPages(ask(webhookId))).toEqual({ ids: [], pages: 1 });
    expect(await allPages(ask(webhookId, { fromMs: 0 }))).toEqual({ ids: [], pages: 1 });
  });

  it('have tokens for their own query only', async () => {
    const webhookId = randomUUID();
    const records = [0, 1].map((ms) => attemptRecord({ webhookId, attemptTimeMs: nowMs - ms }));
    await insert(...records);
    const query = ask(webhookId, { pageSize: 1 });
    const { nextPageToken: pageToken } = await page(query);
    expect((await page({ ...query, pageToken, pageSize: 2 })).attempts).toHaveLength(1);
    const bad = { kind: 'bad_token' };
    for (const other of [
      { ...query, pageToken, webhookId: 'another' },
      { ...query, pageToken, organizationId: 'another' },
      { ...query, pageToken, status: 'EXHAUSTED' as const },
      { ...query, pageToken, toMs: nowMs },
      { ...query, pageToken: `${pageToken}=` },
      { ...query, pageToken: pageToken.slice(0, -2) },
      { ...query, pageToken: 'AAAA' },
      { ...query, pageToken: 'A'.repeat(100_000) },
    ]) {
      expect(await attempts.readAttempts(other)).toEqual(bad);
    }
  });
});

describe('deliveries for sending them again', () => {
  /** The records of one delivery, a second apart: statuses in order, the payload in the first. */
  function delivery(
    webhookId: string,
    deliveryId: string,
    agoMs: number,
    ...statuses: AttemptStatus[]
  ): AttemptRecord[] {
    return statuses.map((status, index) =>
      attemptRecord({
        ...{ webhookId, deliveryId, status, attempt: index + 1 },
        attemptTimeMs: nowMs - agoMs + index * 1_000,
        payload: index === 0 ? `{"of":"${deliveryId}"}` : '',
      }),
    );
  }

  it('one is found by its id, with the payload of its first record', async () => {
    const webhookId = randomUUID();
    const records = delivery(webhookId, 'one', 9_000, 'FAILED_WILL_RETRY', 'EXHAUSTED');
    const [first] = records;
    await insert(...records, ...delivery(webhookId, 'two', 9_000, 'SUCCEEDED'));
    expect(await attempts.readDelivery('org', webhookId, 'one')).toEqual({
      ...{ deliveryId: 'one', projectId: 'prj', eventId: first?.eventId },
      ...{ eventType: 'message_sent', firstTimeMs: nowMs - 9_000, payload: '{"of":"one"}' },
    });
    expect(await attempts.readDelivery('org', webhookId, 'three')).toBeUndefined();
    expect(await attempts.readDelivery('other', webhookId, 'one')).toBeUndefined();
    expect(await attempts.readDelivery('org', randomUUID(), 'one')).toBeUndefined();
  });

  it('one whose payload was too large is found without it', async () => {
    const webhookId = randomUUID();
    const skipped = { status: 'SKIPPED', error: 'payload_too_large', payload: '' } as const;
    await insert(attemptRecord({ webhookId, deliveryId: 'large', ...skipped }));
    expect(await attempts.readDelivery('org', webhookId, 'large')).toMatchObject({ payload: '' });
  });

  it('those of a time are chosen by their newest record, wherever it is', async () => {
    const webhookId = randomUUID();
    const retried = 'FAILED_WILL_RETRY';
    await insert(
      ...delivery(webhookId, 'before', 61_000, retried, retried, 'EXHAUSTED'),
      ...delivery(webhookId, 'b', 60_000, retried, 'EXHAUSTED'),
      ...delivery(webhookId, 'a', 60_000, 'SKIPPED'),
      ...delivery(webhookId, 'recovered', 50_000, 'EXHAUSTED', 'SUCCEEDED'),
      ...delivery(webhookId, 'well', 50_000, 'SUCCEEDED'),
      ...delivery(webhookId, 'failed again', 40_000, 'SUCCEEDED', 'EXHAUSTED'),
      ...delivery(webhookId, 'waits', 40_000, retried),
      ...delivery(webhookId, 'end', 10_000, 'EXHAUSTED'),
    );
    // What a crash brings twice.
    await insert(...delivery(webhookId, 'b', 60_000, retried));
    const range = { fromMs: nowMs - 60_000, toMs: nowMs - 10_000 };
    const ids = async (...statuses: AttemptStatus[]) =>
      (await attempts.readDeliveries('org', webhookId, { ...range, statuses }, 100)).map(
        ({ deliveryId, payload }) => (payload.includes(deliveryId) ? deliveryId : payload),
      );
    expect(await ids('EXHAUSTED', 'SKIPPED')).toEqual(['a', 'b', 'failed again']);
    expect(await ids('EXHAUSTED')).toEqual(['b', 'failed again']);
    expect(await ids('SUCCEEDED')).toEqual(['recovered', 'well']);
    expect(await ids('FAILED_WILL_RETRY')).toEqual(['waits']);
    expect(await ids()).toEqual([]);
  });

  it('come in pages, also where payloads are long and times are equal', async () => {
    const webhookId = randomUUID();
    const payload = JSON.stringify({ text: '"'.repeat(130_000) });
    const records = Array.from({ length: 60 }, (_, index) =>
      attemptRecord({
        ...{ webhookId, payload, status: 'EXHAUSTED', deliveryId: `d${100 + index}` },
        attemptTimeMs: nowMs - 60_000 + Math.floor(index / 10),
      }),
    );
    await insert(...records);
    const found: string[] = [];
    let pages = 0;
    for (let after: { firstTimeMs: number; deliveryId: string } | undefined; ; pages++) {
      const range = { fromMs: 0, toMs: nowMs, statuses: ['EXHAUSTED'] as const };
      const selection = { ...range, ...(after && { after }) };
      const some = await attempts.readDeliveries('org', webhookId, selection, 25);
      after = some.at(-1);
      if (after === undefined) break;
      expect(some.every((one) => one.payload === payload)).toBe(true);
      found.push(...some.map(({ deliveryId }) => deliveryId));
    }
    expect(found).toEqual(records.map(({ deliveryId }) => deliveryId));
    expect(pages).toBeGreaterThan(5);
  });
});

describe('a log that cannot be read', () => {
  it('says that it is not there, and names no cause', async () => {
    const away: RowReader = { select: () => Promise.reject(new Error('connect to secret:8123')) };
    const broken = createAttemptLog({ clickhouse: away, clock, log });
    await expect(broken.readAttempts(ask('wh'))).rejects.toMatchObject({
      code: Code.Unavailable,
      rawMessage: 'the webhook log cannot be read now, try again',
    });
  });

  it('reads two at once, one of each owner of organizations, and refuses more than wait', async () => {
    let [running, most] = [0, 0];
    const finish: (() => void)[] = [];
    const begun: unknown[] = [];
    const slow: RowReader = {
      async select({ params }) {
        begun.push(params?.['organizationId']);
        most = Math.max(most, ++running);
        await new Promise<void>((resolve) => finish.push(resolve));
        running--;
      },
    };
    const ownerOf = (organizationId: string): string => organizationId.replace(/ .*/, '');
    const crowded = createAttemptLog({ clickhouse: slow, clock, log, ownerOf });
    const reads = Array.from({ length: 18 }, (_, n) => crowded.readDelivery(`org ${n}`, 'wh', 'd'));
    await expect(reads[17]).rejects.toMatchObject({ code: Code.ResourceExhausted });
    const other = crowded.readDelivery('other', 'wh', 'd');
    const rest = Promise.all([...reads.slice(0, 17), other]);
    while (finish.length > 0) {
      finish.shift()?.();
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(await rest).toHaveLength(18);
    expect(most).toBe(2);
    // It does not wait for the sixteen others.
    expect(begun.indexOf('other')).toBe(1);
  });
});
