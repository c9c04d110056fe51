// Third of the composition, after main.ts and service.ts or member.ts: the ground of each process that serves requests.
// Connects to both engines, checks that they answer, knows who may call. port.ts builds on it; nothing listens here.

import { existsSync } from 'node:fs';
import { dirname } from 'node:path';
import type { HandlerContext } from '@connectrpc/connect';
import { network } from './control/auth/attempts.ts';
import type { ImportSettings } from './control/imports/import-rpc.ts';
import { startControl } from './control/start.ts';
import { type CallerOptions, CallerReader } from './ingest/caller/caller.ts';
import type { LocateAddress } from './ingest/caller/geo.ts';
import { customerOf } from './platform/access/auth-interceptor.ts';
import { createAuthenticate } from './platform/access/authenticate.ts';
import { notingUses, startKeyUses } from './platform/access/keys/key-uses.ts';
import { createOnlyThisMachine } from './platform/access/only-this-machine.ts';
import { createOwnerOfProject } from './platform/access/organizations.ts';
import { ProjectDirectory, readProject } from './platform/access/projects.ts';
import { followBucketRoom } from './platform/broker/bucket-room.ts';
import { buckets } from './platform/broker/buckets.ts';
import { leaderGraceMs } from './platform/broker/cluster/leader-info.ts';
import { openPeerGauges, type PeerGauges } from './platform/broker/cluster/peer-gauges.ts';
import { streamChecks } from './platform/broker/cluster/stream-peers.ts';
import { connectBroker, followConnection, type NatsConnection } from './platform/broker/nats.ts';
import { readQueue } from './platform/broker/queues/read-queue.ts';
import { openBucket } from './platform/broker/record-bucket.ts';
import { watchBucket } from './platform/broker/watched-bucket.ts';
import type { DatabaseClient } from './platform/clickhouse/clickhouse.ts';
import { Groups } from './platform/clickhouse/groups.ts';
import { openStore } from './platform/clickhouse/replica-client.ts';
import { splitGroups } from './platform/clickhouse/store-urls.ts';
import { systemClock } from './platform/clock.ts';
import type { Config } from './platform/config.ts';
import { brokerConfigurationFile } from './platform/engines/broker-configuration.ts';
import { type DiskRoom, followDiskRoom, usualDiskReserve } from './platform/engines/disk-room.ts';
import type { EngineUrls } from './platform/engines/engines.ts';
import { openErasures } from './platform/erasure/open-erasures.ts';
import { callerRequestOf } from './platform/http/caller-request.ts';
import type { MetricsPage } from './platform/http/operator-routes.ts';
import type { Readiness, ReadinessCheck } from './platform/http/readiness.ts';
import { readShardAccount } from './platform/ledger/shard-account.ts';
import type { Log } from './platform/log.ts';
import type { Standing } from './platform/members/standing.ts';
import { createMetrics, type Metrics } from './platform/metrics.ts';
import { createRetainedFrom } from './platform/retained/retained-from.ts';
import type { Shutdown } from './platform/shutdown.ts';
import { allOrProblems } from './platform/start-problems.ts';
import { createWebhookDirectory, watchWebhooks } from './platform/webhooks/webhook-directory.ts';
import { checkQuestion } from './query/boards/check-question.ts';
import { insightMemoryBytes } from './query/calls/turn-bounds.ts';
import type { OperatorOptions } from './query/operator/register-operator.ts';
import { type OpenStatements, openStatements } from './query/statements/open-statements.ts';

// Inserts, as many reads at once, and room for the probes between them.
const clickhouseConnections = 16;

type ConnectionSettings = Pick<Config, 'shards' | 'engineMemoryBytes' | 'clickhouseReplicated'>;

export type Connections = Awaited<ReturnType<typeof connectEngines>>;

/**
 * Rejects with one sentence for every engine that does not answer. `connectAgain` makes another connection to the
 * broker, which its caller closes.
 */
