import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

// The longest files, the longest first. Nothing in their size tells: a file that starts late holds up the end alone.
const longest = [
  'bench/smoke.test.ts',
  'test/insights/oracle.test.ts',
  'pipeline/crash.test.ts',
  'query/insights/run/kept/kept-days.test.ts',
  'test/webhook-crash.test.ts',
  'test/cluster.test.ts',
  'test/profile-model.test.ts',
  'test/web/every-route.test.ts',
  'query/filters/filter.test.ts',
  'pipeline/dedup/seen-set.test.ts',
  'test/start.test.ts',
  'pipeline/start.test.ts',
  'ingest/rpc/differential.test.ts',
  'pipeline/write/writer.test.ts',
  'test/exposed.test.ts',
].map((file) => join(import.meta.dirname, file));

/** Names in a file that starts servers, or changes or measures its process: that file has its process alone. */
const ownProcess =
  /\bvi\.|\b(process|performance)\.|gzip|\bglobal(This)?\.|node:(child_process|http|net|worker_threads|perf_hooks)|harness\/(clients|insights|servers|services|tables|webhooks)\//;
const root = import.meta.dirname;
const exclude = ['node_modules', 'dist', 'data'];

/** Files of plain functions: they share processes, because a process costs more than such a file. */
const plain = testFiles().filter(
  (file) => !longest.includes(file) && !ownProcess.test(readFileSync(file, 'utf8')),
);

function testFiles(): string[] {
  return readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && !exclude.includes(entry.name))
    .flatMap(({ name }) =>
      readdirSync(join(root, name), { recursive: true, encoding: 'utf8' })
        .filter((file) => file.endsWith('.test.ts'))
        .map((file) => join(root, name, file)),
    );
}

function inRoot(files: readonly string[]): string[] {
  return files.map((file) => relative(root, file));
}

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification): number => {
      const at = longest.indexOf(moduleId);
      if (at !== -1) return at;
      // One after the other at the end: only neighbours share a process.
      return plain.includes(moduleId) ? longest.length + 1 : longest.length;
    };
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    testTimeout: 180_000,
    hookTimeout: 180_000,
    // A poll ends when its condition holds: the bound is for a condition that never does, on a busy machine.
    expect: { poll: { timeout: 20_000, interval: 20 } },
    globalSetup: join(import.meta.dirname, 'setup', 'temporary-files.mjs'),
    pool: 'forks',
    // One more than the smallest machine has cores: the long files wait for servers about as long as they compute.
    maxWorkers: 3,
    sequence: { sequencer: LongestFirst },
    projects: [
      {
        extends: true,
        test: {
          name: 'alone',
          include: ['**/*.test.{ts,tsx}'],
          exclude: [...exclude, ...inRoot(plain)],
        },
      },
      { extends: true, test: { name: 'plain', include: inRoot(plain), isolate: false } },
    ],
  },
});
