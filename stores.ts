// The stores that the service works on, as this version needs them: streams and buckets at the broker, tables at
// ClickHouse. Called by service.ts once the engines run.

import type { Connections, Foundation } from './foundation.ts';
import { finishPendingBatches } from './pipeline/finish-pending.ts';
import { passLostMessages } from './pipeline/lost-messages.ts';
import { refuseLostTables, tableState } from './pipeline/lost-tables.ts';
import type { PipelineOptions } from './pipeline/start.ts';
import { despiteSlowBroker } from './platform/broker/start/slow-broker.ts';
import { ensureTopology } from './platform/broker/topology.ts';
import type { DatabaseClient } from './platform/clickhouse/clickhouse.ts';
import { openStore } from './platform/clickhouse/replica-client.ts';
import { claimStore, matchStore } from './platform/clickhouse/store-identity.ts';
import { splitServers } from './platform/clickhouse/store-urls.ts';
import type { Config } from './platform/config.ts';
import { freeBytes } from './platform/engines/disk-room.ts';
import { eventsDiskBudget } from './platform/engines/embedded-broker.ts';
import type { EngineUrls } from './platform/engines/engines.ts';
import type { Log } from './platform/log.ts';
import { migrate, reloadViews } from './sql/migrate.ts';

// For one statement: a migration that fills a table anew takes 2.5 s for each million of profiles.
const migrationTimeoutMs = 3_600_000;

/**
 * Throws one sentence where the ClickHouse is another one than the broker's events are in, and where it has lost the
 * tables that the broker's ledgers know of.
 */
export async function prepareBroker(
  config: Config,
  { nats, clickhouse }: Connections,
  log: Log,
): Promise<void> {
  const { shards, replicas, eventsMaxBytes = eventsDiskBudget(config.dataDir) } = config;
  await despiteSlowBroker(
    'its streams and buckets are made',
    () => ensureTopology(nats, { eventsMaxBytes, shards, replicas }),
    { log },
  );
  // Nobody publishes at the embedded broker yet; at another one, a writer of a lost stream halts.
  if (config.natsUrl === undefined) await passLostMessages({ nats, shards, log });
  if (clickhouse === undefined) return;
  // Before the migrations, which would change a ClickHouse that is somebody else's.
  const match = await matchStore({ nats, clickhouse });
  if (match === 'another') {
    const isEmpty = (await tableState(clickhouse, 'events')) !== 'filled';
    const isAccepted = config.acceptStore || (isEmpty && config.acceptEmptyTables);
    if (!isAccepted) throw new Error(otherStore(config, isEmpty));
  }
  if (config.acceptEmptyTables) return;
  await refuseLostTables({ nats, clickhouse, shards, isSame: match === 'this' });
}

/** One sentence for the operator, who alone knows which ClickHouse is meant. */
function otherStore({ clickhouseUrl }: Config, isEmpty: boolean): string {
  const [place, advice] =
    clickhouseUrl === undefined
      ? [
          'the embedded one of this data directory',
          'set CLICKHOUSE_URL to one server in every process of this broker, or start on the data directory that has them',
        ]
      : ['the one at CLICKHOUSE_URL', 'name the server and the database that have them'];
  const [orElse, orBack, flag] = isEmpty
    ? [
        ', or that one has lost its data',
        ', or put the data back',
        '--accept-empty-tables (people will have other profile ids than before)',
      ]
    : [', which may be an older copy of it', '', '--accept-store'];
  return (
    `the events of this broker are in another ClickHouse than ${place}${orElse}: ${advice}${orBack}; ` +
    `to go on with it as it is, start once with ${flag}`
  );
}

/** Afterwards no writer of an older version may run. Calls `onMigrating` where the tables have to change. */
export async function prepareTables(
  config: Config,
  { clickhouseUrl }: EngineUrls,
  foundation: Foundation,
  onMigrating: () => Promise<void>,
): Promise<void> {
  const { nats, clickhouse: store, log } = foundation;
  if (clickhouseUrl === undefined || store === undefined) return;
  const options = { log, maxConnections: 1, requestTimeoutMs: migrationTimeoutMs };
  const clickhouse = await openStore(splitServers(clickhouseUrl), options);
  const isEmbedded = config.clickhouseUrl === undefined;
  // Nobody writes to the embedded engine yet; another server has to be restarted by whoever runs it.
  const loadViews = async () => {
    if (isEmbedded) await reloadViews(clickhouse);
  };
  try {
    const hasApplied = await migrate(clickhouse, log, {
      onBegin: onMigrating,
      async beforeRemake() {
        await loadViews();
        await finishPendingBatches(pipelineOptions(config, foundation, store));
      },
      // The directory's lock keeps other processes from the embedded engine.
      isAlone: isEmbedded,
      ...(isEmbedded && { freeBytes: () => freeBytes(config.dataDir) }),
    });
    if (hasApplied) await loadViews();
    // Looked at before; a process with another ClickHouse may have been first meanwhile.
    const match = await claimStore(
      { nats, clickhouse },
      {
        replaces: config.acceptStore || config.acceptEmptyTables,
        // Nobody else reaches the embedded broker: whatever ClickHouse is put beside it again is its own.
        renews: config.natsUrl !== undefined,
      },
    );
    if (match === 'another') throw new Error(otherStore(config, false));
  } finally {
    await clickhouse.close();
  }
}

export function pipelineOptions(
  config: Config,
  { nats, projects, webhooks, clock, log, metrics }: Foundation,
  clickhouse: DatabaseClient,
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
