// The only reader of the environment and the command line. Collects every problem before it reports, refuses junk
// instead of guessing, and returns one typed value. Nothing else in the product looks at process.env.

import type { BlockList } from 'node:net';
import { availableParallelism, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { type AccountSettings, readAccountSettings } from './account-settings.ts';
import { readReplicas } from './broker/cluster/replicas.ts';
import { readStoreUrls } from './clickhouse/store-urls.ts';
import { dayMs } from './clock.ts';
import { type BrowserPaths, readBrowserPaths } from './http/browser-paths.ts';
import { readUrl } from './http/parse-url.ts';
import { type ProcessRole, readRoles, whyStoreIsSplit } from './members/process-roles.ts';
import { defaultEngineMemoryMiB, leastEngineMemoryMiB } from './memory/engine-memory.ts';
import { readNetworks } from './private-networks.ts';
import type { WebhookSettings } from './webhooks/webhook-settings.ts';

const cdnPresets = ['cloudflare', 'cloudfront', 'fastly', 'vercel', 'akamai', 'gcp'] as const;
export type CdnPreset = (typeof cdnPresets)[number];

export interface Config {
  /** The services that this process runs; not the roles of members in an organization. */
  roles: ProcessRole[];
  host: string;
  port: number;
  dataDir: string;
  /** Prints one JSON line on stdout when ready, and nothing else there. */
  json: boolean;
  /** Goes on where ClickHouse has lost what the ledgers say was stored. */
  acceptEmptyTables: boolean;
  /** Goes on with this ClickHouse where the broker's events are in another one. */
  acceptStore: boolean;
  logLevel: string;
  /** The user's own broker; absent, one is started on the data directory. */
  natsUrl?: string;
  /** The user's own ClickHouse (store-urls.ts); absent, the embedded engine is started on the data directory. */
  clickhouseUrl?: string;
  /** Whether the servers of a group of `clickhouseUrl` replicate their tables. */
  clickhouseReplicated: boolean;
  natsServerBinary: string;
  /** Servers of the broker that hold each stream and bucket. */
  replicas: number;
  shards: number;
  eventsMaxBytes?: number;
  /** Free space of the disk below which nothing new is taken; 0: none is kept. */
  diskReserveBytes?: number;
  pipelineThreads: number;
  seenMaxBytes: number;
  /** Of the embedded engine in all; a statement of a read may take half, in a server of one's own too. */
  engineMemoryBytes: number;
  /** 1: the process that does everything else also serves requests. */
  ingestProcesses: number;
  publishDeadlineMs: number;
  frameLz4: boolean;
  eventsPerSecond: number;
  eventsBurst: number;
  /** How long before receipt an event of a public key may have occurred; Infinity without a bound. */
  publicMaxAgeMs: number;
  readsPerSecond: number;
  cdn?: CdnPreset;
  trustedProxies: BlockList;
  proxyHops: number;
  botScoreHeader: string;
  verifiedBotHeader: string;
  geoDatabase?: string;
  /** Opens `/metrics` and `/readyz?verbose`. */
  operatorToken?: string;
  /** Where those two pages are; absent, they are on `port`. */
  operatorPort?: number;
  browserPaths: BrowserPaths;
  /** Whether the paths of other vendors' SDKs are served, for projects whose setting names them. */
  compat: boolean;
  /** Whether people may bring files of history by a page. */
  imports: boolean;
  accounts: AccountSettings;
  webhooks: WebhookSettings;
}

type ConfigResult = { kind: 'ok'; config: Config } | { kind: 'refused'; problems: string[] };

type Environment = Readonly<Record<string, string | undefined>>;

/** Reads `env` and the arguments after the script's name. All problems are reported, not only the first. */
export function readConfig(env: Environment, argv: readonly string[]): ConfigResult {
  const problems: string[] = [];
  const flags = readFlags(argv, problems);
  const text = (name: string): string | undefined => env[name]?.trim() || undefined;
  const integer = (name: string, fallback: number, min: number, max: number): number =>
    readInteger(name, text(name), fallback, min, max, problems);
  const ingestText = flags.get('--ingest') ?? text('MILLRACE_INGEST_PROCESSES');
  const proxies = text('MILLRACE_TRUSTED_PROXIES');
  const portText = flags.get('--port') ?? text('MILLRACE_PORT');
  const config: Config = {
    roles: readRoles(flags.get('--roles') ?? text('MILLRACE_ROLES'), problems),
    host: text('MILLRACE_HOST') ?? '127.0.0.1',
    port: readInteger('--port', portText, 8080, 0, 65_535, problems),
    dataDir: resolve(flags.get('--data') ?? text('MILLRACE_DATA') ?? 'data'),
    json: flags.has('--json'),
    acceptEmptyTables: flags.has('--accept-empty-tables'),
    acceptStore: flags.has('--accept-store'),
    logLevel: oneOf(
      'MILLRACE_LOG_LEVEL',
      text('MILLRACE_LOG_LEVEL') ?? 'info',
      logLevels,
      problems,
    ),
    natsServerBinary: text('MILLRACE_NATS_SERVER') ?? 'nats-server',
    ...readStreams(text, integer, problems),
    clickhouseReplicated: integer('MILLRACE_CLICKHOUSE_REPLICATED', 0, 0, 1) === 1,
    pipelineThreads: integer('MILLRACE_PIPELINE_THREADS', defaultThreads(), 1, 64),
    ...readMemory(integer),
    ingestProcesses: readInteger('--ingest', ingestText, 1, 1, 64, problems),
    publishDeadlineMs: integer('MILLRACE_PUBLISH_DEADLINE_MS', 5_000, 1, 600_000),
    frameLz4:
      oneOf('MILLRACE_FRAME_LZ4', text('MILLRACE_FRAME_LZ4') ?? 'on', onOff, problems) === 'on',
    eventsPerSecond: integer('MILLRACE_EVENTS_PER_SECOND', 100_000, 0, 1_000_000_000),
    eventsBurst: integer('MILLRACE_EVENTS_BURST', 200_000, 1, 1_000_000_000),
    publicMaxAgeMs: daysOrNoBound(integer('MILLRACE_PUBLIC_MAX_AGE_DAYS', 30, 0, 36_500)),
    readsPerSecond: integer('MILLRACE_READS_PER_SECOND', 50, 0, 1_000_000),
    trustedProxies: readNetworks('MILLRACE_TRUSTED_PROXIES', proxies, problems),
    proxyHops: integer('MILLRACE_PROXY_HOPS', 0, 0, 16),
    botScoreHeader: (text('MILLRACE_BOT_SCORE_HEADER') ?? 'cf-bot-score').toLowerCase(),
    verifiedBotHeader: (text('MILLRACE_VERIFIED_BOT_HEADER') ?? 'cf-verified-bot').toLowerCase(),
    browserPaths: readBrowserPaths(text, problems),
    compat: oneOf('MILLRACE_COMPAT', text('MILLRACE_COMPAT') ?? 'on', onOff, problems) === 'on',
    imports: oneOf('MILLRACE_IMPORTS', text('MILLRACE_IMPORTS') ?? 'on', onOff, problems) === 'on',
    accounts: readAccountSettings(text, problems),
    webhooks: readWebhookSettings(text, integer, problems),
  };
  const optional: Partial<Config> = {
    ...present('natsUrl', readUrl('NATS_URL', text('NATS_URL'), ['nats:', 'tls:'], problems)),
    ...present('clickhouseUrl', readStoreUrls(text('CLICKHOUSE_URL'), config.shards, problems)),
    ...present('geoDatabase', text('MILLRACE_GEO_DATABASE')),
    ...readOperatorPages(text, config.port, problems),
  };
  const cdn = text('MILLRACE_CDN');
  if (cdn !== undefined) optional.cdn = oneOf('MILLRACE_CDN', cdn, cdnPresets, problems);
  if (text('MILLRACE_EVENTS_MAX_MIB') !== undefined) {
    optional.eventsMaxBytes = integer('MILLRACE_EVENTS_MAX_MIB', 0, 16, 1 << 30) * 1_048_576;
  }
  if (text('MILLRACE_DISK_RESERVE_MIB') !== undefined) {
    optional.diskReserveBytes = integer('MILLRACE_DISK_RESERVE_MIB', 0, 0, 1 << 30) * 1_048_576;
  }
  const whole = { ...config, ...optional };
  problems.push(...contradictions(whole, proxies !== undefined));
  if (problems.length > 0) return { kind: 'refused', problems };
  return { kind: 'ok', config: whole };
}

/** What two settings cannot say together. */
function contradictions(config: Config, hasProxies: boolean): string[] {
  const problems: string[] = [];
  if (!hasProxies && (config.cdn !== undefined || config.proxyHops > 0)) {
    problems.push(
      'MILLRACE_CDN and MILLRACE_PROXY_HOPS need MILLRACE_TRUSTED_PROXIES: the networks whose headers are believed',
    );
  }
  if (config.ingestProcesses > 1 && !config.roles.includes('ingest')) {
    problems.push('--ingest needs the role ingest, which --roles leaves out');
  }
  if (config.clickhouseReplicated && config.clickhouseUrl === undefined) {
    problems.push(
      'MILLRACE_CLICKHOUSE_REPLICATED needs CLICKHOUSE_URL: the embedded ClickHouse is one server',
    );
  }
  // The embedded broker is this process's alone, and so is all that it holds.
  if (config.natsUrl !== undefined && config.clickhouseUrl === undefined) {
    const why = whyStoreIsSplit(config.roles);
    if (why !== undefined) problems.push(why);
  }
  return problems;
}

function readStreams(
  text: (name: string) => string | undefined,
  integer: (name: string, fallback: number, min: number, max: number) => number,
  problems: string[],
): Pick<Config, 'shards' | 'replicas'> {
  return {
    shards: integer('MILLRACE_SHARDS', 1, 1, 64),
    replicas: readReplicas(text('MILLRACE_REPLICAS'), text('NATS_URL'), problems),
  };
}

function daysOrNoBound(days: number): number {
  return days === 0 ? Number.POSITIVE_INFINITY : days * dayMs;
}

const onOff = ['on', 'off'] as const;
const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;

function readMemory(
  integer: (name: string, fallback: number, min: number, max: number) => number,
): Pick<Config, 'seenMaxBytes' | 'engineMemoryBytes'> {
  const usual = defaultEngineMemoryMiB(totalmem(), process.constrainedMemory());
  const bytes = (...of: Parameters<typeof integer>): number => integer(...of) * 1_048_576;
  return {
    seenMaxBytes: bytes('MILLRACE_SEEN_MAX_MIB', 160, 16, 65_536),
    engineMemoryBytes: bytes('MILLRACE_ENGINE_MEMORY_MIB', usual, leastEngineMemoryMiB, 524_288),
  };
}

// One thread for each core except the one that serves requests; from one to eight.
function defaultThreads(): number {
  return Math.max(1, Math.min(8, availableParallelism() - 1));
}

const flagsWithValue = new Set(['--port', '--data', '--roles', '--ingest']);
const flagsWithoutValue = new Set(['--json', '--accept-empty-tables', '--accept-store']);

function readFlags(argv: readonly string[], problems: string[]): Map<string, string> {
  const flags = new Map<string, string>();
  for (let index = 0; index < argv.length; index++) {
    const [name = '', inline] = (argv[index] ?? '').split(/=(.*)/s, 2);
    if (flagsWithoutValue.has(name)) {
      flags.set(name, '');
    } else if (flagsWithValue.has(name)) {
      const value = inline ?? argv[++index];
      if (value === undefined || value === '') problems.push(`${name} needs a value`);
      else flags.set(name, value);
    } else {
      problems.push(
        `${name} is not a flag: there are --port N, --data DIR, --roles LIST, --ingest N, --json, ` +
          '--accept-empty-tables and --accept-store',
      );
    }
  }
  return flags;
}

function readInteger(
  name: string,
  text: string | undefined,
  fallback: number,
  min: number,
  max: number,
  problems: string[],
): number {
  if (text === undefined) return fallback;
  const value = Number(text);
  if (/^\d+$/.test(text) && value >= min && value <= max) return value;
  problems.push(`${name} must be a whole number from ${min} to ${max}`);
  return fallback;
}

function oneOf<T extends string>(
  name: string,
  text: string,
  values: readonly T[],
  problems: string[],
): T {
  const found = values.find((value) => value === text);
  if (found !== undefined) return found;
  problems.push(`${name} must be one of ${values.join(', ')}`);
  const [first] = values;
  if (first === undefined) throw new Error(`${name}: no values to choose from`);
  return first;
}

// A token of 16 characters cannot be guessed; a header can carry each of them.
const operatorTokenPattern = /^[\x21-\x7e]{16,256}$/;

function readOperatorPages(
  text: (name: string) => string | undefined,
  servicePort: number,
  problems: string[],
): Partial<Config> {
  const token = text('MILLRACE_OPERATOR_TOKEN');
  if (token !== undefined && !operatorTokenPattern.test(token)) {
    problems.push('MILLRACE_OPERATOR_TOKEN must have 16 to 256 ASCII characters and no spaces');
  }
  const port = text('MILLRACE_OPERATOR_PORT');
  const operatorPort =
    port === undefined
      ? undefined
      : readInteger('MILLRACE_OPERATOR_PORT', port, 0, 1, 65_535, problems);
  if (operatorPort !== undefined && operatorPort === servicePort) {
    problems.push('MILLRACE_OPERATOR_PORT must differ from the port of the service');
  }
  return { ...present('operatorToken', token), ...present('operatorPort', operatorPort) };
}

function readWebhookSettings(
  text: (name: string) => string | undefined,
  integer: (name: string, fallback: number, min: number, max: number) => number,
  problems: string[],
): WebhookSettings {
  const allowed = text('MILLRACE_WEBHOOK_ALLOW');
  return {
    allowedNetworks: readNetworks('MILLRACE_WEBHOOK_ALLOW', allowed, problems),
    logsAllowedBodies: integer('MILLRACE_WEBHOOK_LOG_BODIES', 0, 0, 1) === 1,
    privateOnly: integer('MILLRACE_WEBHOOK_PRIVATE_ONLY', 0, 0, 1) === 1,
  };
}

function present<K extends keyof Config>(name: K, value: Config[K] | undefined): Partial<Config> {
  return value === undefined ? {} : { [name]: value };
}
