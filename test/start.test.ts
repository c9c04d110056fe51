// The promises of `npm start`: readiness, the same keys and data at a second start, one clear sentence where it cannot
// run, and an end that leaves no process behind.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { batchCreate, eventually, listActivity, newEvent } from './harness/clients/client.ts';
import { removeFolder } from './harness/remove-folder.ts';
import { startBroker } from './harness/servers/broker.ts';
import { takePort, uidOfImpostor } from './harness/servers/impostor.ts';
import { signalProcess, startStack } from './harness/servers/stack.ts';
import { root } from './harness/source-tree.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'millrace-start-'));
afterAll(() => removeFolder(dataDir));

/** Runs the service until it ends by itself. */
function runToEnd(
  args: readonly string[],
  env: Record<string, string> = {},
): Promise<{ code: number | null; stderr: string; stdout: string }> {
  return new Promise((resolve) => {
    const child = spawn(process.execPath, [join(root, 'dist', 'main.js'), ...args], {
      env: { ...process.env, ...env },
    });
    let stderr = '';
    let stdout = '';
    child.stderr.on('data', (chunk) => {
      stderr += chunk;
    });
    child.stdout.on('data', (chunk) => {
      stdout += chunk;
    });
    child.once('exit', (code) => resolve({ code, stderr, stdout }));
  });
}

const isAlive = (pid: number): boolean => existsSync(`/proc/${pid}`);

it('keeps data and keys, is ready again, and ends every child', async () => {
  const first = await startStack({ dataDir });
  expect(statSync(join(dataDir, 'demo.json')).mode & 0o777).toBe(0o600);
  expect(JSON.parse(readFileSync(join(dataDir, 'demo.json'), 'utf8'))).toMatchObject({
    privateKey: first.privateKey,
  });
  expect(await batchCreate(first, [newEvent({ distinctId: 'kept' })])).toMatchObject({
    status: 200,
  });
  await expect.poll(async () => (await fetch(`${first.baseUrl}/readyz`)).status).toBe(200);
  const pids = Object.values(first.pids());
  expect(pids.every(isAlive)).toBe(true);
  // The stop comes while the event may still be in the broker: drained or not, it must be there afterwards.
  expect(await first.stop()).toMatchObject({ code: 0 });
  expect(pids.filter(isAlive)).toEqual([]);

  const second = await startStack({ dataDir });
  await expect.poll(async () => (await fetch(`${second.baseUrl}/readyz`)).status).toBe(200);
  expect(second.publicKey).toBe(first.publicKey);
  expect(second.privateKey).toBe(first.privateKey);
  await eventually(
    () => listActivity(second, { distinctId: 'kept' }),
    (page) => page.events.length === 1,
  );

  const third = await runToEnd(['--port', '0', '--data', dataDir]);
  expect(third.code).toBe(1);
  expect(third.stderr).toContain('is in use by another Millrace');

  // A killed service leaves neither child behind, and the next start takes over.
  const children = [second.pids().broker, second.pids().engine];
  second.kill9('service');
  await eventually(
    async () => children.filter(isAlive),
    (alive) => alive.length === 0,
  );
  const fourth = await second.restart();
  expect((await listActivity(fourth, { distinctId: 'kept' })).events).toHaveLength(1);
  expect(await fourth.stop()).toMatchObject({ code: 0 });
});

it('says in one sentence that the port is taken', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const address = taken.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const other = join(dataDir, 'other');
  const result = await runToEnd(['--port', String(port), '--data', other]);
  taken.close();
  expect(result).toEqual({
    code: 1,
    stdout: '',
    stderr: `millrace: port ${port} on 127.0.0.1 is taken: stop what uses it, or choose another with --port\n`,
  });
});

it('takes others out of the data directory, or says that they may enter it', async () => {
  const made = join(dataDir, 'made-before');
  const link = join(dataDir, 'link');
  mkdirSync(made);
  chmodSync(made, 0o755);
  symlinkSync(made, link);
  // The start ends early, and has looked at its directory.
  const env = { MILLRACE_NATS_SERVER: join(dataDir, 'absent'), MILLRACE_LOG_LEVEL: 'info' };
  const start = () => runToEnd(['--port', '0', '--data', link], env);
  expect((await start()).stderr).toContain('the data directory was open to others: now 0700');
  expect(statSync(made).mode & 0o777).toBe(0o700);
  expect((await start()).stderr).not.toContain('data directory');
  mkdirSync(join(made, 'postgresql'));
  chmodSync(made, 0o755);
  const lines = (await start()).stderr.split('\n').filter((line) => line.includes('others may'));
  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0] ?? '')).toMatchObject({
    dataDir: link,
    mode: '0755',
    why: 'it holds directories that are not ours',
  });
  expect(statSync(made).mode & 0o777).toBe(0o755);
});

