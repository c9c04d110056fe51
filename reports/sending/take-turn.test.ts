// Turns at a report with a real broker and a real mail server: who is mailed, when, and that nobody is left out or
// mailed twice whatever step the process dies at.

import { randomUUID } from 'node:crypto';
import { BlockList } from 'node:net';
import { create } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { buckets } from '../../platform/broker/buckets.ts';
import { connectBroker } from '../../platform/broker/nats.ts';
import { openBucket, type RecordBucket } from '../../platform/broker/record-bucket.ts';
import { ensureTopology } from '../../platform/broker/topology.ts';
import { createLog } from '../../platform/log.ts';
import { createSendMail } from '../../platform/mail/send.ts';
import type { RenderedPeriod } from '../../platform/reports/rendered-period.ts';
import { newRecipientKey } from '../../platform/reports/report-link.ts';
import {
  type ReportStateRecord,
  readReportState,
  reportStateKey,
} from '../../platform/reports/report-state.ts';
import {
  type Report,
  ReportFrequency,
  ReportRecipientState,
  ReportSchema,
} from '../../proto/gen/dashboard/reports/v1/reports_pb.js';
import { SharedTileSchema } from '../../proto/gen/public/dashboards/v1/shared_dashboards_pb.js';
import { startMailServer, type TestMailServer } from '../../test/harness/servers/mail-server.ts';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import { Mortal } from '../../test/harness/turns/mortal.ts';
import type { OwnedReport } from '../owned-reports.ts';
import type { ReportParts } from './report-parts.ts';
import { takeTurn } from './take-turn.ts';

const broker = useBroker();
const log = createLog('silent');
const minuteMs = 60_000;
const dayMs = 1_440 * minuteMs;
const madeMs = Date.parse('2026-03-01T12:00:00Z');
const dueMs = Date.parse('2026-03-02T08:00:00Z');

let states: RecordBucket<ReportStateRecord>;
let mailServer: TestMailServer;
/** Called before each mail is taken. */
let onMail: () => Promise<void> | void;
let nowMs = dueMs;
let owned: OwnedReport;
let completeUntilMs: number;
let rendered: () => Promise<RenderedPeriod | undefined>;
/** Members who may see the project. */
let members: string[];

beforeAll(async () => {
  const connection = await connectBroker(broker.url, log);
  await ensureTopology(connection, { eventsMaxBytes: 16 * 1_048_576, shards: 1 });
  states = await openBucket(connection, buckets.reportStates, readReportState);
  mailServer = await startMailServer({ hideSTARTTLS: true, onMessage: () => onMail() });
  return async () => {
    await mailServer.close();
    await connection.close();
  };
});

beforeEach(() => {
  nowMs = dueMs;
  completeUntilMs = Number.MAX_SAFE_INTEGER;
  members = ['ada', 'bob'];
  onMail = () => {};
  mailServer.received.length = 0;
  owned = { projectId: randomUUID(), organizationId: 'org', place: 2, report: newReport() };
  const text = (value: string) =>
    create(SharedTileSchema, { id: value, content: { case: 'markdown', value } });
  rendered = async () => ({
    ...{ displayName: 'Board', completeUntilMs },
    ...{
      tiles: [text('of a person')],
      tilesForStrangers: [text('of nobody')],
      statements: new Map(),
    },
  });
});

function newReport(): Report {
  const active = { state: ReportRecipientState.ACTIVE };
  return create(ReportSchema, {
    ...{ id: randomUUID(), displayName: 'Every morning', dashboardId: 'overview' },
    schedule: { frequency: ReportFrequency.DAILY, hour: 8 },
    recipients: [
      { ...active, customerId: 'ada', key: newRecipientKey() },
      { ...active, customerId: 'bob', key: newRecipientKey() },
      { ...active, email: 'eve@elsewhere.example', key: newRecipientKey() },
    ],
    activeTime: timestampFromMs(madeMs),
  });
}

function partsOf(changes: Partial<ReportParts> = {}): ReportParts {
  const clock = { nowMs: () => nowMs };
  const sendMail = createSendMail({ clock, log, allowedNetworks: new BlockList() });
  const { port } = mailServer;
  const transport = { kind: 'smtp', host: '127.0.0.1', port, tls: 'opportunistic' } as const;
  return {
    reports: { find: async () => owned },
    states,
    renderPeriod: () => rendered(),
    members: (_, ids) =>
      ids.flatMap((id) =>
        members.includes(id) ? [{ customerId: id, email: `${id}@example.com` }] : [],
      ),
    mayGet: () => true,
    sendMail: (_, mail) => sendMail({ transport, fromAddress: 'a@example.com' }, 'instance', mail),
    takeMail: () => 0,
    projectName: () => 'Shop',
    organizationName: () => 'Shops',
    calendarOf: () => ({ timezone: 'UTC', weekStart: 1 }),
    publicUrl: () => 'https://app.example.com',
    clock,
    log,
    ...changes,
  };
}

