// Reports as people meet them: made over HTTP, rendered by the real engine, mailed to a real mail server, and left by
// the link in the mail.

import { randomUUID } from 'node:crypto';
import type { MessageInitShape } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { customerOf, principalOf } from '../platform/access/auth-interceptor.ts';
import { createClickHouse } from '../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../platform/clickhouse/groups.ts';
import { createLog } from '../platform/log.ts';
import type { Turns } from '../platform/turns/run-turns.ts';
import { Role } from '../proto/gen/dashboard/orgs/v1/orgs_pb.js';
import {
  type CreateRequestSchema,
  ReportFrequency,
  ReportRecipientState,
  ReportRunState,
} from '../proto/gen/dashboard/reports/v1/reports_pb.js';
import { registerQuery } from '../query/routes.ts';
import { eventually } from '../test/harness/clients/client.ts';
import { startMailServer, type TestMailServer } from '../test/harness/servers/mail-server.ts';
import { useBroker, useEngine } from '../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  type Clients,
  newCustomer,
  startAccounts,
} from '../test/harness/services/accounts.ts';
import { storedRow, storeRows } from '../test/harness/tables/stored-events.ts';
import { startReports } from './start.ts';

const broker = useBroker();
const engine = useEngine();
const log = createLog('silent');
const publicUrl = 'https://app.example.com';
/** When people are at it, and their tokens hold; turns have a clock of their own. */
const clock = { nowMs: () => Date.UTC(2026, 6, 14, 12) };
let nowMs = clock.nowMs();
const turnClock = { nowMs: () => nowMs };
let clickhouse: ReturnType<typeof createClickHouse>;
let mailServer: TestMailServer;
let accounts: AccountsProcess;
let turns: Turns;
let owner: Awaited<ReturnType<typeof newCustomer>>;
let reports: Clients['reports'];

beforeAll(async () => {
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 10 });
  mailServer = await startMailServer({ hideSTARTTLS: true });
  accounts = await startAccounts({
    brokerUrl: broker.url,
    clock,
    env: { SMTP_URL: `smtp://127.0.0.1:${mailServer.port}?tls=optional` },
    control: { publicUrl: () => publicUrl },
    reads: (router, control) => {
      const timezoneOf = () => 'UTC';
      const { readDashboard, shares } = control;
      const own = registerQuery(router, {
        ...{ clickhouse: oneGroup(clickhouse), log, readerOf: principalOf, timezoneOf },
        clock: turnClock,
        ...{ readsPerSecond: 0, completeUntilMs: async () => nowMs },
        boards: {
          ...{ readDashboard, shares },
          ...{ checkPassword: async () => false, networkOf: () => undefined },
        },
      });
      if (own.renderPeriod === undefined) throw new Error('no board is rendered');
      turns = startReports(router, {
        ...{ renderPeriod: own.renderPeriod, publicUrl: () => publicUrl, log },
        clock: turnClock,
        items: control.turnRecords.projectItems,
        states: control.turnRecords.reportStates,
        project: (id) => accounts.projects.get(id)?.record,
        mail: control.organizationMail,
        callerOf: (context) => ({ ...customerOf(context), ...principalOf(context) }),
      });
    },
    routes: async ({ control }) => [control.oneClickRoute],
  });
  owner = await newCustomer(accounts);
  const { projectId } = owner;
  reports = accounts.as(bearer(owner, projectId)).reports;
  const view = (time: string, path: string) =>
    storedRow({
      ...{ projectId, occurTimeMs: Date.parse(`2026-07-${time}Z`) },
      strings: { $pathname: path },
    });
  await storeRows(clickhouse, [
    view('13T08:00:00', '/home'),
    view('14T09:00:00', '/home'),
    view('14T10:00:00', '<script>x</script>'),
  ]);
});

afterAll(async () => {
  await turns.stop();
  await accounts.close();
  await mailServer.close();
  await clickhouse.close();
});

beforeEach(() => {
  mailServer.received.length = 0;
});

/** The text of a mail with its encodings undone as far as its figures need it. */
function plain(mail: string): string {
  return mail
    .replace(/=\r?\n/g, '')
    .replace(/(?:=[0-9A-F]{2})+/g, (run) => Buffer.from(run.replaceAll('=', ''), 'hex').toString());
}

/** Lets the run of a day in July end: another tick may have the organization's turn. */
async function runOn(day: number, id: string): Promise<void> {
  nowMs = Date.UTC(2026, 6, day, 8, 1);
  await eventually(
    async () => {
      await turns.tick();
      const [run] = (await reports.get({ id })).runs;
      return run?.state !== ReportRunState.SENDING && Number(run?.time?.seconds) * 1_000;
    },
    (dueMs) => dueMs === Date.UTC(2026, 6, day, 8),
  );
}

const daily = { frequency: ReportFrequency.DAILY, hour: 8 };

