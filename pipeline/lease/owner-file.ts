// A data directory's file with the name under which its process last had the shards. The lock of the directory says
// that this process is gone, so that the next one waits for no lease after a kill.

import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../platform/log.ts';

const fileName = 'pipeline-owner';

/**
 * The directory must be locked. Without the name, as on a full disk, the next process waits for the lease to run out.
 */
export function openOwnerFile(
  dataDir: string,
  log: Pick<Log, 'warn'>,
): { previous?: string; keepName(owner: string): void } {
  const path = join(dataDir, fileName);
  const previous = read(path);
  return {
    ...(previous !== undefined && { previous }),
    keepName(owner) {
      try {
        writeFileSync(path, owner, { mode: 0o600 });
      } catch (error) {
        log.warn({ err: error }, `${path} could not be written`);
      }
    },
  };
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
