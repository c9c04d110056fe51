import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { ExportFiles } from './export-files.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'millrace-export-files-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));
const files = new ExportFiles(dataDir);

it('are removed while a few are still being made', async () => {
  for (let round = 0; round < 20; round++) {
    const id = `export-${round}`;
    await files.make('project', id);
    const made = (async () => {
      for (let n = 0; n < 10; n++) await files.write('project', id, `part-${n}`, async () => {});
    })();
    // As many parts are there as the disk has let through so far: none, some, all.
    for (let n = 0; n < round % 10; n++) await files.bytesOf('project', id, 'part-0');
    await Promise.all([files.remove('project', id), made.catch(ignoreGone)]);
  }
  expect(await files.all()).toEqual([]);
});

function ignoreGone(error: NodeJS.ErrnoException): void {
  if (error.code !== 'ENOENT') throw error;
}
