// ActivityService.ListVisits: the visits of one project, newest first, one page a call, with the profile of each.
// visit-starts.ts finds the page's visits, visit-facts.ts tells what they are.

import { create } from '@bufbuild/protobuf';
import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import type { Clock } from '../../../platform/clock.ts';
import {
  type ListVisitsRequest,
  ListVisitsRequestSchema,
  type ListVisitsResponse,
  ListVisitsResponseSchema,
  type Visit,
} from '../../../proto/gen/shared/activity/v1/activity_pb.js';
import { encodeCursor } from '../../cursor.ts';
import type { Deadline } from '../../deadline.ts';
import { deletedIds } from '../../identity/deleted-ids.ts';
import { mergedIds } from '../../identity/merged-ids.ts';
import { readPageSize, readPageToken, readTimeRange, sealOf } from '../activity-selection.ts';
import { readVisits } from './visit-facts.ts';
import { readVisitStarts } from './visit-starts.ts';

const pageSizes = { usual: 50, most: 200 };

/** Throws invalid_argument for a request that breaks a rule, resource_exhausted, and the client's errors. */
export async function listVisits(
  { clickhouse, clock }: { clickhouse: RowReader; clock: Clock },
  projectId: string,
  request: ListVisitsRequest,
  deadline: Deadline,
): Promise<ListVisitsResponse> {
  const seal = sealOf(ListVisitsRequestSchema, projectId, request);
  const pageSize = readPageSize(request.pageSize, pageSizes);
  const asked = {
    ...{ projectId, ...readTimeRange(request.timeRange), maxRows: pageSize + 1 },
    after: readPageToken(request.pageToken, seal),
  };
  const starts = await readVisitStarts(clickhouse, asked, clock.nowMs(), deadline);
  const page = starts.slice(0, pageSize);
  const visits = await readVisits(clickhouse, projectId, page, deadline);
  await nameProfiles(clickhouse, projectId, visits, deadline);
  const last = page.at(-1);
  const nextPageToken =
    last === undefined || starts.length <= pageSize
      ? ''
      : encodeCursor({ timeMs: last.startMs, id: last.sessionId }, seal);
  return create(ListVisitsResponseSchema, { visits, nextPageToken });
}

/** Each visit comes with the profile of its event, and leaves with the root of that, unless the root is deleted. */
async function nameProfiles(
  clickhouse: RowReader,
  projectId: string,
  visits: readonly Visit[],
  deadline: Deadline,
): Promise<void> {
  const own = [...new Set(visits.map(({ profileId }) => profileId).filter(Boolean))];
  const roots = await mergedIds(clickhouse, projectId, own, deadline);
  const rootOf = (id: string): string => roots.get(id) ?? id;
  const deleted = await deletedIds(clickhouse, projectId, own.map(rootOf), deadline);
  for (const visit of visits) {
    const root = rootOf(visit.profileId);
    visit.profileId = deleted.has(root) ? '' : root;
  }
}
