// The two engines below every process, broker and ClickHouse: the user's own servers where their URLs are set, embedded
// ones otherwise. Connecting to them is up to the services.

import { join } from 'node:path';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import type { Shutdown } from '../shutdown.ts';
import { allOrProblems } from '../start-problems.ts';
import { startEmbeddedBroker } from './embedded-broker.ts';
import { startEmbeddedEngine } from './embedded-engine.ts';

export interface EngineUrls {
  natsUrl: string;
  clickhouseUrl: string;
}

const stopGraceMs = 10_000;

/**
 * Starts each engine without a URL, both at once because each takes about a second. `shutdown` ends them last. Rejects
 * with one sentence for every engine that cannot be started. `engineReads` run at once in an embedded ClickHouse.
 */
export async function startEngines(
  config: Pick<
    Config,
    'dataDir' | 'natsUrl' | 'clickhouseUrl' | 'natsServerBinary' | 'engineMemoryBytes'
  > & { engineReads: number },
  log: Log,
  shutdown: Shutdown,
): Promise<EngineUrls> {
  const { dataDir } = config;
  const broker =
    config.natsUrl === undefined
      ? startEmbeddedBroker({ dataDir, binary: config.natsServerBinary, log })
      : undefined;
  const engine =
    config.clickhouseUrl === undefined
      ? startEmbeddedEngine({
          dataDir,
          entry: join(import.meta.dirname, '..', '..', 'sql', 'engine', 'main.js'),
          memoryBytes: config.engineMemoryBytes,
          reads: config.engineReads,
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
  return {
    natsUrl: config.natsUrl ?? startedBroker?.url ?? '',
    clickhouseUrl: config.clickhouseUrl ?? startedEngine?.url ?? '',
  };
}
