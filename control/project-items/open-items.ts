// Puts together what the methods of a project's small records need.

import { createAlerts } from '../alerts/alert-rpc.ts';
import { createAnnotations } from '../annotations/annotation-rpc.ts';
import type { ControlBuckets } from '../buckets.ts';
import { createGoals } from '../goals/goal-rpc.ts';
import type { ProjectsByOrganization } from '../projects/by-organization.ts';
import { createReports } from '../reports/report-rpc.ts';
import { createSegments } from '../segments/segment-rpc.ts';

export function openItems(
  {
    projectItems: items,
    alertStates,
    reportStates,
  }: Pick<ControlBuckets, 'projectItems' | 'alertStates' | 'reportStates'>,
  byOrganization: ProjectsByOrganization,
) {
  const deps = { items, byOrganization };
  return {
    annotations: createAnnotations(deps),
    goals: createGoals(deps),
    alerts: createAlerts(deps),
    segments: createSegments(deps),
    alertStates,
    reports: createReports(deps),
    reportStates,
  };
}
