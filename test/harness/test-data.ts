// Test data of other projects, read from the folder that MILLRACE_TEST_DATA names. CONTRIBUTING.md lists the files and
// the repositories they come from. Tests that use it are skipped where the variable is unset.

import { join } from 'node:path';

const folder = process.env['MILLRACE_TEST_DATA'];

/** For `runIf`: a variable that names a folder without the file fails the test instead of skipping it. */
export const hasTestData = folder !== undefined && folder !== '';

/** Path of one file or folder of the test data; valid only where `hasTestData` is true. */
export function testData(...names: readonly string[]): string {
  return join(folder ?? '', ...names);
}
