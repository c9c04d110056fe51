// Mails about webhooks, with a real broker and a real mail server: who gets which, when, and nobody one twice.

import { randomUUID } from 'node:crypto';
import { BlockList } from 'node:net';
import { afterEach, beforeAll, beforeEach, expect, it, onTestFinished } from 'vitest';
import { buckets } from '../../platform/broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import { openBucket } from '../../platform/broker/record-bucket.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { type WatchedBucket, watchBucket } from '../../platform/broker/watched-bucket.ts';
import { createLog } from '../../platform/log.ts';
import type { Mail } from '../../platform/mail/mail.ts';
import { createSendMail } from '../../platform/mail/send.ts';
import type { WebhookStatus } from '../../platform/webhooks/webhook-record.ts';
import { startMailServer, type TestMailServer } from '../../test/harness/servers/mail-server.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { attemptRecord } from '../../test/harness/webhooks/attempts.ts';
import { type NoticeRecord, noNotices, readNoticeRecord } from './notice-record.ts';
import { createNotices, type Notices, type NoticesOptions } from './notices.ts';

const broker = useBroker();
const log = createLog('silent');
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
/** From a delivery's acceptance to its last attempt, where the endpoint asks to wait. */
const ladderMs = 60 * hourMs;
const startMs = Date.parse('2026-03-01T12:00:00Z');

let connection: NatsConnection;
let bucket: WatchedBucket<NoticeRecord>;
let mailServer: TestMailServer;
let nowMs = startMs;
let organizationId = '';
let webhooks: Map<string, { name: string; status: WebhookStatus; activeTime: string }>;
let admins: { customerId: string; email: string }[];
/** Called before each mail is taken. */
let onMail: () => Promise<void> | void;

beforeAll(async () => {
  connection = await connectBroker(broker.url, log);
  await ensureTopology(connection, { eventsMaxBytes: 256 * 1_048_576, shards: 1 });
  const opened = await openBucket(connection, buckets.webhookNotices, readNoticeRecord);
  bucket = await watchBucket(connection, opened, { log });
  mailServer = await startMailServer({ hideSTARTTLS: true, onMessage: () => onMail() });
  return async () => {
    await mailServer.close();
    await bucket.close();
    await connection.close();
  };
});

beforeEach(() => {
  nowMs = startMs;
  organizationId = randomUUID();
  const activeTime = '2026-01-01T00:00:00Z';
  webhooks = new Map([
    ['wh1', { name: 'Orders', status: 'ACTIVE', activeTime }],
    ['wh2', { name: 'Chat', status: 'ACTIVE', activeTime }],
  ]);
  admins = [{ customerId: 'ada', email: 'ada@example.com' }];
  onMail = () => {};
  mailServer.received.length = 0;
});

const started: Notices[] = [];
afterEach(async () => {
  for (const notices of started.splice(0)) await notices.stop();
});

function start(changes: Partial<NoticesOptions> = {}): Notices {
  const sendMail = createSendMail({
    ...{ clock: { nowMs: () => nowMs }, log, allowedNetworks: new BlockList() },
  });
  const transport = {
    kind: 'smtp',
    host: '127.0.0.1',
    port: mailServer.port,
    tls: 'opportunistic',
  } as const;
  const notices = createNotices({
    bucket,
    organization: () => ({ displayName: 'Shop', admins }),
    webhook: (_, id) => webhooks.get(id),
    send: (_, mail) => sendMail({ transport, fromAddress: 'a@example.com' }, 'instance', mail),
    publicUrl: () => 'https://app.example.com',
    clock: { nowMs: () => nowMs },
    log,
    writeEveryMs: 50,
    ...changes,
  });
  started.push(notices);
  return notices;
}

/** A delivery that failed for good; resolves once the mails that it brings are out. */
async function fail(notices: Notices, webhookId: string, responseCode = 500): Promise<void> {
  const record = attemptRecord({
    deliveryId: `of-${webhookId}`,
    responseCode,
    error: 'http_status',
    acceptTimeMs: nowMs - ladderMs,
  });
  await notices.exhausted({ organizationId, webhookId, record });
  await pass(notices, 0);
}

async function pass(notices: Notices, ms: number): Promise<void> {
  nowMs += ms;
  await notices.sweep();
  // What a fact set off may have taken the mail before the sweep.
  await expect.poll(isSending).toBe(false);
}

async function isSending(): Promise<boolean> {
  const found = await bucket.ask(organizationId);
  return found.kind === 'found' && (found.record.sending?.leaseEndMs ?? 0) > nowMs;
}

const subjects = (): string[] =>
  mailServer.received
    .map(({ text }) => /^Subject: (.*(?:\r\n .*)*)/m.exec(text)?.[1] ?? '')
    .map(unfolded);
const unfolded = (text: string): string => text.replaceAll('\r\n ', ' ');
const mails = (count: number) => expect.poll(() => mailServer.received).toHaveLength(count);

