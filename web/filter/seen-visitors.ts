// Whether a project has bots and cookieless visitors: lists of users and events ask for both at once, before anything
// else, because what they ask then depends on it. A board says itself whether there are bots.

import { createClient } from '@connectrpc/connect';
import { InsightsService } from '../../proto/gen/shared/insights/v1/insights_pb.js';
import { inProject, transport } from '../client.ts';
import { type Resource, useResource } from '../resource.ts';
import { botProperty } from './condition.ts';

const insights = createClient(InsightsService, transport);

export type SeenVisitors = { hasBots: boolean; hasCookieless: boolean };

export function useSeenVisitors(projectId: string): Resource<SeenVisitors> {
  return useResource(`visitors ${projectId}`, async (end) => {
    const { hasBots, hasCookieless } = await insights.getFilterSchema(
      { prefix: botProperty, limit: 1 },
      inProject(projectId, end),
    );
    return { hasBots, hasCookieless };
  });
}
