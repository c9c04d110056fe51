// Changes the records of dashboards. A dashboard is in two records: its content in a place of its own, its entry in the
// project's list, which decides whether it exists. A new one is listed first and a deleted one unlisted first, so that
// after a crash between the two nothing is there that is not listed.

import { timestampDate } from '@bufbuild/protobuf/wkt';
import type { RecordBucket } from '../../platform/broker/record-bucket.ts';
import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import {
  type DashboardListRecord,
  emptyList,
  type ListedDashboard,
} from '../../platform/dashboards/dashboard-list.ts';
import { findListed } from '../../platform/dashboards/dashboard-reader.ts';
import {
  type DashboardRecord,
  dashboardOf,
  dashboardRecord,
  emptyPlace,
  placeKey,
} from '../../platform/dashboards/dashboard-record.ts';
import { type Change, changeRecord } from '../../platform/records/change-record.ts';
import type { Dashboard } from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { invalidArgument } from '../request-fields.ts';

export interface DashboardBuckets {
  dashboards: Pick<RecordBucket<DashboardRecord>, 'get' | 'create' | 'update'>;
  lists: Pick<WatchedBucket<DashboardListRecord>, 'get' | 'ask' | 'create' | 'update'>;
}

export const maxDashboards = 200;
const maxDashboardBytes = 524_288;

/** Changes the list of a project as changeRecord does; a project without one has an empty list. */
export async function changeList<R>(
  { lists }: Pick<DashboardBuckets, 'lists'>,
  projectId: string,
  decide: (list: DashboardListRecord) => Change<DashboardListRecord, R>,
): Promise<R> {
  for (;;) {
    const changed = await changeRecord(lists, projectId, decide);
    if (changed.kind === 'done') return changed.answer;
    const first = decide(emptyList);
    if ('leave' in first) return first.leave;
    const written = await lists.create(projectId, first.write);
    if (written.kind === 'written') return first.answer;
  }
}

/** The bytes of the dashboard's record. Throws invalid_argument where they are too many, or cannot be written. */
export function sizeOf(dashboard: Dashboard): number {
  let text: string;
  try {
    text = JSON.stringify(dashboardRecord(dashboard));
  } catch {
    throw invalidArgument('tiles', 'hold a time or duration that cannot be written');
  }
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxDashboardBytes) return bytes;
  throw invalidArgument('tiles', `a dashboard takes at most ${maxDashboardBytes} bytes`);
}

/** Makes a dashboard that has its id. `full`: the project has all the dashboards that it may have. */
export async function createDashboard(
  buckets: DashboardBuckets,
  projectId: string,
  dashboard: Dashboard,
): Promise<'created' | 'full'> {
  const bytes = sizeOf(dashboard);
  const place = await changeList(buckets, projectId, (list) => {
    const free = freePlace(list);
    if (free === undefined) return { leave: undefined };
    const dashboards = [...list.dashboards, entryOf(dashboard, free, bytes)];
    return { write: { ...list, dashboards }, answer: free };
  });
  if (place === undefined) return 'full';
  try {
    await fill(buckets, projectId, place, dashboardRecord(dashboard));
  } catch (error) {
    // What cannot be taken back now can be deleted by its owner.
    await unlist(buckets, projectId, dashboard.id).catch(() => {});
    throw error;
  }
  return 'created';
}

/**
 * Writes the dashboard that `decide` returns for the newest one, as changeRecord does. Undefined where there is no such
 * dashboard.
 */
