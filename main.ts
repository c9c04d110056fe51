// The entry: reads the configuration, starts the service, prints where it listens, ends it on a signal.

import { readConfig } from './platform/config.ts';
import { createLog } from './platform/log.ts';
import { Shutdown } from './platform/shutdown.ts';
import { startService } from './service.ts';

// The pipeline may take ten seconds to finish its batch, requests in flight five, each engine ten.
const shutdownDeadlineMs = 35_000;

const read = readConfig(process.env, process.argv.slice(2));
if (read.kind === 'refused') {
  for (const problem of read.problems) process.stderr.write(`millrace: ${problem}\n`);
  process.exit(1);
}
const { config } = read;
const log = createLog(config.logLevel);
const shutdown = new Shutdown(log, shutdownDeadlineMs);
shutdown.listen();
try {
  const { baseUrl, demo } = await startService(config, log, shutdown);
  if (config.json) {
    process.stdout.write(`${JSON.stringify({ baseUrl, ...demo })}\n`);
  } else {
    process.stdout.write(
      `Millrace is ready at ${baseUrl}\n` +
        `  project      ${demo.projectId}\n` +
        `  public key   ${demo.publicKey}\n` +
        `  private key  ${demo.privateKey}\n` +
        `  admin        ${demo.adminEmail}, password ${demo.adminPassword}\n` +
        `These keys are kept in ${config.dataDir}/demo.json. Try: npm run demo\n`,
    );
  }
} catch (error) {
  log.debug({ err: error }, 'the start failed');
  const problems = error instanceof Error ? error.message : String(error);
  for (const problem of problems.split('\n')) process.stderr.write(`millrace: ${problem}\n`);
  await shutdown.run();
  process.exit(1);
}
