// The calls about goals.

import { createClient } from '@connectrpc/connect';
import { GoalsService } from '../../proto/gen/dashboard/goals/v1/goals_pb.js';
import { transport } from '../client.ts';

export const goalsClient = createClient(GoalsService, transport);