export async function changeDashboard(
  buckets: DashboardBuckets,
  projectId: string,
  id: string,
  decide: (dashboard: Dashboard, bytes: number) => Dashboard,
): Promise<Dashboard | undefined> {
  const { dashboards, lists } = buckets;
  const listed = await findListed(lists, projectId, id);
  if (listed === undefined) return undefined;
  const records = {
    ask: dashboards.get.bind(dashboards),
    create: dashboards.create.bind(dashboards),
    update: dashboards.update.bind(dashboards),
  };
  const changed = await changeRecord(records, placeKey(projectId, listed.place), (record) => {
    const before = record.id === id ? dashboardOf(record) : undefined;
    if (before === undefined) return { leave: undefined };
    const after = decide(before, listed.bytes);
    const answer = { after, bytes: sizeOf(after) };
    return { write: dashboardRecord(after), answer };
  });
  if (changed.kind === 'absent' || changed.answer === undefined) return undefined;
  const { after, bytes } = changed.answer;
  await relist(buckets, projectId, entryOf(after, listed.place, bytes));
  return after;
}

/** Deletes a dashboard with its shares; false where there is none. */
export async function deleteDashboard(
  buckets: DashboardBuckets,
  projectId: string,
  id: string,
): Promise<boolean> {
  const listed = await unlist(buckets, projectId, id);
  if (listed === undefined) return false;
  // The dashboard is gone already. Where this fails, its bytes stay until its place is taken again.
  await empty(buckets, placeKey(projectId, listed.place), id).catch(() => {});
  return true;
}

function unlist(
  buckets: DashboardBuckets,
  projectId: string,
  id: string,
): Promise<ListedDashboard | undefined> {
  return changeList(buckets, projectId, (list) => {
    const listed = list.dashboards.find((one) => one.id === id);
    if (listed === undefined) return { leave: undefined };
    const dashboards = list.dashboards.filter((one) => one !== listed);
    const shares = list.shares.filter(({ dashboardId }) => dashboardId !== id);
    return { write: { ...list, dashboards, shares }, answer: listed };
  });
}

/** Of two changes at once, the entry of the later one stays. */
function relist(
  buckets: DashboardBuckets,
  projectId: string,
  entry: ListedDashboard,
): Promise<void> {
  return changeList(buckets, projectId, (list) => {
    const known = list.dashboards.find(({ id }) => id === entry.id);
    if (known === undefined || known.revision >= entry.revision) return { leave: undefined };
    const dashboards = list.dashboards.map((one) => (one === known ? entry : one));
    return { write: { ...list, dashboards }, answer: undefined };
  });
}

/**
 * Writes into a place that was free: absent, emptied, or with what a crash left there. Where the dashboard was deleted
 * meanwhile, the place may be another's: its revision is read before the list, so that nothing of the other is lost.
 */
async function fill(
  { dashboards, lists }: DashboardBuckets,
  projectId: string,
  place: number,
  record: DashboardRecord,
): Promise<void> {
  const key = placeKey(projectId, place);
  for (;;) {
    const found = await dashboards.get(key);
    const list = await lists.ask(projectId);
    if (list.kind !== 'found' || !list.record.dashboards.some(({ id }) => id === record.id)) return;
    const written =
      found.kind === 'absent'
        ? await dashboards.create(key, record)
        : await dashboards.update(key, record, found.revision);
    if (written.kind === 'written') return;
  }
}

/** Empties a place, unless the next dashboard is in it already. */
async function empty({ dashboards }: DashboardBuckets, key: string, id: string): Promise<void> {
  for (;;) {
    const found = await dashboards.get(key);
    if (found.kind !== 'found' || found.record.id !== id) return;
    const written = await dashboards.update(key, emptyPlace, found.revision);
    if (written.kind === 'written') return;
  }
}

function freePlace({ dashboards }: DashboardListRecord): number | undefined {
  const taken = new Set(dashboards.map(({ place }) => place));
  for (let place = 0; place < maxDashboards; place++) if (!taken.has(place)) return place;
  return undefined;
}

function entryOf(dashboard: Dashboard, place: number, bytes: number): ListedDashboard {
  const { id, displayName, revision, createTime, updateTime } = dashboard;
  const text = (time: typeof createTime): string =>
    time === undefined ? '' : timestampDate(time).toISOString();
  return {
    id,
    place,
    displayName,
    revision,
    bytes,
    createTime: text(createTime),
    updateTime: text(updateTime),
  };
}
