// The record of a project's dashboards and their shares, without the dashboards' content. Every process keeps these
// records in memory: a share's token costs a map look-up, and a revocation is everywhere within a second. A dashboard
// that is not listed here does not exist. Only control/ changes records.

import { hasTexts } from '../broker/record-bucket.ts';
import { isTextList } from '../json.ts';

/** One dashboard, as lists show it. Times are RFC 3339. */
export interface ListedDashboard {
  id: string;
  /** Its place among the project's dashboards, from 0. */
  place: number;
  displayName: string;
  /** The revision that this entry was written for. */
  revision: number;
  /** The bytes of its record, for quotas. */
  bytes: number;
  createTime: string;
  updateTime: string;
}

/** A link that shows a dashboard. */
export interface ShareRecord {
  id: string;
  dashboardId: string;
  displayName: string;
  /** SHA-256 of the token. */
  tokenHash: string;
  /** argon2id, where the share asks for a password. */
  passwordHash?: string;
  createTime: string;
  expireTimeMs?: number;
  /** The sites that may show it in a frame, at most 10; absent, none may. */
  embedOrigins?: readonly string[];
}

/** One aggregate: the dashboards of a project and all their shares. */
export interface DashboardListRecord {
  schemaVersion: 1;
  dashboards: readonly ListedDashboard[];
  shares: readonly ShareRecord[];
}

export const emptyList: DashboardListRecord = { schemaVersion: 1, dashboards: [], shares: [] };

/** Narrows a value of the bucket. Fields that this version does not know are kept. */
export function readDashboardList(value: unknown): DashboardListRecord | undefined {
  return isDashboardList(value) ? value : undefined;
}

function isDashboardList(value: unknown): value is DashboardListRecord {
  if (typeof value !== 'object' || value === null) return false;
  if (Reflect.get(value, 'schemaVersion') !== 1) return false;
  const dashboards: unknown = Reflect.get(value, 'dashboards');
  const shares: unknown = Reflect.get(value, 'shares');
  return (
    Array.isArray(dashboards) &&
    dashboards.every(isListed) &&
    Array.isArray(shares) &&
    shares.every(isShare)
  );
}

function isListed(value: unknown): value is ListedDashboard {
  if (typeof value !== 'object' || value === null) return false;
  return (
    hasTexts(value, ['id', 'displayName', 'createTime', 'updateTime']) &&
    ['place', 'revision', 'bytes'].every((name) => Number.isInteger(Reflect.get(value, name)))
  );
}

function isShare(value: unknown): value is ShareRecord {
  if (typeof value !== 'object' || value === null) return false;
  const names = ['id', 'dashboardId', 'displayName', 'tokenHash', 'createTime'];
  // A password or an end in an unknown form is still one: the record must not pass for an open share.
  const embedOrigins: unknown = Reflect.get(value, 'embedOrigins');
  return (
    hasTexts(value, names) &&
    ['string', 'undefined'].includes(typeof Reflect.get(value, 'passwordHash')) &&
    ['number', 'undefined'].includes(typeof Reflect.get(value, 'expireTimeMs')) &&
    (embedOrigins === undefined || isTextList(embedOrigins))
  );
}
