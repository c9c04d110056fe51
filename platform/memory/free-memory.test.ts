import { expect, it } from 'vitest';
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