async function runs(): Promise<ReportStateRecord['runs']> {
  const found = await states.get(reportStateKey(owned.projectId, owned.place));
  return found.kind === 'found' ? found.record.runs : [];
}

const turn = (changes: Partial<ReportParts> = {}) => takeTurn(partsOf(changes), owned);
const receivers = () => mailServer.received.map(({ to }) => to[0]);
const all = ['ada@example.com', 'bob@example.com', 'eve@elsewhere.example'];
const messageIds = () =>
  mailServer.received.map(({ text }) => /^Message-ID:\s+(<[^>]+>)/im.exec(text)?.[1]);
const refusal = (responseCode: number) => Object.assign(new Error('no'), { responseCode });

describe('a turn', () => {
  it('that the next occasion overtakes is followed by that one at once', async () => {
    onMail = () => {
      nowMs = dueMs + dayMs + minuteMs;
    };
    expect(await turn()).toBeLessThanOrEqual(nowMs);
    await turn();
    expect((await runs()).map((run) => run.dueMs)).toEqual([dueMs, dueMs + dayMs]);
  });

  it('mails each recipient once, others without what only members see', async () => {
    nowMs = dueMs - 1;
    expect(await turn()).toBe(dueMs);
    expect(await runs()).toEqual([]);
    nowMs = dueMs;
    expect(await turn()).toBe(dueMs + 10 * minuteMs);
    expect(receivers()).toEqual(all);
    const [run] = await runs();
    expect(run).toMatchObject({ isDone: true, sent: 3, failed: 0, leftOut: 0, sentTo: [] });
    const texts = mailServer.received.map(({ text }) => text);
    expect(texts.map((text) => text.includes('of a person'))).toEqual([true, true, false]);
    expect(texts.map((text) => text.includes('/p/'))).toEqual([true, true, false]);
    for (const [index, text] of texts.entries()) {
      const { key } = owned.report.recipients[index] ?? {};
      const url = `https://app.example.com/r/${owned.projectId}~${owned.report.id}~${key}`;
      const unfolded = text.replace(/\r\n[ \t]/g, ' ');
      expect(unfolded).toMatch(/^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
      expect(/^List-Unsubscribe: <([^>]*)>\r$/m.exec(unfolded)?.[1]?.replaceAll(' ', '')).toBe(url);
    }
    expect(new Set(messageIds()).size).toBe(3);
    nowMs += minuteMs;
    await turn();
    expect(receivers()).toHaveLength(3);
  });

  it('sends the newest of those that were missed, and tells of the others', async () => {
    await turn();
    nowMs = dueMs + 4 * dayMs + 5 * minuteMs;
    mailServer.received.length = 0;
    await turn();
    expect(receivers()).toEqual(all);
    expect((await runs()).map(({ leftOut }) => leftOut)).toEqual([0, 3]);
    expect(mailServer.received[0]?.text).toContain('3 earlier reports were left out');
    expect(mailServer.received[0]?.text).toContain('Thursday 5 March 2026');
  });

  it('waits until all events of its time are counted, and says after two hours that they are not', async () => {
    completeUntilMs = Date.parse('2026-03-02T00:00:00Z') - 1;
    expect(await turn()).toBe(dueMs + minuteMs);
    expect(receivers()).toEqual([]);
    nowMs = dueMs + 121 * minuteMs;
    await turn();
    expect(receivers()).toEqual(all);
    expect(mailServer.received[0]?.text).toContain('Not all events of this time were counted');
    expect(await runs()).toMatchObject([{ isIncomplete: true, isDone: true }]);
  });

  it('mails nobody who has said no, has not said yes, or may not see the project any more', async () => {
    const [ada, bob, eve] = owned.report.recipients;
    members = ['ada'];
    if (ada === undefined || bob === undefined || eve === undefined) throw new Error('nobody');
    const no = { ...ada, state: ReportRecipientState.UNSUBSCRIBED };
    const asked = { ...eve, state: ReportRecipientState.UNCONFIRMED };
    const report = { ...owned.report, recipients: [no, bob, asked] };
    await turn({ reports: { find: async () => ({ ...owned, report }) } });
    expect(receivers()).toEqual([]);
    expect(await runs()).toMatchObject([{ sent: 0, failed: 1, failures: [{ to: 'bob' }] }]);
    // Of those who are left nobody is to get it.
    owned = { ...owned, projectId: randomUUID() };
    await turn({ members: () => [], mayGet: () => false });
    expect(receivers()).toEqual([]);
    expect(await runs()).toMatchObject([{ sent: 0, failed: 3, isDone: true }]);
  });

  it('goes on with the others where one mail is refused or has to wait, and gives up after a day', async () => {
    let mails = 0;
    onMail = () => {
      mails += 1;
      if (all[mails - 1] === 'bob@example.com') throw refusal(451);
    };
    expect(await turn()).toBe(dueMs + minuteMs / 2);
    expect(receivers()).toEqual(['ada@example.com', 'eve@elsewhere.example']);
    onMail = () => {
      throw refusal(550);
    };
    nowMs += minuteMs;
    await turn();
    const [run] = await runs();
    expect(run).toMatchObject({ isDone: true, sent: 2, failed: 1 });
    expect(run?.failures[0]?.to).toBe('bob');
    owned = { ...owned, projectId: randomUUID() };
    onMail = () => {
      throw refusal(451);
    };
    nowMs = dueMs;
    await turn();
    nowMs = dueMs + dayMs - minuteMs;
    await turn();
    expect(await runs()).toMatchObject([{ isDone: false, sentTo: [] }]);
    nowMs = dueMs + dayMs + minuteMs;
    await turn();
    expect(await runs()).toMatchObject([{ isDone: true, failed: 3 }, { isDone: false }]);
  });

  it('keeps to the mails that an organization may send in an hour', async () => {
    const waits = [0, 0, 120];
    expect(await turn({ takeMail: () => waits.shift() ?? 0 })).toBe(dueMs + 2 * minuteMs);
    expect(receivers()).toHaveLength(2);
    nowMs += 2 * minuteMs;
    await turn();
    expect(receivers()).toEqual(all);
  });

  it('tries again what cannot be rendered, and ends where the board is gone', async () => {
    const works = rendered;
    rendered = async () => Promise.reject(new Error('Code: 60. SELECT secret'));
    expect(await turn()).toBe(dueMs + minuteMs / 2);
    expect(await runs()).toMatchObject([{ problem: 'its figures could not be asked for' }]);
    rendered = works;
    nowMs += minuteMs;
    await turn();
    expect(receivers()).toEqual(all);
    owned = { ...owned, projectId: randomUUID() };
    rendered = async () => undefined;
    await turn();
    expect(await runs()).toMatchObject([{ problem: 'the board is gone', isDone: true, sent: 0 }]);
  });

  it('is taken neither while the report is paused, nor while another process has it', async () => {
    const paused = { ...owned, report: { ...owned.report, isPaused: true } };
    await takeTurn(partsOf(), paused);
    expect(await runs()).toEqual([]);
    const works = rendered;
    const others: number[] = [];
    rendered = async () => {
      others.push(await turn());
      return works();
    };
    await turn();
    expect(others).toEqual([dueMs + 1.5 * minuteMs]);
    expect(receivers()).toEqual(all);
  });
});

/** A turn of a process that dies; true where it lived to its end. */
async function mortalTurn(mortal: Mortal): Promise<boolean> {
  const parts = partsOf();
  const { get, create: make, update } = states;
  const dying = partsOf({
    states: { get: mortal.step(get), create: mortal.step(make), update: mortal.step(update) },
    renderPeriod: mortal.step(parts.renderPeriod),
    sendMail: mortal.step(parts.sendMail),
  });
  return Promise.race([takeTurn(dying, owned).then(() => true), mortal.died.then(() => false)]);
}

describe('a process that dies', () => {
  it.each([false, true])(
    'at any step leaves a report that each recipient gets (after it: %s)',
    async (isDone) => {
      const counted = new Mortal(Number.POSITIVE_INFINITY, false);
      await mortalTurn(counted);
      expect(counted.calls).toBeGreaterThan(9);
      const repeated: number[] = [];
      for (let dieAt = 1; dieAt <= counted.calls; dieAt += 1) {
        nowMs = dueMs;
        mailServer.received.length = 0;
        owned = { ...owned, projectId: randomUUID(), report: newReport() };
        expect(await mortalTurn(new Mortal(dieAt, isDone))).toBe(false);
        // The lease ends, and another process takes over.
        nowMs += 91_000;
        await turn();
        const [run, ...others] = await runs();
        expect([dieAt, run?.isDone, run?.sent, run?.failed, others]).toEqual([
          ...[dieAt, true, 3, 0, []],
        ]);
        expect([...new Set(receivers())].sort()).toEqual(all);
        expect(new Set(messageIds()).size).toBe(3);
        if (receivers().length > 3) repeated.push(dieAt);
      }
      // Only between a mail server's answer and the write that follows it: once for each recipient.
      expect(repeated).toHaveLength(3);
    },
  );
});
