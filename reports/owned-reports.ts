// The reports of all projects in memory.

import {
  createOwnedItems,
  type ItemSources,
  type Owned,
  type OwnedItems,
} from '../platform/project-items/owned-items.ts';
import { itemOf } from '../platform/project-items/project-items.ts';
import { type Report, ReportSchema } from '../proto/gen/dashboard/reports/v1/reports_pb.js';

export type OwnedReport = Owned & { report: Report };
export type OwnedReports = OwnedItems<{ report: Report }>;

export function createOwnedReports(sources: ItemSources): OwnedReports {
  return createOwnedItems(sources, 'reports', (item) => ({ report: itemOf(ReportSchema, item) }));
}
