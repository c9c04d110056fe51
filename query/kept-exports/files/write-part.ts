// Writes one file of an export as the engine makes it: its bytes are counted, hashed, and held against the room that
// is left, and it has its name once they are on the disk.

import { createHash } from 'node:crypto';
import { Code, ConnectError } from '@connectrpc/connect';
import type { ExportFiles } from '../../../platform/exports/export-files.ts';
import type { PartRecord } from '../../../platform/exports/export-record.ts';
import {
  exportFormats,
  type FileForm,
  gzipped,
  packsOnTheWay,
} from '../../export/export-format.ts';
import type { ExportAsked } from '../../export/export-request.ts';
import { createRowCounter } from './count-rows.ts';

/** Looks at the room before `bytes` more of a file are written to it. Throws resource_exhausted where there is none. */
export type CheckRoom = (fileBytes: number) => Promise<void>;

const MiB = 1_048_576;
/** The room is looked at before each: other writers of the disk have a reserve that is far larger. */
const bytesBetweenLooks = 8 * MiB;

/** `events-0001.ndjson.gz` */
export function partName(asked: Pick<ExportAsked, 'what'> & FileForm, place: number): string {
  const { extension } = exportFormats[asked.format];
  const number = String(place + 1).padStart(4, '0');
  return `${asked.what}-${number}.${extension}${packsOnTheWay(asked) ? '.gz' : ''}`;
}

/** Throws what `bytes` and `checkRoom` throw; nothing of the file is left then. */
export async function writePart(
  files: Pick<ExportFiles, 'write'>,
  { projectId, id, name }: { projectId: string; id: string; name: string },
  form: FileForm,
  bytes: AsyncIterable<Buffer>,
  checkRoom: CheckRoom,
): Promise<PartRecord> {
  const counter = createRowCounter(form.format);
  async function* counted(): AsyncGenerator<Buffer> {
    for await (const chunk of bytes) {
      counter.take(chunk);
      yield chunk;
    }
  }
  const packed = packsOnTheWay(form) ? gzipped(counted()) : counted();
  return files.write(projectId, id, name, async (file, path) => {
    const hash = createHash('sha256');
    let written = 0;
    let nextLook = 0;
    for await (const chunk of packed) {
      if (written >= nextLook) {
        await checkRoom(written);
        nextLook = written + bytesBetweenLooks;
      }
      hash.update(chunk);
      await file.appendFile(chunk);
      written += chunk.length;
    }
    const rows = await counter.rows(file, path);
    return { name, bytes: written, rows, sha256: hash.digest('hex') };
  });
}

/** What an export may take of the disk. */
export interface KeptRoom {
  freeBytes(): Promise<number>;
  /** Free space that is left to what must be written. */
  reserveBytes: number;
  /** Of one project's exports together. */
  maxBytesOfProject: number;
  /** Those of the project's exports that are on the disk, without the file that is being written. */
  keptBytes(projectId: string): number;
}

const GiB = 1_024 * MiB;
export const defaultMaxBytesOfProject = 32 * GiB;

export async function refuseFull(
  { freeBytes, reserveBytes, maxBytesOfProject, keptBytes }: KeptRoom,
  projectId: string,
  fileBytes: number,
): Promise<void> {
  if (keptBytes(projectId) + fileBytes > maxBytesOfProject) {
    throw new ConnectError(
      `the project's exports take more than ${Math.round(maxBytesOfProject / MiB)} MiB: cancel others, or export less`,
      Code.ResourceExhausted,
    );
  }
  if ((await freeBytes()) >= reserveBytes) return;
  throw new ConnectError(
    'the disk has no room beside its reserve (MILLRACE_DISK_RESERVE_MIB)',
    Code.ResourceExhausted,
  );
}
