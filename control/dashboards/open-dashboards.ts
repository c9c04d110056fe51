// Puts together what the methods of DashboardsService need.

import type { Clock } from '../../platform/clock.ts';
import { createReadDashboard } from '../../platform/dashboards/dashboard-reader.ts';
import type { ControlBuckets } from '../buckets.ts';
import { createDashboardReads, type DashboardDeps } from './dashboard-rpc.ts';
import type { CheckQuestion, CheckStatement } from './tile-fields.ts';

export function openDashboards(
  { dashboards, dashboardLists }: Pick<ControlBuckets, 'dashboards' | 'dashboardLists'>,
  {
    checkQuestion,
    checkStatement,
    clock,
  }: { checkQuestion: CheckQuestion; checkStatement: CheckStatement; clock: Clock },
): Omit<DashboardDeps, 'byOrganization'> {
  const dashboardBuckets = { dashboards, lists: dashboardLists };
  return {
    dashboardBuckets,
    readDashboard: createReadDashboard(dashboardBuckets),
    dashboardReads: createDashboardReads(clock),
    ...{ checkQuestion, checkStatement },
    clock,
  };
}
