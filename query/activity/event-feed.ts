// ActivityService.GetActivityFeed and GetEventExplorer: pages of stored events with plain values. The two have messages
// of one form; ActivityService.List keeps the types of values.

import { create } from '@bufbuild/protobuf';
import {
  type GetActivityFeedRequest,
  GetActivityFeedRequestSchema,
  type GetActivityFeedResponse,
  GetActivityFeedResponseSchema,
  type GetEventExplorerRequest,
  GetEventExplorerRequestSchema,
  type GetEventExplorerResponse,
  GetEventExplorerResponseSchema,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import type { Deadline } from '../deadline.ts';
import { readListed, type SegmentOptions } from '../insights/segments/listed-persons.ts';
import type { JsonStandIns } from '../json-codec.ts';
import { readSelection, sealOf } from './activity-selection.ts';
import { type EventPageOptions, readEventPage } from './event-page.ts';
import { plainEvent } from './plain-event.ts';

/** Throws invalid_argument for a request that breaks a rule, and the client's errors. */
export async function getActivityFeed(
  options: EventPageOptions & SegmentOptions,
  projectId: string,
  request: GetActivityFeedRequest,
  deadline: Deadline,
  standIns: JsonStandIns | undefined,
): Promise<GetActivityFeedResponse> {
  const seal = sealOf(GetActivityFeedRequestSchema, projectId, request);
  const page = await readFeed(options, projectId, { request, seal }, deadline, standIns);
  return create(GetActivityFeedResponseSchema, page);
}

/** Throws like getActivityFeed. */
export async function getEventExplorer(
  options: EventPageOptions & SegmentOptions,
  projectId: string,
  request: GetEventExplorerRequest,
  deadline: Deadline,
  standIns: JsonStandIns | undefined,
): Promise<GetEventExplorerResponse> {
  const seal = sealOf(GetEventExplorerRequestSchema, projectId, request);
  const page = await readFeed(options, projectId, { request, seal }, deadline, standIns);
  return create(GetEventExplorerResponseSchema, page);
}

async function readFeed(
  options: EventPageOptions & SegmentOptions,
  projectId: string,
  asked: { request: GetActivityFeedRequest | GetEventExplorerRequest; seal: Uint8Array },
  deadline: Deadline,
  standIns: JsonStandIns | undefined,
) {
  const { propertyFilters: filters, ...request } = asked.request;
  const named = { ...request, filters, filtersField: 'propertyFilters', profileId: '', kinds: [] };
  const listed = await readListed(options, projectId, request);
  const selection = readSelection(projectId, named, asked.seal, listed);
  const { events, nextPageToken } = await readEventPage(options, selection, deadline, undefined);
  return { events: events.map((event) => plainEvent(event, standIns)), nextPageToken };
}
