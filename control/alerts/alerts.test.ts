// AlertsService over HTTP on a real broker: what is stored and refused, and how many there may be.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { Code } from '@connectrpc/connect';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { newAlertState } from '../../platform/alerts/alert-state.ts';
import {
  AlertConditionKind,
  type AlertConditionSchema,
  AlertInterval,
  AlertState,
  type CreateRequestSchema,
} from '../../proto/gen/dashboard/alerts/v1/alerts_pb.js';
import {
  AggregationType,
  type InsightQuerySpecSchema,
  InsightType,
  SessionMetric,
} from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  type AccountsProcess,
  bearer,
  type Clients,
  newCustomer,
  startAccounts,
} from '../../test/harness/services/accounts.ts';
import { maxAlertsOfOrganization } from './alert-rpc.ts';

const broker = useBroker();
const changeLimits = { perCustomer: 10_000, perOrganization: 10_000 };
let accounts: AccountsProcess;
let owner: Awaited<ReturnType<typeof newCustomer>>;
let projectId: string;
let alerts: Clients['alerts'];

beforeAll(async () => {
  accounts = await startAccounts({ brokerUrl: broker.url, control: { changeLimits } });
  owner = await newCustomer(accounts);
});

beforeEach(async () => {
  projectId = await newProject();
  alerts = accounts.as(bearer(owner, projectId)).alerts;
});

afterAll(() => accounts.close());

async function newProject(): Promise<string> {
  const { orgId } = owner;
  const { project } = await accounts.as(bearer(owner)).projects.create({ orgId, displayName: 'P' });
  return project?.id ?? '';
}

const events = [{ event: { kind: 'sign_up' }, aggregation: AggregationType.TOTAL }];
const fewSignUps = {
  displayName: 'Few sign-ups',
  spec: { insightType: InsightType.TRENDS, events },
  condition: { kind: AlertConditionKind.BELOW, threshold: 10, recoveryThreshold: 12 },
  interval: AlertInterval.HOUR,
};
const invalid = (rule: string) => ({
  code: Code.InvalidArgument,
  rawMessage: expect.stringContaining(rule),
});

it('are stored for their maker, changed, listed and deleted', async () => {
  const { alert } = await alerts.create(fewSignUps);
  const id = alert?.id ?? '';
  expect(alert).toMatchObject({
    ...{ displayName: 'Few sign-ups', recipientIds: [owner.customer?.id] },
    ...{ condition: fewSignUps.condition, state: AlertState.UNSPECIFIED, isPaused: false },
  });
  const changed = await alerts.update({ id, isPaused: true, recipients: { recipientIds: [] } });
  expect(changed.alert).toMatchObject({ isPaused: true, recipientIds: [], spec: alert?.spec });
  const { alert: read, changes, looks } = await alerts.get({ id });
  expect([read, changes, looks]).toEqual([changed.alert, [], []]);
  const silent = await alerts.create({ ...fewSignUps, withoutMail: true });
  expect(silent.alert?.recipientIds).toEqual([]);
  expect((await alerts.list({})).alerts.map((one) => one.id)).toEqual([id, silent.alert?.id]);
  await alerts.delete({ id });
  const notFound = { code: Code.NotFound, rawMessage: 'there is no such alert' };
  await expect(alerts.get({ id })).rejects.toMatchObject(notFound);
});