export async function connectEngines(
  { natsUrl, clickhouseUrl }: EngineUrls,
  { shards, engineMemoryBytes, clickhouseReplicated: isReplicated }: ConnectionSettings,
  log: Log,
  shutdown: Shutdown,
) {
  const connectGroup = async (urls: readonly string[]): Promise<DatabaseClient> => {
    const client = await openStore(urls, {
      log,
      maxConnections: clickhouseConnections,
      statementMemoryBytes: Math.floor(engineMemoryBytes / 2),
      isReplicated,
    });
    shutdown.add('clickhouse connection', () => client.close());
    return client;
  };
  const connectStore = async (text: string): Promise<Groups<DatabaseClient>> =>
    new Groups(await allOrProblems(splitGroups(text).map(connectGroup)), shards);
  const [nats, clickhouse] = await allOrProblems([
    connectBroker(natsUrl, log),
    clickhouseUrl === undefined ? undefined : connectStore(clickhouseUrl),
  ]);
  shutdown.add('broker connection', () => nats.close());
  // It reconnects for ever, unless somebody else has taken the embedded broker's port.
  void nats.closed().then((error) => error && shutdown.fail(error));
  const connectAgain = (): Promise<NatsConnection> => connectBroker(natsUrl, log);
  return { nats, clickhouse, connectAgain };
}

export type Foundation = Awaited<ReturnType<typeof layFoundation>>;

/** The engines must have their streams, buckets and tables. A process whose roles need no ClickHouse has none. */
export async function layFoundation(
  config: Config,
  { nats, clickhouse, connectAgain }: Connections,
  log: Log,
  shutdown: Shutdown,
) {
  const metrics = createMetrics({ processMetrics: true });
  const disk = openDiskRoom(config, log, metrics);
  shutdown.add('room of the disk', async () => disk.close());
  const rooms = await followBucketRoom(nats, { log, metrics, disk });
  shutdown.add('room of buckets', async () => rooms.close());
  const peers = followPeers(nats, config, metrics, shutdown);
  const roomOf = rooms.roomOf.bind(rooms);
  const bucket = await openBucket(nats, buckets.projects, readProject, roomOf(buckets.projects));
  const projects = await watchBucket(nats, bucket, { log });
  shutdown.add('projects', () => projects.close());
  const webhookBucket = await watchWebhooks(nats, { log, room: roomOf(buckets.webhooks) });
  shutdown.add('webhooks', () => webhookBucket.close());
  const erasures = await openErasures(nats, roomOf(buckets.erasures), { log, shutdown });
  const clock = systemClock;
  // Set once the port is open; before that no request can ask for a link.
  const listening = { url: '' };
  const callers = new CallerReader(callerOptions(config, undefined));
  const onlyThisMachine = createOnlyThisMachine({
    host: config.host,
    facesOthers: facesOthers(config),
  });
  const retainedFrom = createRetainedFrom((id) => projects.get(id)?.record, clock);
  const statements = statementsOf(config, { clickhouse, retainedFrom, log });
  const control = await startControl({
    ...{ connection: nats, projects, roomOf, deletions: erasures.known },
    ...{ dataDir: config.dataDir, clock, log },
    settings: config.accounts,
    publicUrl: () => config.accounts.publicUrl ?? listening.url,
    addressOf: (request) => callers.address(request),
    onlyThisMachine,
    ...{ checkQuestion, checkStatement: statements.onBoards.check },
    imports: importSettings(config),
  });
  shutdown.add('accounts', () => control.close());
  const uses = startKeyUses({ projects, clock, log });
  shutdown.add('uses of keys', () => uses.close());
  const check = createAuthenticate(new ProjectDirectory(projects), control.customerAccess);
  const authenticate = notingUses(check, uses);
  const networkOf = (context: HandlerContext): string | undefined => {
    const address = callers.address(callerRequestOf(context));
    return address === undefined ? undefined : network(address);
  };
  return {
    nats,
    connectAgain,
    disk,
    rooms,
    peers,
    projects,
    webhookBucket,
    webhooks: createWebhookDirectory(webhookBucket),
    erasures,
    clickhouse,
    control,
    listening,
    authenticate,
    networkOf,
    ownerOf: createOwnerOfProject(projects, control.directory),
    ...{ retainedFrom, statements },
    onlyThisMachine,
    ...{ metrics, clock, log },
  };
}

/** SQL over projects' own views. */
function statementsOf(
  { engineMemoryBytes, ingestProcesses }: Config,
  store: Omit<Parameters<typeof openStatements>[0], 'memoryBytes'>,
): OpenStatements {
  const memoryBytes = insightMemoryBytes(engineMemoryBytes, ingestProcesses);
  return openStatements({ ...store, memoryBytes });
}

function followPeers(
  connection: NatsConnection,
  { shards }: Config,
  metrics: Metrics,
  shutdown: Shutdown,
): PeerGauges {
  const peers = openPeerGauges({ connection, shards, metrics });
  shutdown.add('servers of streams', async () => peers.close());
  return peers;
}

