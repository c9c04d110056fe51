// Files of deleted projects in this process's data directory: kept exports, and files that people brought. Each process
// that has a directory looks by itself, now and then: who worked on the deletion may have another one.

import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import { type ErasureRecord, erasureKey } from '../../platform/erasure/erasure-record.ts';
import { ExportFiles } from '../../platform/exports/export-files.ts';
import { ImportFiles } from '../../platform/imports/import-files.ts';

/** Throws the disk's errors. */
export async function removeFiles(
  requests: Pick<WatchedBucket<ErasureRecord>, 'get'>,
  dataDir: string,
): Promise<void> {
  const exports = new ExportFiles(dataDir);
  const imports = new ImportFiles(dataDir);
  const isDeleted = (projectId: string): boolean =>
    requests.get(erasureKey(projectId))?.record.whole?.kind === 'project';
  for (const projectId of await exports.projects()) {
    if (isDeleted(projectId)) await exports.removeProject(projectId);
  }
  for (const projectId of await imports.projects()) {
    if (isDeleted(projectId)) await imports.forget(projectId);
  }
}
