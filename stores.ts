// The stores that the service works on, as this version needs them: streams and buckets at the broker, tables at
// ClickHouse. Called by service.ts once the engines run.

import { randomUUID } from 'node:crypto';
import type { Connections, Foundation } from './foundation.ts';
import { finishPendingBatches } from './pipeline/finish-pending.ts';
import type { LeaseOptions, Term } from './pipeline/lease/lease.ts';
import { takeForMigrations } from './pipeline/lease/migration-term.ts';
import { openOwnerFile } from './pipeline/lease/owner-file.ts';
import { openOwnerBucket } from './pipeline/lease/owner-record.ts';
import { passLostMessages } from './pipeline/lost-messages.ts';
import { refuseLostTables, tableState } from './pipeline/lost-tables.ts';
import type { PipelineOptions } from './pipeline/start.ts';
import type { NatsConnection } from './platform/broker/nats.ts';
import { despiteSlowBroker } from './platform/broker/start/slow-broker.ts';
import { ensureTopology } from './platform/broker/topology.ts';
import type { DatabaseClient } from './platform/clickhouse/clickhouse.ts';
import type { Groups } from './platform/clickhouse/groups.ts';
import { openStore } from './platform/clickhouse/replica-client.ts';
import { claimStore, matchStore, type StoreMatch } from './platform/clickhouse/store-identity.ts';
import { splitGroups } from './platform/clickhouse/store-urls.ts';
import type { Config } from './platform/config.ts';
import { freeBytes } from './platform/engines/disk-room.ts';
import { eventsDiskBudget } from './platform/engines/embedded-broker.ts';
import type { EngineUrls } from './platform/engines/engines.ts';
import type { Log } from './platform/log.ts';
import { countMigrations, type MigrateOptions, migrate, reloadViews } from './sql/migrate.ts';
import { createReplicatedDatabases, requireSameTables } from './sql/replicas.ts';

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
  const { all: groups } = clickhouse;
  // Before the migrations, which would change a ClickHouse that is somebody else's.
  const match = await matchStore({ nats, groups });
  await refuseOther(config, match, groups);
  if (config.acceptEmptyTables) return;
  for (const [place, group] of groups.entries()) {
    const name = groups.length === 1 ? 'ClickHouse' : `group ${place + 1} of ClickHouse`;
    const ofGroup = { clickhouse: group, shards: clickhouse.shardsAt(place), name };
    await refuseLostTables({ nats, ...ofGroup, isSame: match.kind === 'this' });
  }
}

/** Throws one sentence for the operator, who alone knows which ClickHouse is meant, unless they have accepted it. */
async function refuseOther(
  config: Config,
  match: StoreMatch,
  groups: readonly DatabaseClient[],
): Promise<void> {
  switch (match.kind) {
    case 'this':
    case 'unclaimed':
      return;
    case 'otherCount':
      throw new Error(
        `the events of this broker are in ${countOf(match.kept)} of ClickHouse, and CLICKHOUSE_URL names ` +
          `${countOf(groups.length)}: a shard stays in its group, so name the same groups in the same order`,
      );
    case 'otherOrder':
      throw new Error(
        'CLICKHOUSE_URL names the groups of ClickHouse in another order than at the first start: a shard stays in its ' +
          'group, so name them in the order of before',
      );
    case 'another': {
      const group = groups[match.place];
      const isEmpty = group !== undefined && (await tableState(group, 'events')) !== 'filled';
      if (config.acceptStore || (isEmpty && config.acceptEmptyTables)) return;
      throw new Error(otherStore(config, { isEmpty, place: match.place, of: groups.length }));
    }
    default: {
      const unknown: never = match;
      throw new Error(`unknown: ${JSON.stringify(unknown)}`);
    }
  }
}

function countOf(groups: number): string {
  return groups === 1 ? 'one group' : `${groups} groups`;
}

