// `npm run admin` as an operator runs it: the built command on a data directory, while an instance runs there and while
// none does.

import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { connectBroker } from '../platform/broker/nats.ts';
import { eventsStream } from '../platform/broker/streams.ts';
import { readBrokerUrl } from '../platform/engines/broker-configuration.ts';
import { createLog } from '../platform/log.ts';
import { removeFolder } from './harness/remove-folder.ts';
import { startStack } from './harness/servers/stack.ts';
import { root } from './harness/source-tree.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-admin-'));
afterAll(() => removeFolder(directory));

function admin(data: string, ...words: string[]) {
  return adminWith({}, data, ...words);
}

function adminWith(settings: Record<string, string>, data: string, ...words: string[]) {
  const command = join(root, 'dist', 'admin.js');
  const run = spawnSync(process.execPath, [command, '--data', join(directory, data), ...words], {
    encoding: 'utf8',
    env: { ...process.env, ...settings },
  });
  return { code: run.status, out: run.stdout, error: run.stderr };
}

it('makes a super admin, saves all records, brings them back elsewhere', () => {
  const file = join(directory, 'backup.jsonl');
  const made = admin('a', 'create-customer', '--email', 'op@example.com', '--super-admin');
  expect(made.out).toMatch(/^made super admin op@example\.com, password \S{24}\n$/);
  const saved = admin('a', 'export', file);
  expect(saved.out).toContain(`4 records are in ${file}; `);
  expect(saved.out).toContain(join(directory, 'a', 'instance-key.json'));
  expect(admin('b', 'restore', file)).toMatchObject({ code: 0, out: '4 records are back\n' });
  const again = admin('b', 'create-customer', '--email', 'op@example.com');
  expect(again).toMatchObject({ code: 1, error: 'millrace: op@example.com has an account\n' });
});

it('reaches the broker of a running instance, whose passwords nobody else sees', async () => {
  const dataDir = join(directory, 'running');
  const env = { MILLRACE_LOG_LEVEL: 'debug' };
  const stack = await startStack({ dataDir, env, args: ['--ingest', '2'] });
  const words = ['create-customer', '--email', 'op@example.com', '--super-admin'];
  expect(admin('running', ...words).out).toContain('made super admin op@example.com');
  expect(admin('running', 'grant-super-admin', '--email', 'op@example.com').code).toBe(0);
  const file = join(directory, 'running.jsonl');
  expect(admin('running', 'export', file).code).toBe(0);
  const later = ['create-customer', '--email', 'later@example.com'];
  expect(admin('running', ...later).code).toBe(0);
  // The command logs in and reads: a refused login has another sentence.
  expect(admin('running', 'restore', file).error).toContain('restore into an empty broker');
  // The instance's own settings stand, whatever the operator's shell has.
  const connection = await connectBroker(readBrokerUrl(dataDir, 'service'), createLog('silent'));
  const { streams } = await connection.jetstreamManager();
  const maxBytes = async () => (await streams.info(eventsStream(0))).config.max_bytes;
  const before = await maxBytes();
  const shell = { MILLRACE_EVENTS_MAX_MIB: '8192', MILLRACE_SHARDS: '2' };
  const granted = adminWith(shell, 'running', 'grant-super-admin', '--email', 'op@example.com');
  expect(granted.error).toBe('');
  expect(await maxBytes()).toBe(before);
  await connection.close();
  const { service, broker, engine } = stack.pids();
  const commandLines = [service, broker, engine, ...stack.ingestPids()].map((pid) =>
    readFileSync(`/proc/${pid}/cmdline`, 'latin1'),
  );
  expect(stack.log()).toContain('"part":"nats-server"');
  for (const user of ['service', 'operator'] as const) {
    const { password } = new URL(readBrokerUrl(dataDir, user));
    expect(password).toMatch(/^\S{32}$/);
    for (const text of [...commandLines, stack.log()]) expect(text).not.toContain(password);
  }
  expect(admin('running', 'check')).toMatchObject({ code: 0, error: '' });
  await stack.stop();
  expect(admin('running', 'check')).toMatchObject({ code: 0, error: '' });
});

it('lists its commands where it is asked for an unknown one', () => {
  for (const words of [[], ['frob'], ['export']]) {
    const run = admin('c', ...words);
    expect(run.code).toBe(1);
    expect(run.error).toContain('no such command\nnpm run admin -- ');
  }
  expect(admin('c', '--frob').error).toContain("Unknown option '--frob'");
});
