// The log of attempts as the management interface reads it. Its writer is write-attempts.ts.

import type { RowReader } from '../../platform/clickhouse/select-rows.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Log } from '../../platform/log.ts';
import { createBoundedReads } from './bounded-reads.ts';
import { type AttemptPage, type AttemptQuery, readAttempts } from './read-attempts.ts';
import {
  type DeliverySelection,
  readDeliveries,
  readDelivery,
  type StoredDelivery,
} from './read-deliveries.ts';

/** Each call throws ConnectError where the log cannot be read now; see bounded-reads.ts. */
export interface AttemptLog {
  /** The newest first. Where `gone` aborts, the read gives up its place among those that wait. */
  readAttempts(query: AttemptQuery, gone?: AbortSignal): Promise<AttemptPage>;
  /** Undefined where the webhook has no such delivery in the log. */
  readDelivery(
    organizationId: string,
    webhookId: string,
    deliveryId: string,
  ): Promise<StoredDelivery | undefined>;
  /** The oldest first, at most `limit`; fewer where payloads are long. Only an empty page is the end. */
  readDeliveries(
    organizationId: string,
    webhookId: string,
    selection: DeliverySelection,
    limit: number,
  ): Promise<readonly StoredDelivery[]>;
}

export function createAttemptLog(options: {
  clickhouse: RowReader;
  clock: Clock;
  log: Log;
  ownerOf?: (organizationId: string) => string | undefined;
}): AttemptLog {
  const parts = { reads: createBoundedReads(options), clock: options.clock };
  return {
    readAttempts: (query, gone) => readAttempts(parts, query, gone),
    readDelivery: (organizationId, webhookId, deliveryId) =>
      readDelivery(parts, { organizationId, webhookId }, deliveryId),
    readDeliveries: (organizationId, webhookId, selection, limit) =>
      readDeliveries(parts, { organizationId, webhookId }, selection, limit),
  };
}
