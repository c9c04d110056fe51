// Files of exports below the data directory: `exports/PROJECT/ID/` holds the plan, the parts and the manifest of a kept
// one, `scheduled-exports/PROJECT/ID/` a file on its way to a bucket. A file has its name once it is whole on the disk.
// What there is to be is the records' to say.

import { randomUUID } from 'node:crypto';
import { constants } from 'node:fs';
import {
  type FileHandle,
  mkdir,
  open,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';

const idFile = 'directory-id';
/** A file made between the look into a folder and its removal is removed by another try, 100 to 300 ms later. */
const besideWriters = { recursive: true, force: true, maxRetries: 3 } as const;

export class ExportFiles {
  readonly directory: string;

  constructor(dataDir: string, folder: 'exports' | 'scheduled-exports' = 'exports') {
    this.directory = join(dataDir, folder);
  }

  /**
   * A random id, made once: records name it, so that a process with another data directory, or with a restored one,
   * leaves files alone that it does not have.
   */
  async openDirectory(): Promise<string> {
    await mkdir(this.directory, { recursive: true, mode: 0o700 });
    const path = join(this.directory, idFile);
    try {
      // One of several processes makes it.
      await writeFile(path, randomUUID(), { flag: 'wx', mode: 0o600, flush: true });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
    }
    for (let tries = 0; ; tries++) {
      const id = await readFile(path, 'utf8');
      if (id.length === 36) return id;
      // Another process is at it. A kill at that moment may leave it empty: whoever waited makes it anew.
      if (tries === maxTries) await writeFile(path, randomUUID(), { mode: 0o600, flush: true });
      else await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }

  async make(projectId: string, id: string): Promise<void> {
    await mkdir(this.#in(projectId, id), { recursive: true, mode: 0o700 });
  }

  /** Writes a file, which has its name once `write` has resolved and its bytes are on the disk. */
  async write<T>(
    projectId: string,
    id: string,
    name: string,
    write: (file: FileHandle, path: string) => Promise<T>,
  ): Promise<T> {
    const path = join(this.#in(projectId, id), name);
    const newPath = `${path}.new`;
    const file = await open(newPath, 'w+', 0o600);
    let written: T;
    try {
      written = await write(file, newPath);
      await file.sync();
    } catch (error) {
      await file.close();
      await rm(newPath, { force: true });
      throw error;
    }
    await file.close();
    await rename(newPath, path);
    await syncDirectory(this.#in(projectId, id));
    return written;
  }

  /** Of a file that was written. */
  pathOf(projectId: string, id: string, name: string): string {
    return join(this.#in(projectId, id), name);
  }

  /** Undefined where there is no such file. */
  async readText(projectId: string, id: string, name: string): Promise<string | undefined> {
    return unlessGone(readFile(join(this.#in(projectId, id), name), 'utf8'));
  }

  /** Undefined where there is no such file. Its caller closes it. */
  async open(projectId: string, id: string, name: string): Promise<FileHandle | undefined> {
    return unlessGone(open(join(this.#in(projectId, id), name), constants.O_RDONLY));
  }

  async bytesOf(projectId: string, id: string, name: string): Promise<number | undefined> {
    return (await unlessGone(stat(join(this.#in(projectId, id), name))))?.size;
  }

  /** Throws ENOTEMPTY where somebody writes into it all the while. */
  async remove(projectId: string, id: string): Promise<void> {
    await rm(this.#in(projectId, id), besideWriters);
  }

  /** Every export that has files, or had some. */
  async all(): Promise<{ projectId: string; id: string }[]> {
    const found: { projectId: string; id: string }[] = [];
    for (const projectId of await this.projects()) {
      const ids = await foldersIn(join(this.directory, projectId));
      found.push(...ids.map((id) => ({ projectId, id })));
    }
    return found;
  }

  /** Projects that files are or were there of. */
  projects(): Promise<string[]> {
    return foldersIn(this.directory);
  }

  async removeProject(projectId: string): Promise<void> {
    await rm(join(this.directory, projectId), besideWriters);
  }

  #in(projectId: string, id: string): string {
    return join(this.directory, projectId, id);
  }
}

const maxTries = 20;

async function foldersIn(path: string): Promise<string[]> {
  const entries = await unlessGone(readdir(path, { withFileTypes: true }));
  return (entries ?? []).filter((one) => one.isDirectory()).map(({ name }) => name);
}

/** So that the name, too, survives a loss of power. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, constants.O_RDONLY);
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
