import { expect, it } from 'vitest';
import { defaultEngineMemoryMiB } from './engine-memory.ts';

const GiB = 1_073_741_824;

it("is a quarter of the machine's memory, or of the container's where that is less", () => {
  expect(defaultEngineMemoryMiB(16 * GiB, undefined)).toBe(4_096);
  expect(defaultEngineMemoryMiB(16 * GiB, 0)).toBe(4_096);
  expect(defaultEngineMemoryMiB(16 * GiB, 8 * GiB)).toBe(2_048);
  // cgroup v1 says it this way where nothing is set.
  expect(defaultEngineMemoryMiB(16 * GiB, 2 ** 64 - 4_096)).toBe(4_096);
});

it('is never less than the engine needs', () => {
  expect(defaultEngineMemoryMiB(1 * GiB, undefined)).toBe(768);
  expect(defaultEngineMemoryMiB(64 * GiB, 1 * GiB)).toBe(768);
});
