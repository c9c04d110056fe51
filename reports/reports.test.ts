// Reports as people meet them: made over HTTP, rendered by the real engine, mailed to a real mail server, and left by
// the link in the mail.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { customerOf, principalOf } from '../platform/access/auth-interceptor.ts';
import { createClickHouse } from '../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../platform/clickhouse/groups.ts';
import { createLog } from '../platform/log.ts';
import type { Turns } from '../platform/turns/run-turns.ts';
import {
  ReportFrequency,
  ReportRecipientState,
  ReportRunState,
} from '../proto/gen/dashboard/reports/v1/reports_pb.js';
import { registerQuery } from '../query/routes.ts';
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
    view('14T10:00:00', '/pricing'),
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
    nowMs = Date.UTC(2026, 6, 15, 8, 0, 1);
    await turns.tick();
    expect(mailServer.received.map(({ to }) => to)).toEqual([[owner.email]]);
    const text = plain(mailServer.received[0]?.text ?? '');
    expect(text).toContain('Tuesday 14 July 2026');
    const { runs } = await reports.get({ id: report?.id ?? '' });
    expect(runs).toMatchObject([{ state: ReportRunState.SENT, sent: 1, failed: 0 }]);
  });
});
