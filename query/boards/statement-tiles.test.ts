// Statements on boards over HTTP, on a real broker and a real engine: judged when they are saved and when they run, for
// the board's time, and kept from strangers.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { timestampFromMs } from '@bufbuild/protobuf/wkt';
import { Code, ConnectError } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { principalOf } from '../../platform/access/auth-interceptor.ts';
import { createClickHouse, type DatabaseClient } from '../../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../../platform/clickhouse/groups.ts';
import { systemClock } from '../../platform/clock.ts';
import { createLog } from '../../platform/log.ts';
import type { RenderPeriod } from '../../platform/reports/rendered-period.ts';
import {
  StatementView,
  type TileResult,
  type TileSchema,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { Granularity } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { reportMail } from '../../reports/mail/report-mail.ts';
import { useBroker, useEngine } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  type Clients,
  newCustomer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';
import { storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { type OpenStatements, openStatements } from '../statements/open-statements.ts';
import { registerBoards } from './register-boards.ts';

const broker = useBroker();
const engine = useEngine();
const log = createLog('silent');
const dayMs = 86_400_000;
const startMs = Date.UTC(2026, 5, 1);
const range = { from: timestampFromMs(startMs), to: timestampFromMs(startMs + 3 * dayMs) };
const timeRange = { range: { case: 'fixed', value: range } } as const;
let clickhouse: DatabaseClient;
let statements: OpenStatements;
let accounts: AccountsProcess;
let renderPeriod: RenderPeriod;
let owner: Awaited<ReturnType<typeof newCustomer>>;
let dashboards: Clients['dashboards'];
let judged: string[] = [];

beforeAll(async () => {
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 4 });
  const memoryBytes = 128 * 1_048_576;
  statements = openStatements({ clickhouse: oneGroup(clickhouse), memoryBytes, log });
  const { check, run: runStatement } = statements.onBoards;
  accounts = await startAccounts({
    brokerUrl: broker.url,
    control: {
      checkStatement: (projectId, sql) => {
        judged.push(sql);
        return check(projectId, sql);
      },
    },
    reads: (router, control) => {
      renderPeriod = registerBoards(router, {
        runQuestion: () => Promise.reject(new Error('no question is asked')),
        runStatement,
        readDashboard: control.readDashboard,
        ...{ timezoneOf: () => 'UTC', weekStartOf: () => 1, hasBots: async () => false },
        shares: control.shares,
        ...{ checkPassword: async () => true, networkOf: () => 'home' },
        ...{ clock: systemClock, log, isStarved: () => false },
        startCall: (context) => ({
          ...{ ...principalOf(context), standIns: undefined },
          ...{ count() {}, charge() {}, spend() {} },
        }),
      });
    },
  });
});

beforeEach(async () => {
  owner = await newCustomer(accounts);
  dashboards = accounts.as(bearer(owner, owner.projectId)).dashboards;
  judged = [];
  const rows = [0, 1, 1, 2, 9].map((day, n) =>
    storedRow({
      ...{ projectId: owner.projectId, kind: `kind-${day}`, distinctId: `person-${n}` },
      occurTimeMs: startMs + day * dayMs + 3_600_000,
    }),
  );
  await storeRows(clickhouse, rows);
});

afterAll(async () => {
  await accounts.close();
  await clickhouse.close();
});

const tile = (sql: string, view = StatementView.TABLE): MessageInitShape<typeof TileSchema> => ({
  ...{ title: 'Asked in SQL', w: 24, h: 8 },
  content: { case: 'statement', value: { sql, view } },
});

const refusal = (call: Promise<unknown>): Promise<[Code, string]> =>
  call.then(
    () => {
      throw new Error('nothing was refused');
    },
    (error: unknown) => [ConnectError.from(error).code, ConnectError.from(error).rawMessage],
  );

/** Rows as values, or an error's code. */
function answerOf(result: TileResult | undefined): unknown {
  const { outcome } = result ?? {};
  if (outcome?.case === 'error') return outcome.value.code;
  if (outcome?.case !== 'statement') return outcome?.case;
  return outcome.value.rows.map(({ cells }) => cells.map((cell): unknown => JSON.parse(cell)));
}

async function boardOf(...sql: string[]): Promise<string> {
  const tiles = sql.map((one) => tile(one));
  const { dashboard } = await dashboards.create({ displayName: 'Board', timeRange, tiles });
  return dashboard?.id ?? '';
}

const perDay = `SELECT toDate(occur_time, {timezone:String}) AS day, count() AS events FROM events
  WHERE occur_time >= {from:DateTime64} AND occur_time < {to:DateTime64} GROUP BY day ORDER BY day`;

it('run for the board’s time and zone, with the engine’s types', async () => {
  const id = await boardOf(
    perDay,
    'SELECT NULL AS nothing, uniqExact(distinct_id) AS n FROM events',
  );
  const { results } = await dashboards.render({ id });
  expect(results.map(answerOf)).toEqual([
    [
      ['2026-06-01', '1'],
      ['2026-06-02', '2'],
      ['2026-06-03', '1'],
    ],
    [[null, '5']],
  ]);
  const [first] = results;
  if (first?.outcome.case !== 'statement') throw new Error('there is no answer');
  expect(first.outcome.value.columns.map(({ name, type }) => [name, type])).toEqual([
    ['day', 'Date'],
    ['events', 'UInt64'],
  ]);
  const asked = {
    range: { case: 'fixed', value: { from: range.from, to: timestampFromMs(startMs + dayMs) } },
  } as const;
  const other = await dashboards.render({ id, timeRange: asked, timezone: 'Pacific/Kiritimati' });
  expect(answerOf(other.results[0])).toEqual([['2026-06-01', '1']]);
  // Before 2001 a moment has fewer digits.
  const old = { from: timestampFromMs(0), to: timestampFromMs(startMs + 20 * dayMs) };
  const long = await dashboards.render({ id, timeRange: { range: { case: 'fixed', value: old } } });
  expect(answerOf(long.results[0])).toHaveLength(4);
});

