// The stores that the service works on, as this version needs them: streams and buckets at the broker, tables at
// ClickHouse. Called by service.ts once the engines run.

import type { Connections, Foundation } from './foundation.ts';
import { finishPendingBatches } from './pipeline/finish-pending.ts';
import { passLostMessages } from './pipeline/lost-messages.ts';
import { refuseLostTables } from './pipeline/lost-tables.ts';
import type { PipelineOptions } from './pipeline/start.ts';
import { despiteSlowBroker } from './platform/broker/start/slow-broker.ts';
import { ensureTopology } from './platform/broker/topology.ts';
import { createClickHouse } from './platform/clickhouse/clickhouse.ts';
import type { Config } from './platform/config.ts';
import { freeBytes } from './platform/engines/disk-room.ts';
import { eventsDiskBudget } from './platform/engines/embedded-broker.ts';
import type { EngineUrls } from './platform/engines/engines.ts';
import type { Log } from './platform/log.ts';
import { migrate, reloadViews } from './sql/migrate.ts';

// For one statement: a migration that fills a table anew takes 2.5 s for each million of profiles.
const migrationTimeoutMs = 3_600_000;

/** Throws one sentence where a ClickHouse has lost the tables that the broker's ledgers know of. */
export async function prepareBroker(
  config: Config,
  { nats, clickhouse }: Connections,
  log: Log,
): Promise<void> {
  const { shards, eventsMaxBytes = eventsDiskBudget(config.dataDir) } = config;
  await despiteSlowBroker(
    'its streams and buckets are made',
    () => ensureTopology(nats, { eventsMaxBytes, shards }),
    { log },
  );
  // Nobody publishes at the embedded broker yet; at another one, a writer of a lost stream halts.
  if (config.natsUrl === undefined) await passLostMessages({ nats, shards, log });
  if (!config.acceptEmptyTables) await refuseLostTables({ nats, clickhouse, shards });
}

/** Afterwards no writer of an older version may run. */
export async function prepareTables(
  config: Config,
  { clickhouseUrl }: EngineUrls,
  foundation: Foundation,
): Promise<void> {
  const { log } = foundation;
  const options = { log, maxConnections: 1, requestTimeoutMs: migrationTimeoutMs };
  const clickhouse = createClickHouse(clickhouseUrl, options);
  const isEmbedded = config.clickhouseUrl === undefined;
  // Nobody writes to the embedded engine yet; another server has to be restarted by whoever runs it.
  const loadViews = async () => {
    if (isEmbedded) await reloadViews(clickhouse);
  };
  try {
    const hasApplied = await migrate(clickhouse, log, {
      async beforeRemake() {
        await loadViews();
        await finishPendingBatches(pipelineOptions(config, foundation));
      },
      // The directory's lock keeps other processes from the embedded engine.
      isAlone: isEmbedded,
      ...(isEmbedded && { freeBytes: () => freeBytes(config.dataDir) }),
    });
    if (hasApplied) await loadViews();
  } finally {
    await clickhouse.close();
  }
}

export function pipelineOptions(
  config: Config,
  { nats, clickhouse, projects, webhooks, clock, log, metrics }: Foundation,
): PipelineOptions {
  return {
    nats,
    clickhouse,
    shards: config.shards,
    threads: config.pipelineThreads,
    seenMaxBytes: config.seenMaxBytes,
    webhooks: {
      webhooks,
      organizationOf: (projectId) => projects.get(projectId)?.record.organizationId,
      privateOnly: config.webhooks.privateOnly,
    },
    clock,
    log,
    metrics,
  };
}
