// Files of deleted projects in this process's data directory: kept exports, and files that people brought. Each process
// that has a directory looks by itself, now and then: who worked on the deletion may have another one.

import { erasureKey } from '../../platform/erasure/erasure-record.ts';
import { ExportFiles } from '../../platform/exports/export-files.ts';
import { ImportFiles } from '../../platform/imports/import-files.ts';
import type { ErasureParts } from '../erasure-parts.ts';

/** Throws the disk's errors. */
export async function removeFiles(
  requests: Pick<ErasureParts['requests'], 'ask'>,
  dataDir: string,
): Promise<void> {
  const exports = new ExportFiles(dataDir);
  const imports = new ImportFiles(dataDir);
  const isDeleted = async (projectId: string): Promise<boolean> => {
    if (!/^[\w-]+$/.test(projectId)) return false;
    const found = await requests.ask(erasureKey(projectId));
    return found.kind === 'found' && found.record.whole?.kind === 'project';
  };
  for (const projectId of await exports.projects()) {
    if (await isDeleted(projectId)) await exports.removeProject(projectId);
  }
  for (const projectId of await imports.projects()) {
    if (await isDeleted(projectId)) await imports.forget(projectId);
  }
}
