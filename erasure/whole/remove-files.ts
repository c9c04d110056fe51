// Files of deleted projects in this process's data directory: kept and scheduled exports, and files that people
// brought. Each process that has a directory looks by itself: who worked on the deletion may have another one.

import type { WatchedBucket } from '../../platform/broker/watched-bucket.ts';
import { type ErasureRecord, erasureKey } from '../../platform/erasure/erasure-record.ts';
import { ExportFiles } from '../../platform/exports/export-files.ts';
import { ImportFiles } from '../../platform/imports/import-files.ts';

/** Throws the disk's errors. */
export async function removeFiles(
  requests: Pick<WatchedBucket<ErasureRecord>, 'get'>,
  dataDir: string,
): Promise<void> {
  const exports = [new ExportFiles(dataDir), new ExportFiles(dataDir, 'scheduled-exports')];
  const imports = new ImportFiles(dataDir);
  const isDeleted = (projectId: string): boolean =>
    requests.get(erasureKey(projectId))?.record.whole?.kind === 'project';
  for (const files of exports) {
    for (const projectId of await files.projects()) {
      if (isDeleted(projectId)) await files.removeProject(projectId);
    }
  }
  for (const projectId of await imports.projects()) {
    if (isDeleted(projectId)) await imports.forget(projectId);
  }
}