describe('a report', () => {
  it('is made, due, and mailed with figures and their change', async () => {
    const { report } = await reports.create({
      ...{ displayName: 'Every morning', dashboardId: 'overview', schedule: daily },
    });
    expect(report?.recipients).toMatchObject([
      { customerId: owner.customer?.id, state: ReportRecipientState.ACTIVE, key: '' },
    ]);
    nowMs += 60_000;
    await turns.tick();
    expect(mailServer.received, 'what was due before it was made').toEqual([]);
    await runOn(15, report?.id ?? '');
    expect(mailServer.received.map(({ to }) => to)).toEqual([[owner.email]]);
    const text = plain(mailServer.received[0]?.text ?? '');
    expect(text).toContain('Tuesday 14 July 2026');
    const { runs } = await reports.get({ id: report?.id ?? '' });
    expect(runs).toMatchObject([{ state: ReportRunState.SENT, sent: 1, failed: 0 }]);
  });

  it('shows figures, their change and names that are no links, in HTML and in text', async () => {
    const { report } = await reports
      .create({
        ...{
          displayName: 'Views\u2028Bcc: x@evil.example',
          dashboardId: 'overview',
          schedule: daily,
        },
      })
      .catch(() => ({ report: undefined }));
    expect(report, 'a name of two lines').toBeUndefined();
    const made = await reports.create({
      ...{ displayName: 'See http://evil.example <b>', dashboardId: 'overview', schedule: daily },
    });
    const id = made.report?.id ?? '';
    nowMs = Date.UTC(2026, 6, 15, 8, 0, 2);
    const { subject, text, html, isIncomplete } = await reports.preview({ id });
    expect(subject).toMatch(/^See http evil example b of .*, Tuesday 14 July 2026$/);
    expect(isIncomplete).toBe(false);
    // Two views on the day, one on the day before.
    expect(text).toMatch(/^Page views\n-+\n2 \(\+100%\)$/m);
    expect(html).toContain('<strong style="font-size:22px">2</strong>');
    expect(text).toContain('/\u200bhome: 1');
    const evil = '<script>x</script>';
    expect(text).toContain('x</\u200bscript>');
    expect(html).toContain('&lt;script&gt;x&lt;/\u200bscript&gt;');
    expect(html).not.toContain(evil);
    expect(html).not.toMatch(/<img|<script|<link|url\(|src=/);
    expect(html.replaceAll(`${publicUrl}/`, '')).not.toMatch(/https?:/);
    expect(Buffer.byteLength(html)).toBeLessThanOrEqual(90_000);
    const { isMailed, problem } = await reports.test({ id });
    expect([isMailed, problem]).toEqual([true, '']);
    // Its own run of the day may be among them.
    const tests = mailServer.received.filter((one) => one.text.includes('Subject: Test: See'));
    expect(tests.map(({ to }) => to)).toEqual([[owner.email]]);
    await reports.delete({ id });
  });
});

describe('somebody who is no member', () => {
  const eve = 'eve@elsewhere.example';
  const link = () => /\/r\/([\w~-]+)/.exec(plain(mailServer.received[0]?.text ?? ''))?.[1] ?? '';
  let id = '';
  let token = '';

  it('is asked first, and gets nothing before a click', async () => {
    const customerIds = [owner.customer?.id ?? ''];
    const { report } = await reports.create({
      ...{ displayName: 'Shared', dashboardId: 'overview', schedule: daily, customerIds },
      emails: [` ${eve.toUpperCase()} `],
    });
    id = report?.id ?? '';
    await accounts.control.outbox.idle();
    expect(mailServer.received.map(({ to }) => to)).toEqual([[eve]]);
    expect(report?.recipients).toMatchObject([
      { customerId: customerIds[0], key: '' },
      { email: eve, state: ReportRecipientState.UNCONFIRMED, key: '' },
    ]);
    token = link();
    const opened = await fetch(`${accounts.baseUrl}/r/${token}`);
    expect(opened.status).toBe(404);
    const mailed = accounts.as().mailedReports;
    expect(await mailed.get({ token })).toMatchObject({
      ...{ displayName: 'Shared', state: ReportRecipientState.UNCONFIRMED },
      frequency: ReportFrequency.DAILY,
    });
    mailServer.received.length = 0;
    await runOn(16, id);
    expect(mailServer.received.flatMap(({ to }) => to)).not.toContain(eve);
    await mailed.confirm({ token });
    mailServer.received.length = 0;
    await runOn(17, id);
    expect(mailServer.received.flatMap(({ to }) => to)).toContain(eve);
  });

  it('is let go by one POST of a mail program, and stays so', async () => {
    const post = (address: string) =>
      fetch(`${accounts.baseUrl}/r/${address}`, {
        ...{ method: 'POST', body: 'List-Unsubscribe=One-Click' },
        headers: { 'content-type': 'application/x-www-form-urlencoded' },
      }).then(({ status }) => status);
    expect(await post(token)).toBe(200);
    expect(await post(token)).toBe(200);
    expect(await post(token.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A')))).toBe(404);
    expect(await post('nothing')).toBe(404);
    const { report } = await reports.get({ id });
    expect(report?.recipients[1]?.state).toBe(ReportRecipientState.UNSUBSCRIBED);
    await reports.update({ id, recipients: { emails: [eve] } });
    await runOn(18, id);
    expect(mailServer.received.flatMap(({ to }) => to)).not.toContain(eve);
    await reports.delete({ id });
    expect(await post(token)).toBe(404);
    const gone = accounts.as().mailedReports.get({ token });
    await expect(gone).rejects.toMatchObject({ code: Code.NotFound });
  });
});

describe('a request', () => {
  const report = { displayName: 'R', dashboardId: 'overview', schedule: daily };
  const members = (count: number) => Array.from({ length: count }, () => randomUUID());

  it.each<[string, MessageInitShape<typeof CreateRequestSchema>]>([
    ['displayName: is required', { ...report, displayName: ' ' }],
    ['dashboardId: is required', { ...report, dashboardId: '' }],
    ['dashboardId: is no dashboard of the project', { ...report, dashboardId: randomUUID() }],
    ['schedule: is required', { ...report, schedule: undefined }],
    ['schedule.frequency', { ...report, schedule: { hour: 8 } }],
    ['schedule.hour: must be 0 to 23', { ...report, schedule: { ...daily, hour: 24 } }],
    [
      'schedule.weekday: must be 1 to 7',
      { ...report, schedule: { frequency: ReportFrequency.WEEKLY, weekday: 8 } },
    ],
    [
      'schedule.dayOfMonth: must be 1 to 31',
      { ...report, schedule: { frequency: ReportFrequency.MONTHLY, dayOfMonth: 32 } },
    ],
    ['emails: must be at most 20', { ...report, customerIds: members(21) }],
    ['customerIds[0]: is no member who has the project', { ...report, customerIds: members(1) }],
    [
      'emails[0]: must be an e-mail address',
      { ...report, emails: ['a@b.example\nBcc: c@d.example'] },
    ],
  ])('is refused: %s', async (rule, request) => {
    await expect(reports.create(request)).rejects.toMatchObject({
      ...{ code: Code.InvalidArgument, rawMessage: expect.stringContaining(rule) },
    });
  });

  it('names others only where an admin sends it, and members of other projects never', async () => {
    const { orgId, projectId } = owner;
    const asOwner = accounts.as(bearer(owner, projectId));
    const { project } = await asOwner.projects.create({ orgId, displayName: 'Another' });
    const join = async (projectIds?: string[]) => {
      const invited = await newCustomer(accounts);
      await asOwner.orgs.inviteMember({
        ...{ orgId, email: invited.email, role: Role.MEMBER },
        ...(projectIds !== undefined && { projects: { projectIds } }),
      });
      await accounts.control.outbox.idle();
      const mail = mailServer.received.findLast(({ to }) => to[0] === invited.email)?.text ?? '';
      const token = /token=([\w.-]+)/.exec(plain(mail))?.[1] ?? '';
      await accounts.as(bearer(invited)).orgs.acceptInvite({ token });
      return invited;
    };
    const member = await join();
    const elsewhere = await join([project?.id ?? '']);
    const asMember = accounts.as(bearer(member, projectId)).reports;
    const refused = asMember.create({ ...report, emails: ['eve@elsewhere.example'] });
    await expect(refused).rejects.toMatchObject({ code: Code.PermissionDenied });
    const foreign = reports.create({ ...report, emails: [elsewhere.email] });
    await expect(foreign).rejects.toMatchObject({ code: Code.InvalidArgument });
    expect(
      accounts.control.organizationMail.mayGet(
        { organizationId: orgId, projectId },
        elsewhere.email,
      ),
    ).toBe(false);
    // Of a report that goes to others, the board is the admin's, too.
    const ofOthers = await reports.create({ ...report, emails: ['eve@elsewhere.example'] });
    const other = await asOwner.dashboards.create({ displayName: 'Another board' });
    const moved = { id: ofOthers.report?.id ?? '', dashboardId: other.dashboard?.id ?? '' };
    await expect(asMember.update(moved)).rejects.toMatchObject({ code: Code.PermissionDenied });
    await expect(asMember.update({ id: moved.id, isPaused: true })).resolves.toBeDefined();
    await expect(reports.update(moved)).resolves.toBeDefined();
    await reports.delete({ id: moved.id });
    // An address of a member who has the project is the member.
    const made = await asMember.create({ ...report, emails: [member.email] });
    expect(made.report?.recipients).toMatchObject([{ customerId: member.customer?.id, email: '' }]);
    const id = made.report?.id ?? '';
    await expect(asMember.update({ id, recipients: {} })).rejects.toMatchObject({
      rawMessage: expect.stringContaining('recipients: must name somebody'),
    });
    const paused = await asMember.update({ id, isPaused: true });
    expect(paused.report?.nextTime).toBeUndefined();
    await asMember.delete({ id });
  });

  it('makes at most 20 reports of a project', async () => {
    const { projects } = await accounts.as(bearer(owner)).projects.list({ orgId: owner.orgId });
    const other = projects.find(({ displayName }) => displayName === 'Another')?.id ?? '';
    const own = accounts.as(bearer(owner, other)).reports;
    for (let made = 0; made < 20; made += 1) await own.create(report);
    await expect(own.create(report)).rejects.toMatchObject({ code: Code.FailedPrecondition });
    expect((await own.list({})).reports).toHaveLength(20);
  });
});
