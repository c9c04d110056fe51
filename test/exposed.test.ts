// The built product under attacks on its memory: the kernel's own count of what the process holds.

import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { attacks, bomb, post } from './harness/requests/exhaustion.ts';
import { memoryKiB } from './harness/servers/process-memory.ts';
import { type Stack, startStack } from './harness/servers/stack.ts';

const mayGrowMiB = 256;

let stack: Stack;
beforeAll(async () => {
  stack = await startStack();
});
afterAll(() => stack.stop());

it.each(attacks)('$name', async ({ run, times }) => {
  const beforeMiB = residentMiB();
  let highestMiB = beforeMiB;
  const watch = setInterval(() => {
    highestMiB = Math.max(highestMiB, residentMiB());
  }, 20);
  await run(stack, times);
  clearInterval(watch);
  expect(highestMiB - beforeMiB).toBeLessThan(mayGrowMiB);
});

it('one key that sends nothing but gzip leaves other keys their turn', async () => {
  const greedy = Array.from({ length: 255 }, () => post(stack, bomb));
  const modest = gzipSync('{"events":[]}');
  const other = { baseUrl: stack.baseUrl, publicKey: stack.privateKey };
  const statuses = new Set<string>();
  for (let request = 0; request < 20; request++) statuses.add(await post(other, modest));
  expect([...statuses]).toEqual(['200']);
  await Promise.all(greedy);
});

function residentMiB(): number {
  return memoryKiB(stack.pids().service) / 1_024;
}
