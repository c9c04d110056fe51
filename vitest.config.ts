import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// The longest files, the longest first. Nothing in their size tells: a file that starts late holds up the end alone.
const longest = [
  'bench/smoke.test.ts',
  'test/insights/oracle.test.ts',
  'pipeline/crash.test.ts',
  'test/profile-model.test.ts',
  'query/filters/filter.test.ts',
  'test/start.test.ts',
  'pipeline/start.test.ts',
  'ingest/rpc/differential.test.ts',
  'pipeline/write/writer.test.ts',
  'test/exposed.test.ts',
].map((file) => join(import.meta.dirname, file));

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = longest.indexOf(moduleId);
      return at === -1 ? longest.length : at;
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    include: ['**/*.test.ts'],
    exclude: ['node_modules', 'dist', 'data'],
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A poll ends when its condition holds: the bound is for a condition that never does, on a busy machine.
    expect: { poll: { timeout: 20_000, interval: 20 } },
    pool: 'forks',
    // One more than the smallest machine has cores: the long files wait for servers about as long as they compute.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
  },
});
