import { defineConfig } from 'vitest/config';

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: ['node_modules', 'dist', 'data'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A poll ends when its condition holds: the bound is for a condition that never does, on a busy machine.
    expect: { poll: { timeout: 20_000, interval: 20 } },
    pool: 'forks',
    maxWorkers: 2,
  },
});
