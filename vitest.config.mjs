// How vitest runs the tests: which files share a process, how many run at once, and in which order.

import { join, relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer } from 'vitest/node';
import { foreign, outside, testFiles, workers } from './setup/tests/files.mjs';

const root = import.meta.dirname;
const files = testFiles();
const plain = files.filter(({ isPlain }) => isPlain).map(({ path }) => path);

/** Nothing in their size tells how long files take: one that starts late holds up the end alone. */
class LongestFirst extends BaseSequencer {
  async sort(specifications) {
    const byPath = new Map(files.map((file) => [file.path, file]));
    const rank = ({ moduleId }) => {
      const file = byPath.get(relative(root, moduleId));
      // Only neighbours share a process. The plain ones are last: so short that no worker ends early.
      const group = file?.isPlain ? 0 : 1;
      return group * 1e6 + (file?.seconds ?? 0);
    };
    const sorted = await super.sort(specifications);
    return sorted.toSorted((a, b) => rank(b) - rank(a));
  }
}

export default defineConfig({
  test: {
    testTimeout: 600_000,
    hookTimeout: 600_000,
    // A poll ends when its condition holds: the bound is for a condition that never does, on a busy machine. Each look
    // at a page costs the browser milliseconds, which the other files need.
    expect: { poll: { timeout: 120_000, interval: 50 } },
    globalSetup: join(root, 'setup', 'temporary-files.mjs'),
    pool: 'forks',
    maxWorkers: workers,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['**/*.test.{ts,tsx}'],
          exclude: [...foreign, ...outside, ...plain],
        },
      },
      { extends: true, test: { name: 'plain', include: plain, isolate: false } },
    ],
  },
});
