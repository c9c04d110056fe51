// `npm test`: prepares, checks types, formatting and definitions, then runs every test on the real engines. Arguments
// are passed to vitest. The last line is `N passed, N failed, N skipped`.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { prepare } from './prepare.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
prepare({ needsBroker: true, needsBrowser: true });

process.stdout.write(`Node ${process.versions.node}\n`);
const bin = (name) => join(root, 'node_modules', '.bin', name);
const hasPages = existsSync(join(root, 'web', 'tsconfig.json'));
const checks = [
  ['types', bin('tsc'), '-p', '.'],
  ['types of the browser', bin('tsc'), '-p', 'sdk/browser'],
  ...(hasPages ? [['types of the pages', bin('tsc'), '-p', 'web']] : []),
  ['format and lint', bin('biome'), 'check', '.'],
  ['definitions', bin('buf'), 'lint'],
  ['format of the definitions', bin('buf'), 'format', '-d', '--exit-code'],
];
let passed = 0;
let failed = 0;
let skipped = 0;
for (const [name, command, ...args] of checks) {
  const run = spawnSync(command, args, { cwd: root, stdio: 'inherit' });
  if (run.status === 0) passed++;
  else failed++;
  process.stdout.write(`${run.status === 0 ? 'ok' : 'FAILED'}: ${name}\n`);
}

const report = join(tmpdir(), `millrace-test-${process.pid}.json`);
const run = spawnSync(
  bin('vitest'),
  [
    'run',
    '--reporter=default',
    '--reporter=json',
    `--outputFile.json=${report}`,
    ...process.argv.slice(2),
  ],
  { cwd: root, stdio: 'inherit' },
);
try {
  const counts = JSON.parse(readFileSync(report, 'utf8'));
  passed += counts.numPassedTests;
  failed += counts.numFailedTests;
  skipped += counts.numPendingTests;
  // A file that fails outside its tests counts too.
  if (run.status !== 0 && counts.numFailedTests === 0) failed++;
} catch {
  failed++;
}
rmSync(report, { force: true });
process.stdout.write(`${passed} passed, ${failed} failed, ${skipped} skipped\n`);
process.exit(failed === 0 ? 0 : 1);
