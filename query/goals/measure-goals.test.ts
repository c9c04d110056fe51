// GoalsService over HTTP: goals as they are saved, and their numbers on a real engine, worked out by hand.

import { randomUUID } from 'node:crypto';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { principalOf } from '../../platform/access/auth-interceptor.ts';
import { createClickHouse } from '../../platform/clickhouse/clickhouse.ts';
import { oneGroup } from '../../platform/clickhouse/groups.ts';
import { createLog } from '../../platform/log.ts';
import { FilterOperator } from '../../proto/gen/common/v1/filter_pb.js';
import { TimeRangePreset } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import type { MeasuredGoal } from '../../proto/gen/dashboard/goals/v1/goals_pb.js';
import { useBroker, useEngine } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  type Clients,
  newCustomer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';
import { type StoredRow, storedRow, storeRows } from '../../test/harness/tables/stored-events.ts';
import { registerQuery } from '../routes.ts';

const broker = useBroker();
const engine = useEngine();
const log = createLog('silent');
const nowMs = Date.UTC(2026, 6, 15, 12);
const clock = { nowMs: () => nowMs };
const changeLimits = { perCustomer: 10_000, perOrganization: 10_000 };
let clickhouse: ReturnType<typeof createClickHouse>;
let accounts: AccountsProcess;
let owner: Awaited<ReturnType<typeof newCustomer>>;
let goals: Clients['goals'];
const completeMs = nowMs - 5_000;

beforeAll(async () => {
  clickhouse = createClickHouse(engine.url, { log, maxConnections: 10 });
  accounts = await startAccounts({
    brokerUrl: broker.url,
    clock,
    control: { changeLimits },
    reads: (router, { goalsOf }) =>
      registerQuery(router, {
        ...{ clickhouse: oneGroup(clickhouse), clock, log, readerOf: principalOf, goalsOf },
        readsPerSecond: 0,
        timezoneOf: () => 'UTC',
        completeUntilMs: async () => completeMs,
      }),
  });
  owner = await newCustomer(accounts);
  goals = accounts.as(bearer(owner, owner.projectId)).goals;
});

afterAll(async () => {
  await accounts.close();
  await clickhouse.close();
});

const week = { range: { case: 'preset', value: TimeRangePreset.LAST_7_DAYS } } as const;
const invalid = (rule: string) => ({
  code: Code.InvalidArgument,
  rawMessage: expect.stringContaining(rule),
});
const numbersOf = ({ figures, previous }: MeasuredGoal) =>
  [figures, previous].map((one) => [one?.completions, one?.users, one?.rate, one?.revenue]);

it('are saved, changed and deleted, and refused where they could not be measured', async () => {
  const { goal } = await goals.create({ displayName: 'Sign-up', kind: 'sign_up' });
  const id = goal?.id ?? '';
  expect((await goals.get({ id })).goal).toEqual(goal);
  const long = { property: 'plan', operator: FilterOperator.EQUALS, value: 'x'.repeat(9_000) };
  const bad = { property: 'age', operator: FilterOperator.BETWEEN, values: ['1'] };
  const make = (fields: object) => goals.create({ displayName: 'G', kind: 'k', ...fields });
  await expect(make({ kind: '' })).rejects.toMatchObject(invalid('kind: is required'));
  await expect(make({ displayName: '' })).rejects.toMatchObject(invalid('displayName: is req'));
  await expect(make({ filters: [bad] })).rejects.toMatchObject(invalid('filters[0].values: '));
  await expect(make({ filters: Array(11).fill(bad) })).rejects.toMatchObject(
    invalid('filters: must be at most 10'),
  );
  await expect(make({ filters: [long] })).rejects.toMatchObject(
    invalid('filters: a goal takes at most 8192 bytes'),
  );
  await expect(make({ valueProperty: 'p'.repeat(300) })).rejects.toMatchObject(
    invalid('valueProperty'),
  );
  await goals.update({ id, displayName: 'Registered', filters: { filters: [] } });
  expect((await goals.list({})).goals).toMatchObject([{ displayName: 'Registered' }]);
  await goals.delete({ id });
  expect((await goals.list({})).goals).toEqual([]);
  expect((await goals.measure({})).goals).toEqual([]);
  await expect(goals.measure({ goalId: id })).rejects.toMatchObject({ code: Code.NotFound });
});

