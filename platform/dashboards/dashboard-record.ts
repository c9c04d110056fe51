// The record of one dashboard: its message as protobuf JSON. Records are read one by one and kept nowhere: a project's
// dashboards may have megabytes. A project has a fixed number of places for them, so that deleted dashboards leave
// nothing that grows. Which dashboard is in which place is dashboard-list.ts's; only control/ changes records.

import { fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import {
  type Dashboard,
  DashboardSchema,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { hasTexts } from '../broker/record-bucket.ts';

/** One aggregate: a dashboard with its tiles, in one place of its project. */
export interface DashboardRecord {
  schemaVersion: 1;
  /** The dashboard in this place; empty where it was deleted. */
  id: string;
  /** Protobuf JSON of dashboard.dashboards.v1.Dashboard; absent where it was deleted. */
  dashboard?: JsonValue;
}

/** What a place holds once its dashboard is deleted. */
export const emptyPlace: DashboardRecord = { schemaVersion: 1, id: '' };

/** The key of a place, from 0, in the bucket of dashboards. */
export function placeKey(projectId: string, place: number): string {
  return `${projectId}.${place}`;
}

export function dashboardRecord(dashboard: Dashboard): DashboardRecord {
  return { schemaVersion: 1, id: dashboard.id, dashboard: toJson(DashboardSchema, dashboard) };
}

/** The record's message; undefined where its dashboard was deleted. Throws where it is none that can be read. */
export function dashboardOf({ dashboard }: DashboardRecord): Dashboard | undefined {
  if (dashboard === undefined) return undefined;
  return fromJson(DashboardSchema, dashboard, { ignoreUnknownFields: true });
}

/** Narrows a value of the bucket. */
export function readDashboardRecord(value: unknown): DashboardRecord | undefined {
  return isDashboardRecord(value) ? value : undefined;
}

function isDashboardRecord(value: unknown): value is DashboardRecord {
  if (typeof value !== 'object' || value === null) return false;
  return hasTexts(value, ['id']) && Reflect.get(value, 'schemaVersion') === 1;
}
