// The two engines below every process, broker and ClickHouse: the user's own servers where their URLs are set, embedded
// ones otherwise. Connecting to them is up to the services.

import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { needStore } from '../members/process-roles.ts';
import type { Standing } from '../members/standing.ts';
import type { Shutdown } from '../shutdown.ts';
import { allOrProblems } from '../start-problems.ts';
import { startEmbeddedBroker } from './embedded-broker.ts';
import { startEmbeddedEngine } from './embedded-engine.ts';

export interface EngineUrls {
  natsUrl: string;
  /** Absent where the process needs no ClickHouse. */
  clickhouseUrl?: string;
}

const stopGraceMs = 10_000;

/**
 * Starts each engine that the roles need and that has no URL, both at once because each takes about a second.
 * `shutdown` ends them last. Rejects with one sentence for every engine that cannot be started. `engineReads` run at
 * once in an embedded ClickHouse. `standing` hears when one ends, and when it is back.
 */
export async function startEngines(
  config: Pick<
    Config,
    'roles' | 'dataDir' | 'natsUrl' | 'clickhouseUrl' | 'natsServerBinary' | 'engineMemoryBytes'
  > & { engineReads: number; standing: Standing },
  log: Log,
  shutdown: Shutdown,
): Promise<EngineUrls> {
  const { dataDir, standing } = config;
  const hasStore = needStore(config.roles);
  const broker =
    config.natsUrl === undefined
      ? startEmbeddedBroker({
          dataDir,
          binary: config.natsServerBinary,
          onStanding: (isThere) => standing.set('broker', isThere),
          log,
        })
      : undefined;
  const engine =
    hasStore && config.clickhouseUrl === undefined
      ? startEmbeddedEngine({
          dataDir,
          entry: join(import.meta.dirname, '..', '..', 'sql', 'engine', 'main.js'),
          memoryBytes: config.engineMemoryBytes,
          reads: config.engineReads,
          onStanding: (isThere) => standing.set('clickhouse', isThere),
          log,
        })
      : undefined;
  // Each engine is ended even where the other could not be started.
  for (const [name, starting] of Object.entries({ broker, engine })) {
    void starting?.then(
      (child) => shutdown.add(name, () => child.stop(stopGraceMs)),
      () => {},
    );
  }
  const [startedBroker, startedEngine] = await allOrProblems([broker, engine]);
  const natsUrl = config.natsUrl ?? startedBroker?.url ?? '';
  return hasStore
    ? { natsUrl, clickhouseUrl: config.clickhouseUrl ?? startedEngine?.url ?? '' }
    : { natsUrl };
}
