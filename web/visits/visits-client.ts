// The calls of visits.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import {
  ActivityService,
  type ListVisitsRequestSchema,
  type Visit,
} from '../../proto/gen/shared/activity/v1/activity_pb.js';
import { inProject, transport } from '../client.ts';

export const activity = createClient(ActivityService, transport);

const pageSize = 100;

/** A page with rows, where any follow: among many bots the service may answer none and how far it came. */
export async function loadVisits(
  projectId: string,
  asked: MessageInitShape<typeof ListVisitsRequestSchema>,
  firstToken: string,
  end: AbortSignal,
): Promise<{ rows: Visit[]; next: string }> {
  let pageToken = firstToken;
  for (;;) {
    const page = await activity.listVisits(
      { ...asked, pageSize, pageToken },
      inProject(projectId, end),
    );
    pageToken = page.nextPageToken;
    if (page.visits.length > 0 || pageToken === '') return { rows: page.visits, next: pageToken };
  }
}
