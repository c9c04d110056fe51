// One store has one broker, whichever process is killed and however the last Millrace ended.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it, onTestFinished } from 'vitest';
import { createLog } from '../log.ts';
import { brokerConfigurationFile } from './broker-configuration.ts';
import { startEmbeddedBroker } from './embedded-broker.ts';

const log = createLog('silent');
let dataDir: string;
let broker: Awaited<ReturnType<typeof startEmbeddedBroker>>;

const start = () => startEmbeddedBroker({ dataDir, binary: 'nats-server', log });

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'millrace-lone-broker-'));
  broker = await start();
});
afterEach(async () => {
  await broker.stop(10_000);
  rmSync(dataDir, { recursive: true });
});

function commandLine(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
  } catch {
    return [];
  }
}

const pids = (): number[] => readdirSync('/proc').map(Number).filter(Boolean);

/** Servers alone, without whatever a version of ours may start around them. */
const servers = (): number[] =>
  pids().filter((pid) => {
    const [program = '', ...words] = commandLine(pid);
    return program.endsWith('nats-server') && words.includes(brokerConfigurationFile(dataDir));
  });

const parentOf = (pid: number): number =>
  Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]);

it('has one broker after a SIGKILL of every process beside it, and after the next start', async () => {
  const [server = 0] = servers();
  // The end that we are told of is the server's own.
  expect(parentOf(server)).toBe(process.pid);
  const beside = pids().filter((pid) => {
    return pid !== server && commandLine(pid).includes(String(server));
  });
  expect(beside.length).toBeGreaterThan(0);
  for (const pid of beside) process.kill(pid, 'SIGKILL');
  await broker.stop(10_000);
  broker = await start();
  expect(servers()).toEqual([broker.pid()]);
});

it.each(['its path', 'a link to it'])(
  'ends a server of an earlier Millrace that no file names any more, under %s',
  async (way) => {
    await broker.stop(10_000);
    const link = `${dataDir}-link`;
    symlinkSync(dataDir, link);
    onTestFinished(() => rmSync(link));
    const directory = way === 'its path' ? dataDir : link;
    const stale = spawn('nats-server', ['-c', brokerConfigurationFile(directory)]);
    const ended = once(stale, 'exit');
    let said = '';
    stale.stderr.on('data', (data) => {
      said += data;
    });
    await expect.poll(() => said).toContain('Server is ready');
    rmSync(join(dataDir, 'nats', 'nats.pid'), { force: true });
    try {
      broker = await start();
      expect(servers()).toEqual([broker.pid()]);
      await ended;
    } finally {
      stale.kill('SIGKILL');
      await ended;
    }
  },
);
