// ActivityService.List: the stored events of one project, newest first, one page a call, with the profile of each.

import { create } from '@bufbuild/protobuf';
import {
  type ListRequest,
  ListRequestSchema,
  type ListResponse,
  ListResponseSchema,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import type { Deadline } from '../deadline.ts';
import { mergedIds } from '../identity/merged-ids.ts';
import { readListed, type SegmentOptions } from '../insights/segments/listed-persons.ts';
import type { JsonStandIns } from '../json-codec.ts';
import { readSelection, sealOf } from './activity-selection.ts';
import { type EventPageOptions, readEventPage } from './event-page.ts';

/** Throws invalid_argument for a request that breaks a rule, and the client's errors. */
export async function listActivity(
  options: EventPageOptions & SegmentOptions,
  projectId: string,
  request: ListRequest,
  deadline: Deadline,
  standIns: JsonStandIns | undefined,
): Promise<ListResponse> {
  const seal = sealOf(ListRequestSchema, projectId, request);
  const asked = { ...request, events: [], filtersField: 'filters' };
  const listed = await readListed(options, projectId, request);
  const selection = readSelection(projectId, asked, seal, listed);
  const { events, nextPageToken } = await readEventPage(options, selection, deadline, standIns);
  const ids = new Set(events.map(({ profileId }) => profileId).filter(Boolean));
  const roots = await mergedIds(options.clickhouse, projectId, [...ids], deadline);
  for (const event of events) event.profileId = roots.get(event.profileId) ?? event.profileId;
  const response = create(ListResponseSchema, { nextPageToken });
  response.events = events;
  return response;
}