it('have a number, a rate and revenue, in the range and the one before', async () => {
  const { projectId } = owner;
  const row = (time: string, fields: Partial<StoredRow> = {}) =>
    storedRow({ projectId, occurTimeMs: Date.parse(`2026-07-${time}Z`), ...fields });
  const buy = (time: string, distinctId: string, amount: number, fields = {}) =>
    row(time, { kind: 'purchase', distinctId, doubles: { amount }, ...fields });
  const from = (referrer_domain: string, pathname: string) => ({
    columns: { referrer_domain, pathname },
  });
  const one = randomUUID();
  const two = randomUUID();
  const three = randomUUID();
  await storeRows(clickhouse, [
    row('14T09:00:00', { distinctId: 'ada', sessionId: one, ...from('news.test', '/a') }),
    buy('14T09:05:00', 'ada', 10.5, { sessionId: one }),
    buy('14T09:06:00', 'ada', 4.5, { sessionId: one }),
    row('14T10:00:00', { distinctId: 'bob', sessionId: two, ...from('news.test', '/b') }),
    row('14T11:00:00', { distinctId: 'eve', sessionId: three, ...from('', '/a') }),
    buy('14T11:01:00', 'eve', 100, { sessionId: three, strings: { plan: 'pro' } }),
    row('14T12:00:00', { distinctId: 'kim', ...from('', '/a') }),
    // The week before.
    row('07T12:00:00', { distinctId: 'bob' }),
    buy('07T12:00:00', 'ada', 1),
    // Before both.
    buy('01T12:00:00', 'ada', 1_000),
  ]);
  const isPro = { property: 'plan', operator: FilterOperator.EQUALS, value: 'pro' };
  const bought = { displayName: 'Bought', kind: 'purchase', valueProperty: 'amount' };
  await goals.create(bought);
  await goals.create({ displayName: 'Pro', kind: 'purchase', filters: [isPro] });
  const { goals: measured, completeUntil } = await goals.measure({ timeRange: week });
  expect(measured.map(({ goal }) => goal?.displayName)).toEqual(['Bought', 'Pro']);
  expect(measured.map(numbersOf)).toEqual([
    [
      [3, 2, 0.5, 115],
      [1, 1, 0.5, 1],
    ],
    [
      [1, 1, 0.25, undefined],
      [0, 0, 0, undefined],
    ],
  ]);
  expect(Number(completeUntil?.seconds)).toBe(completeMs / 1_000);
  const goalId = measured[0]?.goal?.id ?? '';
  const [alone] = (await goals.measure({ timeRange: week, goalId })).goals;
  expect(alone?.figures).toMatchObject({ completions: 3, visits: 2, visitRate: 0.5 });
  const shown = (groups: MeasuredGoal['sources'] = []) =>
    groups.map(({ value, visits, visitRate }) => [value, visits, visitRate]);
  expect(shown(alone?.sources)).toEqual([
    [undefined, 1, 0.5],
    ['news.test', 1, 0.5],
  ]);
  expect(shown(alone?.pages)).toEqual([['/a', 2, 2 / 3]]);
  // Of bob alone nothing was bought; the rate is of the users whom the conditions leave.
  const filters = { filterGroups: [{ filters: [isPro] }] };
  const [ofPro] = (await goals.measure({ timeRange: week, filters })).goals;
  expect(ofPro?.figures).toMatchObject({ completions: 1, users: 1, rate: 1, revenue: 100 });
});
