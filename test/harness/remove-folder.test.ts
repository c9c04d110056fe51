import { existsSync, mkdirSync, mkdtempSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { removeFolder } from './remove-folder.ts';

const directory = mkdtempSync(join(tmpdir(), 'millrace-removed-'));
afterAll(() => removeFolder(directory));

it('removes a folder into which somebody still writes a few files', async () => {
  for (let round = 0; round < 20; round++) {
    const folder = join(directory, `${round}`);
    mkdirSync(folder);
    const written = (async () => {
      for (let n = 0; n < 10; n++) await writeFile(join(folder, `${n}`), '');
    })();
    await Promise.all([removeFolder(folder), written.catch(ignoreGone)]);
    expect(existsSync(folder)).toBe(false);
  }
});

it('says nothing of a folder that is not there', async () => {
  await removeFolder(join(directory, 'none'));
});

function ignoreGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
