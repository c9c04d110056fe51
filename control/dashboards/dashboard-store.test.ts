// The two records of a dashboard on a real broker, where a write comes between them, or never comes.

import { create } from '@bufbuild/protobuf';
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest';
import { newId } from '../../platform/access/ids.ts';
import { connectBroker, type NatsConnection } from '../../platform/broker/nats.ts';
import { openBucket, type RecordBucket } from '../../platform/broker/record-bucket.ts';
import { type WatchedBucket, watchBucket } from '../../platform/broker/watched-bucket.ts';
import {
  type DashboardListRecord,
  readDashboardList,
} from '../../platform/dashboards/dashboard-list.ts';
import { createReadDashboard } from '../../platform/dashboards/dashboard-reader.ts';
import {
  type DashboardRecord,
  readDashboardRecord,
} from '../../platform/dashboards/dashboard-record.ts';
import { createLog } from '../../platform/log.ts';
import {
  type Dashboard,
  DashboardSchema,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { useBroker } from '../../test/harness/servers/use-servers.ts';
import {
  changeDashboard,
  createDashboard,
  type DashboardBuckets,
  deleteDashboard,
} from './dashboard-store.ts';

const log = createLog('silent');
const broker = useBroker();
let connection: NatsConnection;
let dashboards: RecordBucket<DashboardRecord>;
let lists: WatchedBucket<DashboardListRecord>;
let projectId: string;

beforeAll(async () => {
  connection = await connectBroker(broker.url, log);
  for (const name of ['dashboards', 'dashboard_lists']) {
    await connection.jetstream().views.kv(name, { history: 1 });
  }
  dashboards = await openBucket(connection, 'dashboards', readDashboardRecord);
  const bucket = await openBucket(connection, 'dashboard_lists', readDashboardList);
  lists = await watchBucket(connection, bucket, { log });
});

beforeEach(() => {
  projectId = newId();
});

afterAll(async () => {
  await lists.close();
  await connection.close();
});

/** The real buckets; a test replaces some of their calls. */
const buckets = (
  own: { dashboards?: Partial<RecordBucket<DashboardRecord>>; update?: typeof lists.update } = {},
): DashboardBuckets => ({
  dashboards: { ...dashboards, ...own.dashboards },
  lists: {
    get: (key) => lists.get(key),
    ask: (key) => lists.ask(key),
    create: (key, record) => lists.create(key, record),
    update: own.update ?? ((key, record, revision) => lists.update(key, record, revision)),
  },
});
const newDashboard = (): Dashboard =>
  create(DashboardSchema, { id: newId(), displayName: 'Board', revision: 1 });
const renamed =
  (displayName: string) =>
  (before: Dashboard): Dashboard => ({ ...before, displayName, revision: before.revision + 1 });
const listed = () => lists.get(projectId)?.record.dashboards ?? [];

it('of two changes the later one is listed, although the earlier one lists itself after it', async () => {
  const { id } = await made();
  let isHeld = (): void => {};
  const held = new Promise<void>((resolve) => {
    isHeld = resolve;
  });
  let letGo = (): void => {};
  const goOn = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const slow = buckets({
    async update(key, record, revision) {
      isHeld();
      await goOn;
      return lists.update(key, record, revision);
    },
  });
  const earlier = changeDashboard(slow, projectId, id, renamed('Earlier'));
  await held;
  await changeDashboard(buckets(), projectId, id, renamed('Later'));
  letGo();
  expect(await earlier).toMatchObject({ displayName: 'Earlier' });
  expect(listed()).toMatchObject([{ displayName: 'Later', revision: 3 }]);
});

it('a dashboard whose content was not written is not there', async () => {
  const away = async () => {
    throw new Error('away');
  };
  const making = createDashboard(
    buckets({ dashboards: { create: away } }),
    projectId,
    newDashboard(),
  );
  await expect(making).rejects.toThrow('away');
  expect(listed()).toEqual([]);
});

it('a deleted dashboard whose content stayed is not there, and its place is taken again', async () => {
  const { id } = await made();
  const away = async () => {
    throw new Error('away');
  };
  expect(await deleteDashboard(buckets({ dashboards: { update: away } }), projectId, id)).toBe(
    true,
  );
  expect(await dashboards.get(`${projectId}.0`)).toMatchObject({ kind: 'found', record: { id } });
  const read = createReadDashboard(buckets());
  expect(await read(projectId, id)).toBeUndefined();
  expect(await changeDashboard(buckets(), projectId, id, renamed('Back'))).toBeUndefined();
  const next = await made();
  expect(listed()).toMatchObject([{ id: next.id, place: 0 }]);
  expect(await read(projectId, next.id)).toMatchObject({ displayName: 'Board' });
});

it('that is deleted before it is written leaves its place to the next one', async () => {
  let letGo = (): void => {};
  const goOn = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let isHeld = (): void => {};
  const held = new Promise<void>((resolve) => {
    isHeld = resolve;
  });
  const get: typeof dashboards.get = async (key) => {
    const found = await dashboards.get(key);
    isHeld();
    await goOn;
    return found;
  };
  const dashboard = newDashboard();
  const making = createDashboard(buckets({ dashboards: { get } }), projectId, dashboard);
  await held;
  await deleteDashboard(buckets(), projectId, dashboard.id);
  const next = await made();
  letGo();
  await making;
  expect(listed()).toMatchObject([{ id: next.id, place: 0 }]);
  expect(await createReadDashboard(buckets())(projectId, next.id)).toBeDefined();
});

it('is found where memory does not know it yet, and another in its place is not taken for it', async () => {
  const { id } = await made();
  const before = lists.get(projectId);
  const behind = { ...buckets().lists, get: () => undefined };
  expect(await createReadDashboard({ dashboards, lists: behind })(projectId, id)).toBeDefined();
  await deleteDashboard(buckets(), projectId, id);
  await made();
  const stale = createReadDashboard({ dashboards, lists: { ...behind, get: () => before } });
  expect(await stale(projectId, id)).toBeUndefined();
});

async function made(): Promise<Dashboard> {
  const dashboard = newDashboard();
  expect(await createDashboard(buckets(), projectId, dashboard)).toBe('created');
  return dashboard;
}
