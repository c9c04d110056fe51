import { execFileSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { allocatorSetting } from '../../test/harness/servers/stack.ts';
import { freeMemory } from './free-memory.ts';

it('frees the memory behind a view at once, and leaves small and shared memory alone', () => {
  const before = process.memoryUsage().arrayBuffers;
  for (let round = 0; round < 100; round++) {
    const bytes = new Uint8Array(1_048_576).fill(1);
    const view = bytes.subarray(7);
    freeMemory(view);
    expect([bytes.length, view.length]).toEqual([0, 0]);
  }
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(10 * 1_048_576);
  const small = new Uint8Array(100);
  const shared = new Uint8Array(new SharedArrayBuffer(1_048_576));
  for (const bytes of [small, shared]) freeMemory(bytes);
  expect([small.length, shared.length]).toEqual([100, 1_048_576]);
});

it('gives the system back what lay among small objects, with the setting of `npm start`', () => {
  // The first buffer that is freed is the largest.
  const script = `
    const kept = [];
    const large = [];
    const { port1: nowhere, port2: nobody } = new MessageChannel();
    const free = ({ buffer }) => nowhere.postMessage(undefined, [buffer]);
    nobody.close();
    nowhere.on('message', free).once('close', () => {
      free(Buffer.allocUnsafeSlow(24_000_000));
      for (let n = 0; n < 600; n++) {
        large.push(Buffer.allocUnsafeSlow(200_000).fill(1));
        kept.push(Buffer.allocUnsafeSlow(9_000).fill(1));
      }
      const before = process.memoryUsage.rss();
      large.forEach(free);
      console.log(before - process.memoryUsage.rss(), kept.length);
    });`;
  const freed = execFileSync('env', [allocatorSetting, process.execPath, '-e', script]);
  expect(parseInt(String(freed), 10)).toBeGreaterThan(100_000_000);
});