it('have the state of their own, and none of an alert that was in their place before', async () => {
  const { alert: gone } = await alerts.create(fewSignUps);
  const id = gone?.id ?? '';
  const { alertStates: states } = accounts.control.turnRecords;
  const look = { fromMs: 1_000, toMs: 2_000, value: 3 };
  const telling = { isDone: true, areQueued: true, mailedTo: [], failures: 0, nextTryMs: 0 };
  await states.create(`${projectId}.0`, {
    ...newAlertState(id),
    ...{ state: 'FIRING', sinceMs: 3_000, looks: [look] },
    changes: [{ id: 'c', state: 'FIRING', before: 'OK', timeMs: 3_000, look, telling }],
  });
  const renamed = await alerts.update({ id, displayName: 'Hardly any sign-ups' });
  expect(renamed.alert?.state).toBe(AlertState.FIRING);
  const { alert, changes, looks } = await alerts.get({ id });
  expect(alert).toMatchObject({ state: AlertState.FIRING, lastLook: { value: 3 } });
  expect(changes).toMatchObject([{ id: 'c', state: AlertState.FIRING, isTold: true }]);
  expect(looks).toHaveLength(1);
  expect((await alerts.list({})).alerts[0]).toEqual(alert);
  await alerts.delete({ id });
  const { alert: next } = await alerts.create(fewSignUps);
  expect((await alerts.get({ id: next?.id ?? '' })).alert?.state).toBe(AlertState.UNSPECIFIED);
});

type Fields = MessageInitShape<typeof CreateRequestSchema>;
const spec = (fields: MessageInitShape<typeof InsightQuerySpecSchema>): Fields => ({
  ...fewSignUps,
  spec: { ...fewSignUps.spec, ...fields },
});
const condition = (fields: MessageInitShape<typeof AlertConditionSchema>): Fields => ({
  ...fewSignUps,
  condition: fields,
});

it.each<[string, Fields]>([
  ['displayName: is required', { ...fewSignUps, displayName: '' }],
  ['spec: must be TRENDS', spec({ insightType: InsightType.FUNNEL })],
  ['spec: must have no breakdowns', spec({ breakdowns: [{ property: 'a' }] })],
  ['spec: must have no moving average', spec({ movingAverage: 7 })],
  ['spec: must have one event', spec({ events: [...events, ...events] })],
  ['spec.session.metric', spec({ events: [], session: {} })],
  ['condition.kind: is required', condition({ threshold: 1 })],
  [
    'condition.threshold: must be a number',
    condition({ kind: AlertConditionKind.ABOVE, threshold: Number.NaN }),
  ],
  [
    'condition.recoveryThreshold: must not be above the threshold',
    condition({ kind: AlertConditionKind.ABOVE, threshold: 1, recoveryThreshold: 2 }),
  ],
  ['interval: must be', { ...fewSignUps, interval: AlertInterval.UNSPECIFIED }],
  ['recipientIds[0]: is no member', { ...fewSignUps, recipientIds: ['somebody'] }],
  ['recipientIds: must be empty', { ...fewSignUps, recipientIds: ['a'], withoutMail: true }],
  ['recipientIds: must be at most 20', { ...fewSignUps, recipientIds: Array(21).fill('a') }],
])('are refused with %s', async (rule, request) => {
  await expect(alerts.create(request)).rejects.toMatchObject(invalid(rule));
});

it('may be of visits, and are as many as a project and an organization may have', async () => {
  const session = { metric: SessionMetric.BOUNCE_RATE };
  const ofVisits = { insightType: InsightType.SEGMENTATION, session };
  const full = (rule: string) => ({
    code: Code.FailedPrecondition,
    rawMessage: expect.stringContaining(rule),
  });
  for (let count = 0; count < 20; count += 1)
    await alerts.create({ ...fewSignUps, spec: ofVisits });
  await expect(alerts.create(fewSignUps)).rejects.toMatchObject(full('at most 20 alerts'));
  const project = { left: 0, alerts };
  const more = async () => {
    if (project.left === 0) {
      project.alerts = accounts.as(bearer(owner, await newProject())).alerts;
      project.left = 20;
    }
    project.left -= 1;
    return project.alerts.create(fewSignUps);
  };
  const made = async () => {
    for (let count = 0; count <= maxAlertsOfOrganization; count += 1) await more();
  };
  await expect(made()).rejects.toMatchObject(full('an organization has at most 100 alerts'));
});
