// ActivityService.ListVisits: the visits of one project, newest first, one page a call, with the profile of each.
// visit-starts.ts finds the page's visits, visit-facts.ts tells what they are.

import { create } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import type { RowReader } from '../../../platform/clickhouse/select-rows.ts';
import {
  type ListVisitsRequest,
  ListVisitsRequestSchema,
  type ListVisitsResponse,
  ListVisitsResponseSchema,
  type Visit,
} from '../../../proto/gen/shared/activity/v1/activity_pb.js';
import { encodeCursor, type Position } from '../../cursor.ts';
import type { Deadline } from '../../deadline.ts';
import { mergedIds } from '../../identity/merged-ids.ts';
import { profileNames } from '../../identity/profile-names.ts';
import { readListed, type SegmentOptions } from '../../insights/segments/listed-persons.ts';
import {
  readFilters,
  readPageSize,
  readPageToken,
  readTimeRange,
  sealOf,
} from '../activity-selection.ts';
import { readVisits } from './visit-facts.ts';
import { readVisitStarts } from './visit-starts.ts';

const pageSizes = { usual: 50, most: 200 };

/** Throws invalid_argument for a request that breaks a rule, resource_exhausted, and the client's errors. */
export async function listVisits(
  { clickhouse, ...options }: { clickhouse: RowReader } & SegmentOptions,
  projectId: string,
  request: ListVisitsRequest,
  deadline: Deadline,
): Promise<ListVisitsResponse> {
  const seal = sealOf(ListVisitsRequestSchema, projectId, request);
  const pageSize = readPageSize(request.pageSize, pageSizes);
  const range = readTimeRange(request.timeRange);
  const meets = readFilters(request.filters);
  const listed = await readListed(options, projectId, request);
  const asked = { projectId, ...range, range, meets, listed, maxRows: pageSize + 1 };
  const nowMs = options.clock.nowMs();
  const readPage = async (after: Position | undefined) => {
    const starts = await readVisitStarts(clickhouse, { ...asked, after }, nowMs, deadline);
    const page = starts.slice(0, pageSize);
    const visits = await readVisits(clickhouse, projectId, page, deadline);
    const last = starts.length > pageSize ? page.at(-1) : undefined;
    return { visits, next: last && { timeMs: last.startMs, id: last.sessionId } };
  };
  const after = readPageToken(request.pageToken, seal);
  const { visits, next } = request.leaveOutBots
    ? await readPeople(readPage, after, pageSize)
    : await readPage(after);
  await nameProfiles(clickhouse, projectId, visits, deadline);
  const nextPageToken = next === undefined ? '' : encodeCursor(next, seal);
  return create(ListVisitsResponseSchema, { visits, nextPageToken });
}

interface VisitsPage {
  visits: Visit[];
  /** The last visit, where more follow. */
  next: Position | undefined;
}

/** Beyond so many pages of hardly anything but bots, a page is short: `next` says how far the look came. */
const maxPages = 10;

/**
 * Whose visit it is, its events say and not the table of starts, so that pages are read whole and bots taken from them.
 */
async function readPeople(
  readPage: (after: Position | undefined) => Promise<VisitsPage>,
  after: Position | undefined,
  pageSize: number,
): Promise<VisitsPage> {
  const visits: Visit[] = [];
  let next = after;
  for (let page = 0; page < maxPages; page++) {
    const read = await readPage(next);
    visits.push(...read.visits.filter(({ bot }) => !bot));
    next = read.next;
    if (visits.length > pageSize) {
      visits.length = pageSize;
      next = placeOf(visits.at(-1));
    }
    if (next === undefined || visits.length === pageSize) break;
  }
  return { visits, next };
}

function placeOf(visit: Visit | undefined): Position | undefined {
  if (visit?.startTime === undefined) return undefined;
  return { timeMs: timestampMs(visit.startTime), id: visit.sessionId };
}

/**
 * Each visit comes with the profile of its event, and leaves with the root of that and its name, unless the root is
 * deleted.
 */
async function nameProfiles(
  clickhouse: RowReader,
  projectId: string,
  visits: readonly Visit[],
  deadline: Deadline,
): Promise<void> {
  const own = [...new Set(visits.map(({ profileId }) => profileId).filter(Boolean))];
  const roots = await mergedIds(clickhouse, projectId, own, deadline);
  const rootOf = (id: string): string => roots.get(id) ?? id;
  const names = await profileNames(clickhouse, projectId, own.map(rootOf), deadline);
  for (const visit of visits) {
    const root = rootOf(visit.profileId);
    const { deleted, name } = names.get(root) ?? { deleted: false, name: '' };
    visit.profileId = deleted ? '' : root;
    visit.userName = deleted ? '' : name;
  }
}
