// Reads every file of a backup and compares it with the list of contents, before anything is restored.

import { existsSync } from 'node:fs';
import { join, relative } from 'node:path';
import {
  keyFile,
  type Manifest,
  manifestFile,
  partDirectory,
  readManifest,
  type SavedFile,
  streamFile,
} from '../manifest.ts';
import { hashFile } from '../saved-files.ts';

const named = 20;

/** Its list of contents. Throws one sentence that names every file which is missing or damaged, up to twenty. */
export async function checkBackup(
  directory: string,
): Promise<{ manifest: Manifest; files: number; bytes: number }> {
  const manifest = readManifest(directory);
  if (manifest === undefined) {
    throw new Error(`${directory} holds no whole backup: ${manifestFile(directory)} is missing`);
  }
  const damages: string[] = [];
  let [files, bytes] = [0, 0];
  for (const [path, saved] of filesOf(directory, manifest)) {
    files++;
    bytes += saved.bytes;
    const damage = await damageOf(path, saved);
    if (damage !== undefined) damages.push(`${relative(directory, path)} ${damage}`);
  }
  if (damages.length === 0) return { manifest, files, bytes };
  const more = damages.length > named ? `, and ${damages.length - named} more` : '';
  throw new Error(
    `${damages.length} of ${files} files of the backup are not what they were: ` +
      `${damages.slice(0, named).join(', ')}${more}; nothing was written`,
  );
}

async function damageOf(path: string, saved: SavedFile): Promise<string | undefined> {
  if (!existsSync(path)) return 'is missing';
  try {
    const found = await hashFile(path);
    if (found.bytes !== saved.bytes) return `has ${found.bytes} bytes of ${saved.bytes}`;
    return found.sha256 === saved.sha256 ? undefined : 'is damaged';
  } catch {
    return 'cannot be read';
  }
}

function* filesOf(
  directory: string,
  { streams, store, keys }: Manifest,
): Generator<[path: string, saved: SavedFile]> {
  for (const stream of streams) {
    yield [streamFile(directory, stream.name, stream.sha256), stream];
  }
  for (const [name, saved] of Object.entries(keys)) {
    yield [keyFile(directory, name, saved.sha256), saved];
  }
  for (const { name, parts } of store.tables) {
    for (const { id, files } of parts) {
      const part = partDirectory(directory, name, id);
      for (const [file, saved] of Object.entries(files)) yield [join(part, file), saved];
    }
  }
}
