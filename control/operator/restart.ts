// `npm run restart`: has the running service end and another process, of the build that is there now, take its place
// behind the same ports; says when it serves. The flags and settings that it is run with stay the first start's.

import { setTimeout as delay } from 'node:timers/promises';
import { readConfig } from '../../platform/config.ts';
import { readKept } from '../../platform/door/kept-service.ts';

// A start may bring the tables to a new version, but the next process is there long before it has.
const takeOverMs = 60_000;
const everyMs = 100;

try {
  const read = readConfig(process.env, process.argv.slice(2));
  if (read.kind === 'refused') throw new Error(read.problems.join('\nmillrace: '));
  process.stdout.write(`${await restart(read.config.dataDir)}\n`);
} catch (error) {
  process.stderr.write(`millrace: ${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
}

async function restart(dataDir: string): Promise<string> {
  const before = readKept(dataDir);
  if (before === undefined) {
    throw new Error(`no service that \`npm start\` has started runs on ${dataDir}`);
  }
  const startMs = performance.now();
  process.kill(before.pid, 'SIGUSR2');
  let lastSeenMs = startMs;
  while (performance.now() - lastSeenMs < takeOverMs) {
    const now = readKept(dataDir);
    if (now !== undefined && now.pid !== before.pid) {
      lastSeenMs = performance.now();
      if (now.isServing) {
        const seconds = ((lastSeenMs - startMs) / 1_000).toFixed(1);
        return `process ${now.pid} serves in the place of ${before.pid}, after ${seconds} s`;
      }
    }
    await delay(everyMs);
  }
  throw new Error('no process serves in its place: see the log of the one that `npm start` runs');
}
