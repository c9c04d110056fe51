// The embedded ClickHouse as a process: `--path DIR --port N [--host 127.0.0.1] [--threads N] [--memory-mib N]`.
// Prints `listening <port>` when ready. Finishes its inserts and ends on SIGTERM, on SIGINT, and when its standard
// input closes because its parent died. Each running statement takes a thread of libuv's pool: --threads is the size
// of that pool, which only the environment can set (UV_THREADPOOL_SIZE, 4 by default), so set both to the same
// number.

import { mkdirSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { Engine } from './engine.ts';
import { engineArguments } from './engine-arguments.ts';
import { toEngineError } from './errors.ts';
import { createEngineServer } from './server.ts';

const { values } = parseArgs({
  options: {
    path: { type: 'string' },
    port: { type: 'string', default: '0' },
    host: { type: 'string', default: '127.0.0.1' },
    threads: { type: 'string', default: '4' },
    'memory-mib': { type: 'string', default: '768' },
  },
});
if (values.path === undefined) fail('--path DIR is needed');
mkdirSync(values.path, { recursive: true, mode: 0o700 });

// More than two inserts at once only slow each other down: merges take the rest of the machine.
const writers = 2;
const engine = await Engine.open({
  path: values.path,
  writers,
  readers: Math.max(1, wholeNumber('threads', values.threads) - writers),
  maxWaiting: 100,
  engineArguments: engineArguments(wholeNumber('memory-mib', values['memory-mib'])),
}).catch((error) => fail(toEngineError(error).message));

function wholeNumber(name: string, text: string): number {
  if (!/^\d{1,6}$/.test(text)) fail(`--${name} must be a whole number`);
  return Number(text);
}

function fail(why: string): never {
  process.stderr.write(`millrace engine: ${why}\n`);
  process.exit(1);
}

const server = createEngineServer(engine);
server.on('error', (error) => fail(error.message));
server.listen(Number(values.port), values.host, () => {
  const address = server.address();
  if (address !== null && typeof address === 'object') {
    process.stdout.write(`listening ${address.port}\n`);
  }
});

let stopping = false;
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  server.close();
  await engine.close();
  process.exit(0);
}
process.on('SIGTERM', stop);
process.on('SIGINT', stop);
process.stdin.on('end', stop).on('error', stop).resume();
