// `npm test`: prepares, checks types, formatting and definitions, then runs every test on the real engines. Arguments
// are passed to vitest. The last line is `N passed, N failed, N skipped`.
import { prepare } from './prepare.mjs';
import { changedFiles, touchesBenches } from './tests/changes.mjs';
import { testFiles } from './tests/files.mjs';
import { conclude, runChecks, runTests } from './tests/gate.mjs';

prepare({ needsBroker: true, needsBrowser: true });

process.stdout.write(`Node ${process.versions.node}\n`);
const checked = runChecks();
const args = process.argv.slice(2);
const namesFiles = args.some((word) => !word.startsWith('-'));
conclude(checked, runTests(namesFiles || touchesBenches(changedFiles()) ? args : withoutSmoke()));

/** The benches print figures of what they run: where neither has changed, nothing new can be wrong with them. */
function withoutSmoke() {
  process.stdout.write(
    'bench/smoke.test.ts is left out: neither bench/ nor what it imports is changed (`npm run test:soak` has it)\n',
  );
  const others = testFiles().filter(({ isSmoke }) => !isSmoke);
  return [...args, ...others.map(({ path }) => path)];
}
