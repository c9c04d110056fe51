// Files of deleted projects leave a data directory, and those of all others stay. An import that is under way is
// canceled first: whoever reads its file ends.

import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { create } from '@bufbuild/protobuf';
import { afterAll, expect, it } from 'vitest';
import { deletionRequest } from '../../platform/erasure/ask-for-deletion.ts';
import { type ErasureRecord, erasureKey } from '../../platform/erasure/erasure-record.ts';
import { ExportFiles } from '../../platform/exports/export-files.ts';
import { ImportFiles } from '../../platform/imports/import-files.ts';
import { ImportSchema } from '../../proto/gen/dashboard/imports/v1/imports_pb.js';
import { removeFiles } from './remove-files.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'millrace-files-'));
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

const whole = { kind: 'project', organizationId: 'o', displayName: '' } as const;
const deleted = new Map<string, ErasureRecord>([
  [erasureKey('gone'), deletionRequest('gone', whole, 1)],
  // Of the same name, and no project.
  [erasureKey('kept'), deletionRequest('kept', { ...whole, kind: 'account' }, 1)],
]);
const requests = {
  get(key: string) {
    const record = deleted.get(key);
    return record && { record, revision: 1 };
  },
};

it('removes exports and imports of deleted projects alone', async () => {
  // A directory that no process has used yet.
  await removeFiles(requests, dataDir);
  const exports = new ExportFiles(dataDir);
  const scheduled = new ExportFiles(dataDir, 'scheduled-exports');
  const imports = new ImportFiles(dataDir);
  await exports.openDirectory();
  const record = create(ImportSchema, { id: 'i' });
  for (const projectId of ['gone', 'kept']) {
    await exports.make(projectId, 'e');
    await scheduled.make(projectId, 's');
    writeFileSync(join(exports.directory, projectId, 'e', 'part'), 'rows');
    mkdirSync(join(imports.directory, 'ended', projectId), { recursive: true });
    await imports.begin(projectId, record);
  }
  await removeFiles(requests, dataDir);
  expect(await exports.projects()).toEqual(['kept']);
  expect(await scheduled.projects()).toEqual(['kept']);
  expect((await imports.findLive('gone'))?.isCanceled).toBe(true);
  expect((await imports.findLive('kept'))?.isCanceled).toBe(false);
  // The runner has ended it.
  await imports.end('gone', record);
  await removeFiles(requests, dataDir);
  expect(await imports.projects()).toEqual(['kept', 'kept']);
  expect(existsSync(join(imports.directory, 'ended', 'gone'))).toBe(false);
});
