// The boards and the forms of questions that the palette leads to.

import { createClient } from '@connectrpc/connect';
import {
  DashboardsService,
  type ListResponse,
} from '../../proto/gen/dashboard/dashboards/v1/dashboards_pb.js';
import { inProject, transport } from '../client.ts';

export { forms } from '../question/forms.ts';

const boards = createClient(DashboardsService, transport);

/** The boards of a project; throws the service's errors. */
export function boardsOf(projectId: string, end: AbortSignal): Promise<ListResponse> {
  return boards.list({}, inProject(projectId, end));
}