function otherStore(
  { clickhouseUrl }: Config,
  { isEmpty, place, of }: { isEmpty: boolean; place: number; of: number },
): string {
  const [where, advice] =
    clickhouseUrl === undefined
      ? [
          'the embedded one of this data directory',
          'set CLICKHOUSE_URL to one server in every process of this broker, or start on the data directory that has them',
        ]
      : [
          `the one at CLICKHOUSE_URL${of === 1 ? '' : ` (group ${place + 1})`}`,
          'name the server and the database that have them',
        ];
  const [orElse, orBack, flag] = isEmpty
    ? [
        ', or that one has lost its data',
        ', or put the data back',
        '--accept-empty-tables (people will have other profile ids than before)',
      ]
    : [', which may be an older copy of it', '', '--accept-store'];
  return (
    `the events of this broker are in another ClickHouse than ${where}${orElse}: ${advice}${orBack}; ` +
    `to go on with it as it is, start once with ${flag}`
  );
}

/** Who changes the tables, and whether it still may. */
type MigrationTurn = Pick<MigrateOptions, 'onBegin' | 'beforeStatement'>;

/** Afterwards no writer of an older version may run. Calls `onMigrating` where the tables have to change. */
export async function prepareTables(
  config: Config,
  { clickhouseUrl }: EngineUrls,
  foundation: Foundation,
  onMigrating: () => Promise<void>,
): Promise<void> {
  const { nats, clickhouse: stores, log } = foundation;
  if (clickhouseUrl === undefined || stores === undefined) return;
  const { clickhouseReplicated: isReplicated } = config;
  const options = { log, maxConnections: 1, requestTimeoutMs: migrationTimeoutMs, isReplicated };
  const groups: DatabaseClient[] = [];
  let term: Term | undefined;
  const turn: MigrationTurn = {
    async onBegin(isMissing) {
      if (term !== undefined) return;
      await onMigrating();
      const lease = await leaseOptions(config, nats, log);
      if (lease !== undefined) term = await takeForMigrations(lease, isMissing);
    },
    beforeStatement: async () => term?.requireHeld(),
  };
  try {
    const urlsOfGroups = splitGroups(clickhouseUrl);
    for (const [place, urls] of urlsOfGroups.entries()) {
      if (isReplicated) await createReplicatedDatabases(urls, place, log);
      const clickhouse = await openStore(urls, options);
      groups.push(clickhouse);
      await migrateGroup(config, clickhouse, { place, log, turn }, () =>
        finishPendingBatches(pipelineOptions(config, foundation, stores), stores.shardsAt(place)),
      );
    }
    // Looked at before; a process with another ClickHouse may have been first meanwhile.
    const match = await claimStore(
      { nats, groups },
      {
        replaces: config.acceptStore || config.acceptEmptyTables,
        // Nobody else reaches the embedded broker: whatever ClickHouse is put beside it again is its own.
        renews: config.natsUrl !== undefined,
      },
    );
    await refuseOther({ ...config, acceptStore: false, acceptEmptyTables: false }, match, groups);
    for (const [place, urls] of urlsOfGroups.entries()) {
      await requireSameTables(urls, `group ${place + 1} of ClickHouse`, log);
    }
  } finally {
    await term?.end();
    await Promise.all(groups.map((clickhouse) => clickhouse.close()));
  }
}

async function migrateGroup(
  config: Config,
  clickhouse: DatabaseClient,
  { place, log, turn }: { place: number; log: Log; turn: MigrationTurn },
  finishPending: () => Promise<void>,
): Promise<void> {
  const isEmbedded = config.clickhouseUrl === undefined;
  await migrate(clickhouse, log, {
    ...turn,
    ...(config.clickhouseReplicated && { replicatedPlace: place }),
    async beforeRemake() {
      // What was promised before the views were changed is known to them once they are loaded.
      if (!config.clickhouseReplicated) await reloadViews(clickhouse, turn);
      await finishPending();
    },
    // The directory's lock keeps other processes from the embedded engine.
    isAlone: isEmbedded,
    ...(isEmbedded && { freeBytes: () => freeBytes(config.dataDir) }),
  });
}

/** By which several processes have one owner of the shards; undefined where no other process reaches the broker. */
export async function leaseOptions(
  { natsUrl, dataDir }: Config,
  nats: NatsConnection,
  log: Log,
): Promise<LeaseOptions | undefined> {
  if (natsUrl === undefined) return undefined;
  const bucket = await openOwnerBucket(nats);
  const owner = randomUUID();
  return { bucket, owner, ...openOwnerFile(dataDir, log), migrations: countMigrations(), log };
}

export function pipelineOptions(
  config: Config,
  { nats, projects, webhooks, clock, log, metrics }: Foundation,
  clickhouse: Groups<DatabaseClient>,
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
