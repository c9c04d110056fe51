// The parts of `npm test` and `npm run check`: types, formats and definitions, a run of vitest, and the line that
// counts what passed.

import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { keptFolder, root } from './files.mjs';
import { takeRanOut } from './ran-out.mjs';

const bin = (name) => join(root, 'node_modules', '.bin', name);

/**
 * Types, formats and definitions. With `changed`, the paths that differ from the main branch, types are looked at again
 * only where they may differ from the last such run, and formats of these files alone.
 */
export function runChecks(changed) {
  const types = (project) => [
    ...['tsc', '-p', project],
    ...(changed === undefined ? [] : ['--incremental', '--tsBuildInfoFile', keptTypes(project)]),
  ];
  const checks = [
    ['types', ...types('.')],
    ['types of the browser', ...types('sdk/browser')],
    ['types of the pages', ...types('web')],
    ['format and lint', 'biome', 'check', ...formatted(changed)],
    ['definitions', 'buf', 'lint'],
    ['format of the definitions', 'buf', 'format', '-d', '--exit-code'],
  ];
  let passed = 0;
  for (const [name, command, ...args] of checks) {
    const run = spawnSync(bin(command), args, { cwd: root, stdio: 'inherit' });
    if (run.status === 0) passed++;
    process.stdout.write(`${run.status === 0 ? 'ok' : 'FAILED'}: ${name}\n`);
  }
  return { passed, failed: checks.length - passed, skipped: 0 };
}

function keptTypes(project) {
  return join(keptFolder, `types-${project.replaceAll(/\W/g, '-')}.tsbuildinfo`);
}

/** What biome looks at: everything where its rules are changed, or nobody knows what is. */
function formatted(changed = ['biome.json']) {
  if (changed.some((path) => /^(biome|package(-lock)?)\.json$/.test(path))) return ['.'];
  const there = changed.filter((path) => existsSync(join(root, path)));
  return ['--no-errors-on-unmatched', 'biome.json', ...there];
}

/**
 * `args` are vitest's: paths of files or folders, all where there is none, and its flags. Pages whose waits ran out are
 * asked again, alone: see ran-out.mjs.
 */
export function runTests(args) {
  const first = runVitest(args);
  const paths = takeRanOut();
  if (paths.length === 0) return first;
  process.stdout.write(`waits ran out, asked again alone: ${paths.join(' ')}\n`);
  const again = runVitest([
    ...paths,
    '--maxWorkers=1',
    ...args.filter((word) => word.startsWith('-')),
  ]);
  takeRanOut();
  const passedNow = first.failed - again.failed;
  process.stdout.write(`${passedNow} of ${first.failed} that had run out pass alone\n`);
  return { ...first, passed: first.passed + passedNow, failed: again.failed };
}

function runVitest(args) {
  const report = join(tmpdir(), `millrace-test-${process.pid}.json`);
  const own = ['files.mjs', 'ran-out.mjs'].map((name) => join(root, 'setup', 'tests', name));
  const reporters = ['default', 'json', ...own];
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
