import { mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pino from 'pino';
import { expect, it, vi } from 'vitest';
import { superviseChild } from './child.ts';

const guards = vi.hoisted(() => ({ refused: 0 }));
vi.mock('node:child_process', async (load) => {
  const real = await load<typeof import('node:child_process')>();
  const spawn = (...[command, args = [], options = {}]: Parameters<typeof real.spawn>) => {
    const isGuard = args[1]?.startsWith('cat >/dev/null');
    if (isGuard && guards.refused-- > 0) {
      throw Object.assign(new Error('spawn EAGAIN'), { code: 'EAGAIN' });
    }
    return real.spawn(command, args, options);
  };
  return { ...real, spawn };
});

it('ends a silent child, and the next silent one no sooner than the rest allows', async () => {
  const restMs = 1_000;
  /** Before each silence that is told: a rest begins no earlier than the last question before it. */
  let askedAtMs = 0;
  const silences: { askedAtMs: number; endedAtMs: number }[] = [];
  const write = (line: string): void => {
    const { msg } = JSON.parse(line);
    if (msg !== 'a child does not answer any more, ending it') return;
    silences.push({ askedAtMs, endedAtMs: performance.now() });
  };
  const ping = async (): Promise<boolean> => {
    askedAtMs = performance.now();
    return false;
  };
  const child = await superviseChild({
    name: 'a silent child',
    command: '/bin/sh',
    args: ['-c', 'echo ready; exec cat'],
    watchesInput: true,
    readLine: (text) => ({ text, isReady: text === 'ready' }),
    readyTimeoutMs: 120_000,
    pings: { ping, everyMs: 10, timeoutMs: 1_000, maxMissed: 1, restMs },
    log: pino({ level: 'error' }, { write }),
  });
  const first = child.pid();
  await expect.poll(() => silences.length).toBeGreaterThan(1);
  const [before = expect.fail(), after = expect.fail()] = silences;
  expect(after.endedAtMs - before.askedAtMs).toBeGreaterThanOrEqual(restMs);
  await expect.poll(() => child.pid()).not.toBe(first);
  await child.stop(10_000);
});

it('ends the rest of a child whose disk was full once the disk has room, and no other child’s', async () => {
  const ends: string[] = [];
  const write = (line: string): void => {
    const { msg, child } = JSON.parse(line);
    if (msg === 'a child does not answer any more, ending it') ends.push(child);
  };
  const lacking = { full: true, roomy: false };
  const asked = { full: 0, roomy: 0 };
  const start = (name: keyof typeof lacking) =>
    superviseChild({
      name,
      command: '/bin/sh',
      args: ['-c', 'echo ready; exec cat'],
      watchesInput: true,
      readLine: (text) => ({ text, isReady: text === 'ready' }),
      readyTimeoutMs: 120_000,
      pings: {
        ping: async () => {
          asked[name]++;
          return false;
        },
        lacksRoom: () => lacking[name],
        ...{ everyMs: 10, timeoutMs: 1_000, maxMissed: 1, restMs: 3_600_000 },
      },
      log: pino({ level: 'error' }, { write }),
    });
  const children = [await start('full'), await start('roomy')];
  await expect.poll(() => ends.toSorted()).toEqual(['full', 'roomy']);
  // The next ones are as silent as the first, and are left alone.
  const before = { ...asked };
  await expect
    .poll(() => Math.min(asked.full - before.full, asked.roomy - before.roomy))
    .toBeGreaterThan(5);
  expect(ends).toHaveLength(2);
  lacking.full = false;
  await expect.poll(() => ends.at(2)).toBe('full');
  // It was ended where there was room: the next rest is a whole one.
  const later = { ...asked };
  await expect
    .poll(() => Math.min(asked.full - later.full, asked.roomy - later.roomy))
    .toBeGreaterThan(5);
  expect(ends).toHaveLength(3);
  for (const child of children) await child.stop(10_000);
});

it('starts a child again that once could not be started', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-child-'));
  const command = join(directory, 'child');
  symlinkSync('/bin/sh', command);
  const failures: string[] = [];
  const write = (line: string): void => void failures.push(JSON.parse(line).err?.code ?? 'ended');
  const heard: boolean[] = [];
  const child = await superviseChild({
    name: 'a child',
    command,
    args: ['-c', 'echo ready; exec cat'],
    watchesInput: true,
    readLine: (text) => ({ text, isReady: text === 'ready' }),
    readyTimeoutMs: 120_000,
    onStanding: (isThere) => heard.push(isThere),
    log: pino({ level: 'error' }, { write }),
  });
  const first = child.pid() ?? 0;
  rmSync(command);
  process.kill(first, 'SIGKILL');
  // It is tried again and again meanwhile.
  await expect.poll(() => failures.slice(0, 2)).toEqual(['ended', 'ENOENT']);
  await expect.poll(() => heard.slice(0, 2)).toEqual([false, false]);
  symlinkSync('/bin/sh', command);
  await expect.poll(() => child.pid() ?? first).not.toBe(first);
  await expect.poll(() => heard.at(-1)).toBe(true);
  rmSync(command);
  process.kill(child.pid() ?? 0, 'SIGKILL');
  await expect.poll(() => child.pid()).toBe(undefined);
  // Without a process to end.
  await child.stop(10_000);
  rmSync(directory, { recursive: true });
});

it('ends a child that the machine has no process left to guard, and starts it again', async () => {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-child-'));
  const pids = join(directory, 'pids');
  const child = await superviseChild({
    name: 'a child',
    command: '/bin/sh',
    args: ['-c', `echo $$ >> ${pids}; echo ready; exec sleep 60`],
    watchesInput: false,
    readLine: (text) => ({ text, isReady: text === 'ready' }),
    readyTimeoutMs: 120_000,
    log: pino({ level: 'silent' }),
  });
  const first = child.pid() ?? 0;
  guards.refused = 1;
  process.kill(first, 'SIGKILL');
  await expect.poll(() => child.pid() ?? first).not.toBe(first);
  expect(guards.refused).toBeLessThan(1);
  await expect.poll(() => readFileSync(pids, 'utf8')).toContain(`${child.pid()}\n`);
  const others = readFileSync(pids, 'utf8').trim().split('\n').map(Number);
  for (const pid of others.filter((one) => one !== child.pid())) {
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  }
  await child.stop(10_000);
  rmSync(directory, { recursive: true });
});
