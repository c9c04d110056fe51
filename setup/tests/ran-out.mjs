// Browsers' tests whose wait ran out, and nothing else failed. On a busy machine that says little: they are asked once
// more, alone. A wrong answer never is, nor a wait for the service's own numbers, which a wrong one would end as well.

import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { keptFolder, root } from './files.mjs';

/** More of them have another reason than a busy machine. */
const maxFiles = 3;
const folder = 'test/web/';
const keptFile = join(keptFolder, 'ran-out.json');

/** Whether a browser's wait ran out: Playwright's own, or that of test/harness/web/page-condition.ts. */
export function isRanOut({ name = '', message = '' }) {
  return name === 'TimeoutError' || message.startsWith('it does not hold in the page: ');
}

/**
 * Paths to ask again: `files` are those that failed, `errors` all failures of each. Empty where anything else failed,
 * or too many did.
 */
export function askedAgain(files) {
  const areWaits = files.every(
    ({ path, errors }) => path.startsWith(folder) && errors.length > 0 && errors.every(isRanOut),
  );
  return areWaits && files.length <= maxFiles ? files.map(({ path }) => path) : [];
}

/** What the run before left; it is gone then. */
export function takeRanOut() {
  try {
    return JSON.parse(readFileSync(keptFile, 'utf8'));
  } catch {
    return [];
  } finally {
    rmSync(keptFile, { force: true });
  }
}

/** A reporter of vitest that keeps the paths to ask again. */
export default class KeepRanOut {
  onTestRunEnd(modules, unhandled) {
    const failed = modules.filter((module) => !module.ok());
    const files = failed.map((module) => ({
      path: relative(root, module.moduleId),
      errors: errorsOf(module),
    }));
    mkdirSync(keptFolder, { recursive: true });
    writeFileSync(keptFile, JSON.stringify(unhandled.length > 0 ? [] : askedAgain(files)));
  }
}

/** Of the file itself, its suites and its tests. */
function errorsOf(module) {
  const parts = [module, ...module.children.allSuites()];
  const tests = [...module.children.allTests()];
  return [
    ...parts.flatMap((part) => part.errors()),
    ...tests.flatMap((test) => test.result().errors ?? []),
  ];
}
