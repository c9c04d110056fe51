// The parts of `npm test` and `npm run check`: types, formats and definitions, a run of vitest, and the line that
// counts what passed.

import { spawnSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { root } from './files.mjs';

const bin = (name) => join(root, 'node_modules', '.bin', name);

const checks = [
  ['types', 'tsc', '-p', '.'],
  ['types of the browser', 'tsc', '-p', 'sdk/browser'],
  ['types of the pages', 'tsc', '-p', 'web'],
  ['format and lint', 'biome', 'check', '.'],
  ['definitions', 'buf', 'lint'],
  ['format of the definitions', 'buf', 'format', '-d', '--exit-code'],
];

/** Types, formats and definitions. */
export function runChecks() {
  let passed = 0;
  for (const [name, command, ...args] of checks) {
    const run = spawnSync(bin(command), args, { cwd: root, stdio: 'inherit' });
    if (run.status === 0) passed++;
    process.stdout.write(`${run.status === 0 ? 'ok' : 'FAILED'}: ${name}\n`);
  }
  return { passed, failed: checks.length - passed, skipped: 0 };
}

/** `args` are vitest's: paths of files or folders, all where there is none, and its flags. */
export function runTests(args) {
  const report = join(tmpdir(), `millrace-test-${process.pid}.json`);
  const reporters = ['default', 'json', join(root, 'setup', 'tests', 'files.mjs')];
  const run = spawnSync(
    bin('vitest'),
    [
      'run',
      ...reporters.map((name) => `--reporter=${name}`),
      `--outputFile.json=${report}`,
      ...args,
    ],
    { cwd: root, stdio: 'inherit' },
  );
  try {
    const { numPassedTests, numFailedTests, numPendingTests } = JSON.parse(
      readFileSync(report, 'utf8'),
    );
    // A file that fails outside its tests counts too.
    const failed = run.status !== 0 && numFailedTests === 0 ? 1 : numFailedTests;
    return { passed: numPassedTests, failed, skipped: numPendingTests };
  } catch {
    return { passed: 0, failed: 1, skipped: 0 };
  } finally {
    rmSync(report, { force: true });
  }
}

/** Prints the last line, `N passed, N failed, N skipped`, and ends the process. */
export function conclude(...counts) {
  const sum = (name) => counts.reduce((total, count) => total + count[name], 0);
  const failed = sum('failed');
  process.stdout.write(`${sum('passed')} passed, ${failed} failed, ${sum('skipped')} skipped\n`);
  process.exit(failed === 0 ? 0 : 1);
}
