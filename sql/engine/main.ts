// The embedded ClickHouse as a process: `--path DIR --socket FILE --password-file FILE [--threads N] [--memory-mib N]`.
// It listens on the Unix socket alone, in a directory that only its user enters, and asks for the file's text. Prints
// `listening` when ready. Finishes its inserts and ends on SIGTERM, on SIGINT, and when its standard input closes
// because its parent died. Each running statement takes a thread of libuv's pool: --threads is the size of that pool,
// which only the environment can set (UV_THREADPOOL_SIZE, 4 by default), so set both to the same number.

import { chmodSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { Engine } from './engine.ts';
import { engineArguments } from './engine-arguments.ts';
import { toEngineError } from './errors.ts';
import { createEngineServer } from './server.ts';

const { values } = parseArgs({
  options: {
    path: { type: 'string' },
    socket: { type: 'string' },
    'password-file': { type: 'string' },
    threads: { type: 'string', default: '4' },
    'memory-mib': { type: 'string', default: '768' },
  },
});
const { path, socket, 'password-file': passwordFile } = values;
if (path === undefined || socket === undefined || passwordFile === undefined) {
  fail('--path DIR, --socket FILE and --password-file FILE are needed');
}
const password = readFileSync(passwordFile, 'utf8');
if (password === '') fail('the password is empty');
mkdirSync(path, { recursive: true, mode: 0o700 });
if ((statSync(dirname(socket)).mode & 0o077) !== 0) fail(`others can enter ${dirname(socket)}`);

// More than two inserts at once only slow each other down: merges take the rest of the machine.
const writers = 2;
// KILL QUERY and pings run beside all other statements.
const controls = 1;
const engine = await Engine.open({
  path,
  writers,
  readers: Math.max(1, wholeNumber('threads', values.threads) - writers - controls),
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

const server = createEngineServer(engine, password);
server.on('error', (error) => fail(error.message));
// Opening the engine took the directory's lock, so a socket that is there has no process.
rmSync(socket, { force: true });
server.listen(socket, () => {
  chmodSync(socket, 0o600);
  process.stdout.write('listening\n');
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