it('the first failure is told at once, the further ones an hour later in one mail', async () => {
  const notices = start();
  await fail(notices, 'wh1', 503);
  await mails(1);
  const [first] = mailServer.received;
  expect(first).toMatchObject({ to: ['ada@example.com'] });
  for (const words of [
    'Webhook Orders: a delivery failed for good',
    'status 503',
    'Event type: message_sent',
    'Delivery: of-wh1',
    'GET https://app.example.com/v1/organizations/',
    '/webhooks/wh1/logs?status=EXHAUSTED',
    '/webhooks/wh1/recover with {"from":"2026-02-27T00:00:00.000Z","to":"2026-03-01T12:00:00.000Z"}',
  ]) {
    expect(first?.text).toContain(words);
  }
  for (let count = 0; count < 3; count++) await fail(notices, 'wh1');
  await pass(notices, 30 * minuteMs);
  // Another webhook's first failure does not wait.
  await fail(notices, 'wh2');
  await fail(notices, 'wh2');
  await mails(2);
  await pass(notices, 30 * minuteMs);
  await mails(3);
  await pass(notices, hourMs);
  expect(subjects()).toEqual([
    'Webhook Orders: a delivery failed for good',
    'Webhook Chat: a delivery failed for good',
    'Webhooks of Shop: 4 more deliveries failed for good',
  ]);
  expect(mailServer.received[2]?.text).toContain(
    'Orders (wh1): 3, the last at 2026-03-01 12:00 UTC',
  );
  expect(mailServer.received[2]?.text).toContain('Chat (wh2): 1');
  expect(mailServer.received[2]?.text).toContain(
    '/wh1/recover with {"from":"2026-02-27T00:00:00.000Z"',
  );
});

it('every admin gets it once, also where the server is away in between', async () => {
  admins = ['ada', 'bob', 'eve'].map((name) => ({
    customerId: name,
    email: `${name}@example.com`,
  }));
  let count = 0;
  onMail = () => {
    if (++count === 2) throw Object.assign(new Error('try later'), { responseCode: 451 });
  };
  const notices = start();
  await fail(notices, 'wh1');
  await mails(1);
  await pass(notices, minuteMs - 1);
  await mails(1);
  await pass(notices, 1);
  await mails(3);
  await pass(notices, 2 * hourMs);
  expect(mailServer.received.flatMap(({ to }) => to)).toEqual(admins.map(({ email }) => email));
});

it('nobody waits for the clock on the wall to come back to where it was', async () => {
  let isAway = true;
  onMail = () => {
    if (isAway) throw Object.assign(new Error('try later'), { responseCode: 451 });
  };
  const notices = start();
  await fail(notices, 'wh1');
  isAway = false;
  await pass(notices, -hourMs);
  await mails(1);
  await fail(notices, 'wh1');
  await pass(notices, -2 * hourMs);
  await mails(2);
});

it('a mail that was left half sent, and told of what is stale, keeps nobody from the next one', async () => {
  admins = ['ada', 'bob'].map((name) => ({ customerId: name, email: `${name}@example.com` }));
  let count = 0;
  onMail = () => {
    if (++count === 2) throw Object.assign(new Error('try later'), { responseCode: 451 });
  };
  const notices = start();
  await fail(notices, 'wh1');
  await mails(1);
  const webhook = webhooks.get('wh1');
  if (webhook === undefined) throw new Error('no webhook');
  webhooks.set('wh1', { ...webhook, status: 'PAUSED' });
  await pass(notices, 2 * minuteMs);
  webhooks.set('wh1', { ...webhook, activeTime: new Date(nowMs).toISOString() });
  await pass(notices, hourMs);
  await fail(notices, 'wh1');
  await mails(3);
  expect(mailServer.received.flatMap(({ to }) => to)).toEqual([
    'ada@example.com',
    ...admins.map(({ email }) => email),
  ]);
});

it('a mail that no server takes is given up, and the next failures are told', async () => {
  const reached: Mail[] = [];
  const away = start({
    send: (_, mail) => {
      reached.push(mail);
      return Promise.resolve({ kind: 'unavailable', reason: 'away' });
    },
  });
  await fail(away, 'wh1');
  for (let hours = 0; hours < 24; hours++) await pass(away, hourMs);
  expect(reached).toHaveLength(10);
  const notices = start();
  await fail(notices, 'wh1');
  await mails(1);
});

it('several processes and a restart tell nobody twice', async () => {
  const several = [start(), start(), start()];
  await Promise.all(several.map((notices) => fail(notices, 'wh1')));
  await Promise.all(several.map((notices) => notices.sweep()));
  await mails(1);
  for (const notices of several) await notices.stop();
  await start().sweep();
  const next = start();
  await pass(next, hourMs);
  await next.sweep();
  const told = mailServer.received.length;
  // The three failures may have come before the first mail or after it.
  expect(told === 1 || subjects()[1]?.includes('more deliver')).toBe(true);
  expect(told).toBeLessThan(3);
});

