// Registers OperatorService, which reads over all projects. Its callers are super admins: the table of access says so.

import { create } from '@bufbuild/protobuf';
import type { ConnectRouter, HandlerContext } from '@connectrpc/connect';
import type { Clock } from '../../platform/clock.ts';
import type { ShardAccount } from '../../platform/ledger/shard-account.ts';
import {
  ListDeadLettersResponseSchema,
  OperatorService,
} from '../../proto/gen/dashboard/operator/v1/operator_pb.js';
import { type CallOptions, read } from '../calls/read-call.ts';
import { readDeadLetters, readPageAsked } from '../watch/dead-letter-page.ts';
import { getHealth, type HealthOptions } from './health.ts';
import { listLedgerHours } from './ledger-hours.ts';

export interface OperatorOptions extends Omit<HealthOptions, 'clock'> {
  account(shard: number): Promise<ShardAccount>;
  callerOf(context: HandlerContext): { customerId: string };
}

/** Turns at the engine are a project's; this is no project's id. */
const noProject = 'operator';

export function registerOperator(
  router: ConnectRouter,
  calls: CallOptions & { clock: Clock },
  options: OperatorOptions,
): void {
  const { callerOf } = options;
  const { clock } = calls;
  const shared = {
    ...calls,
    readerOf: (context: HandlerContext) => {
      return { projectId: noProject, keyId: callerOf(context).customerId };
    },
  };
  const shards = Array.from({ length: options.shards }, (_, shard) => shard);
  const { getHealth: health, listLedgerHours: hours, listDeadLetters } = OperatorService.method;
  router.rpc(health, (_, context) =>
    read(shared, 'look-up', context, () => getHealth({ ...options, clock })),
  );
  router.rpc(hours, (request, context) =>
    read(shared, 'look-up', context, () =>
      listLedgerHours(
        {
          clock,
          accounts: () => Promise.all(shards.map((shard) => options.account(shard))),
          queuedMessages: async () => {
            const queues = shards.map((shard) => options.queue(shard, 'events'));
            const all = await Promise.all(queues).catch(() => undefined);
            return all?.reduce((sum, { messages }) => sum + messages, 0);
          },
        },
        request,
      ),
    ),
  );
  router.rpc(listDeadLetters, (request, context) =>
    read(shared, 'search', context, async ({ everywhere }, deadline) => {
      const asked = readPageAsked(undefined, request);
      const at = { nowMs: clock.nowMs(), deadline };
      const { letters, nextPageToken } = await readDeadLetters(everywhere(), undefined, asked, at);
      return create(ListDeadLettersResponseSchema, {
        deadLetters: letters.map(({ projectId, letter }) => {
          const { $typeName: _activitys, ...fields } = letter;
          return { ...fields, projectId };
        }),
        nextPageToken,
      });
    }),
  );
}
