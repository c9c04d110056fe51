// How the operator's commands reach the broker and ClickHouse of an instance: those of an instance that runs, servers
// of one's own, or engines that are started on the data directory for the command. admin.ts has the commands.

import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { splitGroups } from '../platform/clickhouse/store-urls.ts';
import type { Config } from '../platform/config.ts';
import {
  type BrokerUser,
  brokerConfigurationFile,
  readBrokerUrl,
} from '../platform/engines/broker-configuration.ts';
import { lockDataDir } from '../platform/engines/data-lock.ts';
import { startEmbeddedBroker } from '../platform/engines/embedded-broker.ts';
import { readEngineUrl, startEmbeddedEngine } from '../platform/engines/embedded-engine.ts';
import type { Log } from '../platform/log.ts';

export interface Reached {
  url: string;
  /** Started for the command, which is alone with it. */
  isOwn: boolean;
}

export interface Reach {
  /** Throws one sentence where an instance runs on the data directory. */
  lock(): void;
  /** By the user's rights. */
  broker(user: BrokerUser): Promise<Reached>;
  /** `directory` holds the embedded engine's files. */
  store(): Promise<Reached & { directory?: string }>;
  /** Ends what was started. */
  stop(): Promise<void>;
}

const graceMs = 10_000;
/** Of the engine that is started for a command. */
const reads = 2;

/** Throws one sentence where the tables are not those of one server: a backup holds the tables of one. */
export function requireOneServer({ clickhouseUrl, clickhouseReplicated }: Config): void {
  const servers = clickhouseUrl === undefined ? 1 : splitGroups(clickhouseUrl).flat().length;
  if (servers === 1 && !clickhouseReplicated) return;
  throw new Error(
    'backup and restore take the tables of one ClickHouse server that replicates nothing, and CLICKHOUSE_URL and ' +
      "MILLRACE_CLICKHOUSE_REPLICATED say otherwise: save each group's tables with its own tools",
  );
}

/** Starts nothing yet. A data directory is locked before an engine is started on it. */
export function reachEngines(config: Config, log: Log): Reach {
  const { dataDir, natsUrl, clickhouseUrl } = config;
  const steps: (() => Promise<void>)[] = [];
  let locked: boolean | undefined;
  const lock = (): void => {
    const unlock = lockDataDir(dataDir);
    steps.push(async () => unlock());
    locked = true;
  };
  /** False where an instance runs on the directory, with its engines. */
  const takeDirectory = (proof: string): boolean => {
    if (locked !== undefined) return locked;
    try {
      lock();
      return true;
    } catch (error) {
      if (!existsSync(proof)) throw error;
      locked = false;
      return false;
    }
  };
  return {
    lock,
    async broker(user) {
      if (natsUrl !== undefined) return { url: natsUrl, isOwn: false };
      const isOwn = takeDirectory(brokerConfigurationFile(dataDir));
      if (isOwn) {
        const binary = config.natsServerBinary;
        const broker = await startEmbeddedBroker({ dataDir, binary, log });
        steps.push(() => broker.stop(graceMs));
      }
      return { url: readBrokerUrl(dataDir, user), isOwn };
    },
    async store() {
      if (clickhouseUrl !== undefined) return { url: clickhouseUrl, isOwn: false };
      const directory = join(dataDir, 'clickhouse');
      if (!takeDirectory(directory)) {
        return { url: readEngineUrl(dataDir), isOwn: false, directory };
      }
      const engine = await startEmbeddedEngine({
        dataDir,
        entry: join(import.meta.dirname, '..', 'sql', 'engine', 'main.js'),
        memoryBytes: config.engineMemoryBytes,
        reads,
        log,
      });
      steps.push(() => engine.stop(graceMs));
      return { url: engine.url, isOwn: true, directory };
    },
    async stop() {
      for (const step of steps.reverse()) await step();
    },
  };
}