it('a process that dies in the middle of sending loses no mail', async () => {
  let [reached, die] = [() => {}, () => {}];
  const sending = new Promise<void>((resolve) => {
    reached = resolve;
  });
  const dying = start({
    send: () => {
      reached();
      return new Promise((_, reject) => {
        die = () => reject(new Error('killed'));
      });
    },
  });
  const record = attemptRecord({ responseCode: 500 });
  void dying.exhausted({ organizationId, webhookId: 'wh1', record });
  await sending;
  const notices = start();
  await notices.sweep();
  // The other process may be alive.
  expect(mailServer.received).toHaveLength(0);
  await pass(notices, 3 * minuteMs);
  await mails(1);
  die();
  expect(subjects()).toEqual(['Webhook Orders: a delivery failed for good']);
});

it.each([
  ['paused', 'PAUSED'],
  ['switched off', 'INACTIVE'],
  ['deleted', undefined],
] as const)('nobody is told of a webhook that was %s meanwhile', async (_, status) => {
  const notices = start();
  await fail(notices, 'wh1');
  await mails(1);
  await fail(notices, 'wh1');
  const webhook = webhooks.get('wh1');
  if (status === undefined || webhook === undefined) webhooks.delete('wh1');
  else webhooks.set('wh1', { ...webhook, status });
  await pass(notices, hourMs);
  if (webhook !== undefined && status !== undefined) {
    // Resumed, it begins anew: what failed before is the past.
    const activeTime = new Date(nowMs + 1).toISOString();
    webhooks.set('wh1', { ...webhook, activeTime });
    await pass(notices, minuteMs);
    expect(mailServer.received).toHaveLength(1);
    await fail(notices, 'wh1');
    await mails(2);
    expect(subjects()[1]).toBe('Webhook Orders: a delivery failed for good');
  }
  expect(mailServer.received.length).toBeLessThan(3);
});

it('what failed before a webhook was resumed is not told, also where nobody saw the pause', async () => {
  const notices = start();
  await fail(notices, 'wh1');
  await mails(1);
  await fail(notices, 'wh1');
  const activeTime = new Date(nowMs + 1).toISOString();
  webhooks.set('wh1', { name: 'Orders', status: 'ACTIVE', activeTime });
  await pass(notices, hourMs);
  expect(mailServer.received).toHaveLength(1);
});

it('a pause is told once, whoever sees it, and again after the next one', async () => {
  const [notices, other] = [start(), start()];
  const paused = { organizationId, webhook: { id: 'wh1' }, reason: 'FAILURES_IN_A_ROW' } as const;
  // The notice may come before the record says so.
  await notices.pausing(paused);
  await notices.sweep();
  expect(mailServer.received).toHaveLength(0);
  const webhook = { name: 'Orders', status: 'PAUSED', activeTime: '2026-01-01T00:00:00Z' } as const;
  webhooks.set('wh1', webhook);
  await other.pausing(paused);
  notices.paused({ organizationId });
  await mails(1);
  await pass(notices, 0);
  await mails(1);
  await other.pausing(paused);
  await pass(other, hourMs);
  await mails(1);
  const [text] = mailServer.received.map((mail) => mail.text);
  expect(text).toContain('Subject: Webhook Orders is paused');
  expect(text).toContain('100 deliveries in a row have failed');
  expect(text).toContain('with {"content":{"status":"WEBHOOK_STATUS_ACTIVE"}}');
  // What the pause caught between two attempts began to fail before it.
  expect(text).toContain('/wh1/recover with {"from":"2026-02-23T12:00:00.000Z","to":"<now>"');
  webhooks.set('wh1', { ...webhook, activeTime: new Date(nowMs).toISOString() });
  nowMs += minuteMs;
  await other.pausing({ ...paused, reason: 'GONE' });
  await other.sweep();
  await mails(2);
  expect(mailServer.received[1]?.text).toContain('answered 410');
});

it('many failures at once are one record and one mail, and what was told is forgotten', async () => {
  const notices = start();
  const record = attemptRecord({ responseCode: 0, error: 'timeout' });
  const facts = Array.from({ length: 500 }, () =>
    notices.exhausted({ organizationId, webhookId: 'wh1', record }),
  );
  await Promise.all(facts);
  await pass(notices, 0);
  await mails(1);
  expect(mailServer.received[0]?.text).toContain('no answer in time');
  await pass(notices, hourMs);
  await mails(2);
  expect(subjects()[1]).toContain('499 more deliveries');
  await pass(notices, 24 * hourMs);
  expect(await bucket.ask(organizationId)).toMatchObject({ record: noNotices });
});

it('names that people typed give nothing to click', async () => {
  webhooks.set('wh1', {
    ...{ name: 'Win at evil.example\r\nBcc: x@y.z', status: 'ACTIVE' },
    activeTime: '2026-01-01T00:00:00Z',
  });
  await fail(start(), 'wh1');
  await mails(1);
  expect(mailServer.received[0]?.text).not.toMatch(/evil\.example|^Bcc:/m);
  onTestFinished(() => webhooks.clear());
});
