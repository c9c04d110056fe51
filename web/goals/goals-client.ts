// The calls about goals.

import type { MessageInitShape } from '@bufbuild/protobuf';
import { createClient } from '@connectrpc/connect';
import type { MeasureRequestSchema } from '../../proto/gen/dashboard/goals/v1/goals_pb.js';
import { GoalsService } from '../../proto/gen/dashboard/goals/v1/goals_pb.js';
import { transport } from '../client.ts';

export const goalsClient = createClient(GoalsService, transport);

/** The time and the conditions of the page. */
export type Measured = Pick<
  MessageInitShape<typeof MeasureRequestSchema>,
  'timeRange' | 'filters' | 'includeCookieless'
>;
