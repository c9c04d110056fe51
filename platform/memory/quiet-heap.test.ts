import { expect, it } from 'vitest';
import { QuietHeap } from './quiet-heap.ts';

const MiB = 1_048_576;

it('collects what a quiet thread has left, and nothing of a busy one', () => {
  let used = 40 * MiB;
  let utilization = 0.1;
  let collections = 0;
  const heap = new QuietHeap({
    usedBytes: () => used,
    utilization: () => utilization,
    collect() {
      collections++;
      used = 41 * MiB;
    },
  });
  const look = (usedMiB: number): number => {
    used = usedMiB * MiB;
    heap.look();
    return collections;
  };
  expect(look(47)).toBe(0);
  expect(look(48)).toBe(1);
  // It begins anew at what the collection left.
  expect(look(48.9)).toBe(1);
  utilization = 0.3;
  expect(look(90)).toBe(1);
  utilization = 0.29;
  expect(look(90)).toBe(2);
  // V8 has collected by itself meanwhile.
  expect(look(30)).toBe(2);
  expect(look(38)).toBe(3);
});
