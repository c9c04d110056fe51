// Puts together what the methods of a project's small records need.

import type { Annotation } from '../../proto/gen/dashboard/annotations/v1/annotations_pb.js';
import type { Goal } from '../../proto/gen/dashboard/goals/v1/goals_pb.js';
import type { Segment } from '../../proto/gen/dashboard/segments/v1/segments_pb.js';
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

/** What others than its own methods read of a project's records, in memory. */
export interface ItemReads {
  goalsOf(projectId: string): readonly Goal[];
  annotationsOf(projectId: string): readonly Annotation[];
  /** Undefined where the project has no segment of that id. */
  findSegment(projectId: string, id: string): Promise<Segment | undefined>;
}

export function itemReads({
  goals,
  annotations,
  segments,
}: Pick<ReturnType<typeof openItems>, 'goals' | 'annotations' | 'segments'>): ItemReads {
  return {
    goalsOf: (projectId) => goals.list(projectId),
    annotationsOf: (projectId) => annotations.list(projectId),
    findSegment: (projectId, id) => segments.look(projectId, id),
  };
}