it('are judged when they are saved, and the error names the field', async () => {
  const save = (...sql: string[]) => refusal(boardOf(...sql));
  expect(await save('SELECT 1', 'SELECT * FROM otherdatabase.events')).toEqual([
    Code.InvalidArgument,
    expect.stringMatching(/^tiles\[1\]\.statement\.sql: .*there is no table/),
  ]);
  expect(await save('DROP TABLE events')).toEqual([
    Code.InvalidArgument,
    expect.stringMatching(/^tiles\[0\]\.statement\.sql: only SELECT is allowed/),
  ]);
  expect((await save("SELECT * FROM url('http://localhost')"))[1]).toContain(
    'tiles[0].statement.sql',
  );
  expect((await save('SELECT 1 FORMAT CSV'))[1]).toBe(
    'tiles[0].statement.sql: a statement on a board has no FORMAT',
  );
  expect((await save('SELECT {other:String}'))[1]).toContain('tiles[0].statement.sql');
  expect((await save('  '))[1]).toBe('tiles[0].statement.sql: is required');
  const many = Array.from({ length: 11 }, (_, n) => `SELECT ${n}`);
  expect((await save(...many))[1]).toBe('tiles: have at most 10 statements');
});

it('that a board has already are not judged again when it is saved, and others are', async () => {
  const id = await boardOf('SELECT 1');
  const { dashboard } = await dashboards.get({ id });
  if (dashboard === undefined) throw new Error('there is no board');
  const { revision, tiles } = dashboard;
  judged = [];
  await dashboards.upsert({ id, revision, tiles: [...tiles, tile('SELECT 2')] });
  expect(judged).toEqual(['SELECT 2']);
  const wrong = dashboards.upsert({ id, revision: revision + 1, tiles: [tile('SELECT sleep(1)')] });
  expect((await refusal(wrong))[1]).toContain('tiles[0].statement.sql');
  const { dashboard: copy } = await dashboards.create({ copyFrom: id });
  expect(copy?.tiles.map(({ content }) => content.case)).toEqual(['statement', 'statement']);
});

it('that fail fail alone, and those with many rows say that there are more', async () => {
  const id = await boardOf(
    'SELECT nosuch FROM events',
    'SELECT number FROM numbers(5000)',
    "SELECT repeat('x', 1000000) FROM numbers(9)",
    'SELECT count() FROM events',
  );
  const { results } = await dashboards.render({ id });
  expect(answerOf(results[0])).toBe('invalid_argument');
  const outcome = results[1]?.outcome;
  expect(outcome?.case === 'statement' && outcome.value.isCut).toBe(true);
  expect(answerOf(results[1])).toHaveLength(1_000);
  expect(answerOf(results[2])).toBe('resource_exhausted');
  expect(answerOf(results[3])).toEqual([['5']]);
});

it('of another project are never read, whoever saves them', async () => {
  const stranger = await newCustomer(accounts);
  const others = accounts.as(bearer(stranger, stranger.projectId)).dashboards;
  const tiles = [tile('SELECT count() FROM events'), tile('SELECT kind FROM events')];
  const { dashboard } = await others.create({ displayName: 'Mine', tiles });
  const { results } = await others.render({ id: dashboard?.id ?? '' });
  expect(results.map(answerOf)).toEqual([[['0']], []]);
});

it('are not shown by a share, nor run for one, and mails show their rows to members alone', async () => {
  const id = await boardOf("SELECT 'ada' AS person, 7 AS orders", 'SELECT nosuch FROM events');
  const { token } = await dashboards.createShare({ dashboardId: id, displayName: 'Link' });
  const shown = await accounts.as().shared.render({ token });
  expect(shown.tiles.map(({ content, membersOnly }) => [content.case, membersOnly])).toEqual([
    [undefined, true],
    [undefined, true],
  ]);
  expect(JSON.stringify(shown.tiles.map(({ question, title }) => [question, title]))).not.toContain(
    'ada',
  );
  const period = {
    ...{ fromMs: startMs, toMs: startMs + dayMs, previousFromMs: startMs - dayMs },
    ...{ granularity: Granularity.HOUR, timezone: 'UTC', weekStart: 1 },
  };
  const rendered = await renderPeriod(owner.projectId, id, period);
  if (rendered === undefined) throw new Error('there is no board');
  const words = {
    ...{ reportName: 'Daily', projectName: 'Shop', organizationName: 'Org', boardName: 'Board' },
    ...{ period: 'Monday', comparedWith: 'the day before', isIncomplete: false, leftOut: 0 },
    ...{ isTest: false, boardUrl: undefined, unsubscribeUrl: 'https://example.org/u' },
  };
  const { statements: answers, tiles, tilesForStrangers } = rendered;
  const member = reportMail({ ...words, tiles, statements: answers });
  const stranger = reportMail({ ...words, tiles: tilesForStrangers });
  expect(member.text).toContain('ada');
  expect(member.text).toContain('could not be answered');
  expect(member.html).toContain('orders');
  for (const text of [stranger.text, stranger.html]) {
    expect(text).not.toContain('ada');
    expect(text).not.toContain('orders');
    expect(text).toContain('to members of the organization alone');
  }
});