/** Without a setting it keeps a reserve for the embedded broker alone: another one's disk is elsewhere. */
function openDiskRoom(config: Config, log: Log, metrics: Metrics): DiskRoom {
  const directory = diskDirectory(config);
  return followDiskRoom({ directory, reserveBytes: diskReserve(config), log, metrics });
}

/** The bytes in force; a member is told its starter's. */
export function diskReserve(config: Config): number {
  const { diskReserveBytes, natsUrl } = config;
  return diskReserveBytes ?? (natsUrl === undefined ? usualDiskReserve(diskDirectory(config)) : 0);
}

/** Of the data directory's disk, for files that people bring or ask for: wherever the broker is. */
export function dataDirReserve({
  diskReserveBytes,
  dataDir,
}: Pick<Config, 'diskReserveBytes' | 'dataDir'>): number {
  return diskReserveBytes || usualDiskReserve(dataDir);
}

/** An upload leaves a reserve wherever the broker is: a full disk under the data directory stops everything. */
export function importSettings({ imports, roles, ...disk }: Config): ImportSettings {
  const reserveBytes = dataDirReserve(disk);
  const command = 'npm run import sends it from a command line (docs/import.md)';
  const isWhole = (['control', 'ingest', 'query'] as const).every((role) => roles.includes(role));
  if (!imports)
    return { refusal: `no file is taken here (MILLRACE_IMPORTS): ${command}`, reserveBytes };
  if (!isWhole)
    return { refusal: `no file is taken by a part of an instance: ${command}`, reserveBytes };
  return { refusal: undefined, reserveBytes };
}

/** Where the embedded broker has its store, which may be a disk of its own. */
function diskDirectory({ dataDir }: Config): string {
  const embedded = dirname(brokerConfigurationFile(dataDir));
  return existsSync(embedded) ? embedded : dataDir;
}

/** Whether a setting tells that people elsewhere reach the service, as through a proxy on this machine. */
function facesOthers({ accounts, trustedProxies, cdn }: Config): boolean {
  return accounts.publicUrl !== undefined || trustedProxies.rules.length > 0 || cdn !== undefined;
}

/** How a request's caller is read; without `locate`, an address has no place. */
export function callerOptions(config: Config, locate: LocateAddress | undefined): CallerOptions {
  const { cdn, trustedProxies, proxyHops, botScoreHeader, verifiedBotHeader } = config;
  return { cdn, trustedProxies, proxyHops, botScoreHeader, verifiedBotHeader, locate };
}

/** `standing` knows of an engine of ours that has ended before any connection does. */
export function engineChecks(
  { nats, clickhouse, rooms, disk }: Foundation,
  { shards }: Pick<Config, 'shards'>,
  standing: Standing,
): ReadinessCheck[] {
  const broker = followConnection(nats);
  const graceMs = leaderGraceMs(nats);
  return [
    // A round trip, because the connection to a frozen broker looks well for seconds.
    {
      name: 'broker',
      graceMs,
      changes: () => standing.changes,
      check: () =>
        !standing.isAway('broker') && broker.connected() && nats.flush().then(() => true),
    },
    ...streamChecks(nats, shards).map((check) => ({ ...check, graceMs })),
    ...groupChecks(clickhouse?.all ?? [], standing),
    { name: 'buckets', check: () => rooms.isReady() },
    { name: 'disk', check: () => !disk.isScarce() },
  ];
}

/** Of several groups by their places in CLICKHOUSE_URL. */
function groupChecks(groups: readonly DatabaseClient[], standing: Standing): ReadinessCheck[] {
  return groups.map((client, place) => {
    const name = groups.length === 1 ? 'clickhouse' : `clickhouse_${place + 1}`;
    return { name, check: () => !standing.isAway(name) && client.isReady() };
  });
}

/** What the operator's service shows. */
export function operatorOptions(
  shards: number,
  { nats, rooms, disk, peers }: Foundation,
  { readiness, metrics }: { readiness: () => Promise<Readiness>; metrics: MetricsPage },
): OperatorOptions {
  return {
    shards,
    callerOf: customerOf,
    readiness,
    buckets: () => rooms.use(),
    disk: () => disk.state(),
    streams: () => peers.known(),
    metricsText: () => metrics.metrics(),
    account: (shard) => readShardAccount(nats, shard),
    queue: (shard, kind) => readQueue(nats, shard, kind),
  };
}
