// `npm run check`: what fits into two minutes. Types, formats and definitions, the files of plain functions, and of the
// other tests those that the change since the main branch reaches over the fewest imports. `npm test` has the rest.
import { build, prepare } from './prepare.mjs';
import { changedFiles, reachOf } from './tests/changes.mjs';
import { testFiles, workers } from './tests/files.mjs';
import { conclude, runChecks, runTests } from './tests/gate.mjs';

/** Of two minutes, with room for a busy machine. */
const wholeSeconds = 90;
/** Of the time of three workers on two cores: their starts, and the end when only one has work. */
const usedShare = 0.8;

prepare({ needsBroker: true, needsBrowser: true, builds: false });
const changed = changedFiles();
const checked = runChecks(changed);
// The types of all that is built are looked at: once is enough.
build({ isChecked: checked.failed === 0 });
const { chosen, left } = choose();
const tested = runTests(chosen.map(({ path }) => path));
if (left.length > 0) {
  const nearest = left.slice(0, 5).map(({ path }) => path);
  process.stdout.write(
    `${left.length} more files that the change reaches are left to \`npm test\`, the nearest: ${nearest.join(' ')}\n`,
  );
}
conclude(checked, tested);

/** Plain files cost little: all are chosen. Of the others the nearest to the change, as many as there is time for. */
function choose() {
  if (changed === undefined) {
    process.stdout.write('no base is known: what is changed is left to `npm test`\n');
  }
  const reach = reachOf(changed ?? []);
  const files = testFiles().filter(({ isSmoke }) => !isSmoke);
  const plain = files.filter(({ isPlain }) => isPlain);
  const reached = files
    .filter(({ path, isPlain }) => !isPlain && reach.has(path))
    .toSorted((a, b) => reach.get(a.path) - reach.get(b.path) || a.seconds - b.seconds);
  const leftSeconds = wholeSeconds - process.uptime();
  let room = leftSeconds * workers * usedShare - sumOf(plain);
  const chosen = reached.filter(({ seconds }) => {
    const fits = seconds <= Math.min(room, leftSeconds * usedShare);
    if (fits) room -= seconds;
    return fits;
  });
  return { chosen: [...plain, ...chosen], left: reached.filter((file) => !chosen.includes(file)) };
}

function sumOf(files) {
  return files.reduce((sum, { seconds }) => sum + seconds, 0);
}
