// Turns at an alert with a real broker and a real mail server: what is told, when, and that a change of state is told
// once whatever step the process dies at.

import { randomUUID } from 'node:crypto';
import { BlockList } from 'node:net';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import {
  type AlertStateRecord,
  alertStateKey,
  readAlertState,
} from '../../platform/alerts/alert-state.ts';
import { buckets } from '../../platform/broker/buckets.ts';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import { openBucket, type RecordBucket } from '../../platform/broker/record-bucket.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { createLog } from '../../platform/log.ts';
import { createSendMail } from '../../platform/mail/send.ts';
import { type Delivery, decodeDelivery } from '../../platform/webhooks/delivery.ts';
import { publishMessage } from '../../platform/webhooks/publish-message.ts';
import type { WebhookRecord } from '../../platform/webhooks/webhook-record.ts';
import { dueStream } from '../../platform/webhooks/webhook-streams.ts';
import {
  type Alert,
  AlertConditionKind,
  AlertConditionSchema,
  AlertInterval,
  AlertSchema,
} from '../../proto/gen/dashboard/alerts/v1/alerts_pb.js';
import {
  AggregationType,
  InsightType,
  QueryResponseSchema,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { startMailServer, type TestMailServer } from '../../test/harness/servers/mail-server.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { Mortal } from '../../test/harness/turns/mortal.ts';
import type { OwnedAlert } from '../owned-alerts.ts';
import { createQueueAlert } from '../telling/queue-alert.ts';
import { type TurnParts, takeTurn } from './take-turn.ts';

const broker = useBroker();
const log = createLog('silent');
const minuteMs = 60_000;
const hourMs = 60 * minuteMs;
const startMs = Date.parse('2026-03-01T12:30:00Z');

let connection: NatsConnection;
let states: RecordBucket<AlertStateRecord>;
let mailServer: TestMailServer;
/** Called before each mail is taken. */
let onMail: () => Promise<void> | void;
let nowMs = startMs;
/** What the question answers, and until when the answer is complete; undefined fails. */
let values: number[] | undefined;
let failure: Error;
let completeUntilMs: number;
let webhookId = '';
let owned: OwnedAlert;

beforeAll(async () => {
  connection = await connectBroker(broker.url, log);
  await ensureTopology(connection, { eventsMaxBytes: 16 * 1_048_576, shards: 1 });
  states = await openBucket(connection, buckets.alertStates, readAlertState);
  mailServer = await startMailServer({ hideSTARTTLS: true, onMessage: () => onMail() });
  return async () => {
    await mailServer.close();
    await connection.close();
  };
});

beforeEach(() => {
  nowMs = startMs;
  values = [5];
  failure = new Error('Code: 60. DB::Exception: SELECT secret');
  completeUntilMs = Number.POSITIVE_INFINITY;
  webhookId = randomUUID();
  onMail = () => {};
  mailServer.received.length = 0;
  owned = { projectId: randomUUID(), organizationId: 'org', place: 3, alert: newAlert() };
});

function newAlert(): Alert {
  const events = [{ event: { kind: 'sign_up' }, aggregation: AggregationType.TOTAL }];
  return create(AlertSchema, {
    id: randomUUID(),
    displayName: 'Few sign-ups',
    spec: { insightType: InsightType.TRENDS, events },
    condition: create(AlertConditionSchema, { kind: AlertConditionKind.BELOW, threshold: 10 }),
    interval: AlertInterval.HOUR,
    recipientIds: ['ada', 'bob'],
    updateTime: timestampFromMs(startMs - 2 * hourMs),
  });
}

const subscribed = (): WebhookRecord => {
  const time = new Date(startMs).toISOString();
  return {
    ...{ id: webhookId, name: 'CRM', description: '', endpointUrl: 'https://crm.test/' },
    status: 'ACTIVE',
    subscriptions: [{ subjectType: 'PROJECT', subjectId: owned.projectId, eventType: 'alert' }],
    ...{ sealedSecret: '', createTime: time, updateTime: time, activeTime: time },
  };
};

function partsOf(changes: Partial<TurnParts> = {}): TurnParts {
  const sendMail = createSendMail({
    ...{ clock: { nowMs: () => nowMs }, log, allowedNetworks: new BlockList() },
  });
  const { port } = mailServer;
  const transport = { kind: 'smtp', host: '127.0.0.1', port, tls: 'opportunistic' } as const;
  const publish = (...sent: [string, Uint8Array, string]) => publishMessage(connection, ...sent);
  return {
    states,
    ask: async () => {
      if (values === undefined) throw failure;
      const series = values.map((value, eventIndex) => ({ value, eventIndex }));
      return create(QueryResponseSchema, {
        result: { case: 'segmentation', value: { series } },
        ...(completeUntilMs > 0 && {
          completeUntil: timestampFromMs(Math.min(completeUntilMs, nowMs)),
        }),
      });
    },
    recipients: (_, ids) => ids.map((id) => ({ customerId: id, email: `${id}@example.com` })),
    sendMail: (_, mail) => sendMail({ transport, fromAddress: 'a@example.com' }, 'instance', mail),
    queueAlert: createQueueAlert({ webhooks: { webhooksOf: () => [subscribed()] }, publish }),
    projectName: () => 'Shop',
    timezoneOf: () => 'UTC',
    publicUrl: () => 'https://app.example.com',
    upSinceMs: startMs - 2 * hourMs,
    clock: { nowMs: () => nowMs },
    log,
    ...changes,
  };
}

async function stateNow(): Promise<AlertStateRecord> {
  const found = await states.get(alertStateKey(owned.projectId, owned.place));
  if (found.kind !== 'found') throw new Error(found.kind);
  return found.record;
}

/** What waits for the webhook, each delivery as often as it is queued. */
async function deliveries(): Promise<Delivery[]> {
  const { streams } = await connection.jetstreamManager();
  const { state } = await streams.info(dueStream);
  const found: Delivery[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq += 1) {
    const { data } = await streams.getMessage(dueStream, { seq });
    const delivery = decodeDelivery(data);
    if (delivery?.webhookId === webhookId) found.push(delivery);
  }
  return found;
}

const messageIds = () =>
  mailServer.received.map(({ text }) => /^Message-ID:\s+(<[^>]+>)/im.exec(text)?.[1]);

describe('a turn', () => {
  it('tells a change of state once, to each recipient and webhook', async () => {
    const parts = partsOf();
    expect(await takeTurn(parts, owned)).toBe(Date.parse('2026-03-01T13:00:00Z'));
    const { state, sinceMs, looks, changes, leaseEndMs } = await stateNow();
    const look = { fromMs: startMs - 90 * minuteMs, toMs: startMs - 30 * minuteMs, value: 5 };
    expect({ state, sinceMs, looks, leaseEndMs }).toEqual({
      ...{ state: 'FIRING', sinceMs: startMs, looks: [look], leaseEndMs: 0 },
    });
    const [change] = changes;
    expect(change).toMatchObject({ before: 'OK', telling: { isDone: true, mailedTo: [] } });
    expect(mailServer.received.map(({ to }) => to[0])).toEqual([
      'ada@example.com',
      'bob@example.com',
    ]);
    expect(messageIds()).toEqual([
      `<alert.${change?.id}.ada@example.com>`,
      `<alert.${change?.id}.bob@example.com>`,
    ]);
    const [delivery, ...others] = await deliveries();
    expect(others).toEqual([]);
    expect(JSON.parse(delivery?.payload ?? '')).toMatchObject({
      ...{ eventType: 'alert', projectId: owned.projectId, occurTime: '2026-03-01T12:30:00.000Z' },
      data: {
        ...{ eventId: change?.id, alertId: owned.alert.id, name: 'Few sign-ups' },
        ...{ state: 'ALERT_STATE_FIRING', previousState: 'ALERT_STATE_OK', value: 5 },
        ...{ condition: 'ALERT_CONDITION_KIND_BELOW', threshold: 10 },
        ...{ from: '2026-03-01T11:00:00.000Z', to: '2026-03-01T12:00:00.000Z' },
      },
    });
    // Nothing more in the same period, and nothing where the state stays.
    await takeTurn(parts, owned);
    nowMs += hourMs;
    await takeTurn(parts, owned);
    expect(mailServer.received).toHaveLength(2);
    expect((await stateNow()).looks).toHaveLength(2);
    nowMs += hourMs;
    values = [12];
    await takeTurn(parts, owned);
    expect((await stateNow()).changes.map((one) => one.state)).toEqual(['FIRING', 'OK']);
    expect(mailServer.received).toHaveLength(4);
    expect(await deliveries()).toHaveLength(2);
  });

  it('looks at complete periods alone, and says that it knows nothing after a quarter of an hour', async () => {
    const parts = partsOf();
    completeUntilMs = Date.parse('2026-03-01T11:59:59Z');
    expect(await takeTurn(parts, owned)).toBeLessThan(nowMs + minuteMs);
    // The hour before is complete.
    expect((await stateNow()).looks.map(({ toMs }) => toMs)).toEqual([startMs - 90 * minuteMs]);
    nowMs = Date.parse('2026-03-01T12:14:59Z');
    await takeTurn(parts, owned);
    expect((await stateNow()).state).toBe('FIRING');
    nowMs = Date.parse('2026-03-01T12:45:00Z');
    await takeTurn(parts, owned);
    expect(await stateNow()).toMatchObject({ state: 'NO_DATA' });
    expect((await stateNow()).looks).toHaveLength(1);
    completeUntilMs = Number.POSITIVE_INFINITY;
    nowMs += minuteMs;
    await takeTurn(parts, owned);
    expect((await stateNow()).changes.map((one) => one.state)).toEqual([
      ...['FIRING', 'NO_DATA', 'FIRING'],
    ]);
  });

  it('keeps the reason of a question that fails, and has no data of a mean over nothing', async () => {
    values = undefined;
    await takeTurn(partsOf({ upSinceMs: startMs }), owned);
    const problem = 'the question could not be answered';
    expect(await stateNow()).toMatchObject({ state: 'OK', problem });
    failure = new ConnectError('the service is busy', Code.ResourceExhausted);
    nowMs += 15 * minuteMs;
    await takeTurn(partsOf({ upSinceMs: startMs }), owned);
    expect(await stateNow()).toMatchObject({ state: 'NO_DATA', problem: 'the service is busy' });
    values = [0, 0];
    nowMs += minuteMs;
    await takeTurn(partsOf(), owned);
    expect(await stateNow()).toMatchObject({ state: 'NO_DATA', problem: '' });
    expect((await stateNow()).looks.map(({ value }) => value)).toEqual([null]);
  });

  it('is neither looked at while it is paused, nor while another process has it', async () => {
    await takeTurn(partsOf(), { ...owned, alert: { ...owned.alert, isPaused: true } });
    await expect(stateNow()).rejects.toThrow('absent');
    const ask = partsOf().ask;
    const second = partsOf();
    const others: number[] = [];
    const first = partsOf({
      ask: async (...asked) => {
        others.push(await takeTurn(second, owned));
        return ask(...asked);
      },
    });
    await takeTurn(first, owned);
    expect(others).toEqual([nowMs + minuteMs]);
    expect(mailServer.received).toHaveLength(2);
  });

  it('goes on with the mails that are left once the server is back, and gives up after a day', async () => {
    let refused = 0;
    onMail = () => {
      if (mailServer.received.length === 0) return;
      refused += 1;
      throw Object.assign(new Error('later'), { responseCode: 451 });
    };
    const parts = partsOf();
    expect(await takeTurn(parts, owned)).toBe(nowMs + minuteMs / 2);
    expect(await stateNow()).toMatchObject({ changes: [{ telling: { mailedTo: ['ada'] } }] });
    onMail = () => {};
    nowMs += minuteMs;
    await takeTurn(parts, owned);
    expect(mailServer.received.map(({ to }) => to[0])).toEqual([
      'ada@example.com',
      'bob@example.com',
    ]);
    expect(refused).toBe(1);
    onMail = () => {
      throw Object.assign(new Error('later'), { responseCode: 451 });
    };
    values = [12];
    nowMs += hourMs;
    await takeTurn(parts, owned);
    nowMs += 25 * hourMs;
    await takeTurn(parts, owned);
    expect((await stateNow()).changes.map(({ telling }) => telling.isDone)).toEqual([true, true]);
    expect(await deliveries()).toHaveLength(2);
  });
});

/** A turn of a process that dies; true where it lived to its end. */
async function mortalTurn(mortal: Mortal): Promise<boolean> {
  const parts = partsOf();
  const { get, create: make, update } = states;
  const dying = {
    ...parts,
    states: { get: mortal.step(get), create: mortal.step(make), update: mortal.step(update) },
    ask: mortal.step(parts.ask),
    queueAlert: mortal.step(parts.queueAlert),
    sendMail: mortal.step(parts.sendMail),
  };
  return Promise.race([takeTurn(dying, owned).then(() => true), mortal.died.then(() => false)]);
}

describe('a process that dies', () => {
  it.each([false, true])(
    'at any step leaves a change that is told once (after it: %s)',
    async (isDone) => {
      const counted = new Mortal(Number.POSITIVE_INFINITY, false);
      await mortalTurn(counted);
      expect(counted.calls).toBeGreaterThan(9);
      const repeated: number[] = [];
      for (let dieAt = 1; dieAt <= counted.calls; dieAt += 1) {
        nowMs = startMs;
        mailServer.received.length = 0;
        webhookId = randomUUID();
        owned = { ...owned, projectId: randomUUID(), alert: newAlert() };
        expect(await mortalTurn(new Mortal(dieAt, isDone))).toBe(false);
        // The lease ends, and another process takes over.
        nowMs += 61_000;
        await takeTurn(partsOf(), owned);
        const { changes, state } = await stateNow();
        expect([dieAt, state, changes.map(({ telling }) => telling.isDone)]).toEqual([
          ...[dieAt, 'FIRING', [true]],
        ]);
        expect(await deliveries()).toHaveLength(1);
        const ids = messageIds();
        expect([...new Set(ids)].sort()).toEqual(
          ['ada', 'bob'].map((id) => `<alert.${changes[0]?.id}.${id}@example.com>`),
        );
        if (ids.length > 2) repeated.push(dieAt);
      }
      // Only between a mail server's answer and the write that follows it: once for each recipient.
      expect(repeated).toHaveLength(2);
    },
  );
});
