// First of the composition: reads the configuration, starts the whole service (service.ts) or one of the processes that
// serve its port (member.ts), prints where it listens, ends it on a signal. Knows no part of the service.

import cluster from 'node:cluster';
import { resolve } from 'node:path';
import { startMember } from './member.ts';
import { readConfig } from './platform/config.ts';
import { Keeper, keptWord } from './platform/door/keeper.ts';
import { createLog } from './platform/log.ts';
import { keepHeapSmall } from './platform/memory/quiet-heap.ts';
import { Shutdown } from './platform/shutdown.ts';
import { type Service, startService } from './service.ts';

// The pipeline may take ten seconds to finish its batch, requests in flight five, each engine ten.
const shutdownDeadlineMs = 35_000;

const [word, ...flags] = process.argv.slice(2);
const isKept = word === keptWord;
const read = readConfig(process.env, isKept ? flags : process.argv.slice(2));
if (read.kind === 'refused') {
  for (const problem of read.problems) process.stderr.write(`millrace: ${problem}\n`);
  process.exit(1);
}
const { config } = read;
const log = createLog(config.logLevel);
const shutdown = new Shutdown(log, shutdownDeadlineMs);
const keeper = isKept ? Keeper.ofService() : undefined;
shutdown.listen(cluster.isWorker || keeper !== undefined ? 'drain' : 'exit');
if (keeper !== undefined) follow(keeper);
try {
  if (cluster.isWorker) await startMember(config, log, shutdown);
  else {
    const service = await startService(config, log, shutdown, keeper);
    if (service.isAgain) log.info({ baseUrl: service.baseUrl }, 'ready again');
    else announce(service);
  }
  // V8 walks the heap by itself only at the size that package.json names: until then the garbage of the start stays.
  globalThis.gc?.();
  keepHeapSmall();
} catch (error) {
  log.debug({ err: error }, 'the start failed');
  const problems = error instanceof Error ? error.message : String(error);
  for (const problem of problems.split('\n')) process.stderr.write(`millrace: ${problem}\n`);
  await shutdown.run();
  process.exit(1);
}

/** Ends with its keeper, and on SIGUSR2 so that the keeper starts another process in its place. */
function follow(keeper: Keeper): void {
  process.once('disconnect', () =>
    shutdown.end({ why: 'the process that keeps the ports is gone' }),
  );
  process.on('SIGUSR2', () => {
    if (shutdown.isRunning) return;
    void keeper.startAgain();
    shutdown.end({ signal: 'SIGUSR2' });
  });
}

function announce({ baseUrl, openUrl, demo }: Service): void {
  if (config.json) {
    process.stdout.write(`${JSON.stringify({ baseUrl, openUrl, ...demo })}\n`);
    return;
  }
  process.stdout.write(
    `Millrace is ready at ${baseUrl}\n` +
      (openUrl === undefined ? '' : `  open it      ${openUrl} (signs in once)\n`) +
      `  project      ${demo.projectId}\n` +
      `  public key   ${demo.publicKey}\n` +
      `  private key  ${demo.privateKey}\n` +
      `  admin        ${demo.adminEmail}, password ${demo.adminPassword}\n` +
      `These keys are kept in ${config.dataDir}/demo.json. Try: ${demoCommand(baseUrl)}\n`,
  );
}

/** With the flags that it needs to find this service. */
function demoCommand(baseUrl: string): string {
  const data = config.dataDir === resolve('data') ? [] : ['--data', config.dataDir];
  const url = baseUrl === 'http://127.0.0.1:8080' ? [] : ['--url', baseUrl];
  const flags = [...data, ...url];
  return ['npm run demo', ...(flags.length > 0 ? ['--', ...flags] : [])].join(' ');
}