it('names at once a port that is taken and a data directory that is a file', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const address = taken.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const file = join(dataDir, 'file');
  writeFileSync(file, '');
  const result = await runToEnd(['--port', String(port), '--data', file]);
  taken.close();
  expect(result.code).toBe(1);
  expect(result.stderr.trim().split('\n')).toEqual([
    expect.stringMatching(/^millrace: port \d+ on 127\.0\.0\.1 is taken/),
    `millrace: the data directory ${file} cannot be used: it is a file`,
  ]);
});

it('names both servers of the user where neither answers, without their passwords', async () => {
  const result = await runToEnd(['--port', '0', '--data', join(dataDir, 'no-servers')], {
    NATS_URL: 'nats://user:hidden@127.0.0.1:1',
    CLICKHOUSE_URL: 'http://user:hidden@127.0.0.1:1/millrace',
    MILLRACE_LOG_LEVEL: 'silent',
  });
  expect(result.code).toBe(1);
  expect(result.stderr.trim().split('\n')).toEqual([
    'millrace: the broker at nats://127.0.0.1:1 cannot be used: nothing listens there',
    'millrace: ClickHouse at http://127.0.0.1:1 cannot be used: nothing listens there',
  ]);
});

it('is not ready while the broker is frozen', async () => {
  const stack = await startStack({ dataDir: join(dataDir, 'frozen') });
  const isReady = async () => (await fetch(`${stack.baseUrl}/readyz`)).status === 200;
  const { broker } = stack.pids();
  try {
    await eventually(isReady, (ready) => ready);
    signalProcess(broker, 'SIGSTOP');
    // The connection itself still looks well. An answer from before the freeze is shared for a second.
    await eventually(isReady, (ready) => !ready);
    signalProcess(broker, 'SIGCONT');
    await eventually(isReady, (ready) => ready);
  } finally {
    signalProcess(broker, 'SIGCONT');
    expect(await stack.stop()).toMatchObject({ code: 0 });
  }
});

it.runIf(process.getuid?.() === 0)(
  'ends where another user takes the port of its broker',
  async () => {
    const broker = await startBroker();
    const { password, port } = new URL(broker.url);
    const args = ['--json', '--port', '0', '--data', join(dataDir, 'taken-over')];
    const service = spawn(process.execPath, [join(root, 'dist', 'main.js'), ...args], {
      env: { ...process.env, NATS_URL: broker.url },
    });
    let log = '';
    service.stderr.on('data', (chunk) => {
      log += chunk;
    });
    const ended = once(service, 'exit');
    await once(service.stdout, 'data');
    const taking = takePort('127.0.0.1', Number(port));
    await broker.kill9();
    const impostor = await taking;
    expect(await ended).toEqual([1, null]);
    expect(impostor.received).toEqual([]);
    expect(log).toContain(`another user of this machine (id ${uidOfImpostor}) has taken its port`);
    expect(log).not.toContain(password);
    impostor.stop();
    await broker.stop();
  },
);

it('says that the broker binary is missing', async () => {
  const result = await runToEnd(['--port', '0', '--data', join(dataDir, 'no-broker')], {
    MILLRACE_NATS_SERVER: 'no-such-nats-server',
  });
  expect(result.code).toBe(1);
  expect(result.stderr).toMatch(/^millrace: no-such-nats-server cannot be run: .*NATS_URL.*\n$/);
});

it('names a missing binary, a missing geo database and a taken port at once', async () => {
  const taken = createServer();
  await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve));
  const address = taken.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const result = await runToEnd(['--port', String(port), '--data', join(dataDir, 'nothing')], {
    MILLRACE_NATS_SERVER: 'no-such-nats-server',
    MILLRACE_GEO_DATABASE: '/no/such.mmdb',
  });
  taken.close();
  expect(result.code).toBe(1);
  expect(result.stderr.trim().split('\n')).toEqual([
    expect.stringMatching(/^millrace: the geo database \/no\/such.mmdb cannot be used/),
    expect.stringMatching(new RegExp(`^millrace: port ${port} on 127.0.0.1 is taken`)),
    expect.stringMatching(/^millrace: no-such-nats-server cannot be run/),
  ]);
});

it('names all problems of a wrong configuration at once', async () => {
  const result = await runToEnd(['--port', 'high', '--loud'], { MILLRACE_SHARDS: '0' });
  expect(result.code).toBe(1);
  expect(result.stderr.trim().split('\n')).toEqual([
    'millrace: --loud is not a flag: there are --port N, --data DIR, --roles LIST, --ingest N, --json, --accept-empty-tables and --accept-store',
    'millrace: --port must be a whole number from 0 to 65535',
    'millrace: MILLRACE_SHARDS must be a whole number from 1 to 64',
  ]);
});
