// Imports on disk, below the data directory. `live/PROJECT` holds the one import of a project that is under way: its
// file, its record, its state, and marks of what a person asked for. `ended/PROJECT` holds records of those that ended.
// Each file has one writer: methods announce, append and mark, the runner writes states and ends.

import { randomUUID } from 'node:crypto';
import type { Stats } from 'node:fs';
import { mkdir, open, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { create, fromJsonString, toJsonString } from '@bufbuild/protobuf';
import { timestampMs } from '@bufbuild/protobuf/wkt';
import { type Import, ImportSchema } from '../../proto/gen/dashboard/imports/v1/imports_pb.js';

/** What a person asked for; it stays until the import ends. */
export type ImportMark = 'started' | 'canceled';

export interface LiveImport {
  projectId: string;
  record: Import;
  /** When the last part of the file came. */
  uploadTimeMs: number;
  isStarted: boolean;
  isCanceled: boolean;
}

export type Appended =
  | { kind: 'appended'; bytes: number }
  | { kind: 'elsewhere'; bytes: number }
  /** The import has ended meanwhile. */
  | { kind: 'gone' };

/** Of a project. */
const maxEnded = 10;
const recordFile = 'import.json';
const stateFile = 'state.json';

export class ImportFiles {
  readonly directory: string;
  readonly #live: string;
  readonly #ended: string;
  readonly #gone: string;

  constructor(dataDir: string) {
    this.directory = join(dataDir, 'imports');
    this.#live = join(this.directory, 'live');
    this.#ended = join(this.directory, 'ended');
    this.#gone = join(this.directory, 'gone');
  }

  /** Makes the directories. */
  async prepare(): Promise<void> {
    for (const path of [this.#live, this.#ended])
      await mkdir(path, { recursive: true, mode: 0o700 });
  }

  /** Projects that have an import under way. */
  async liveProjects(): Promise<string[]> {
    return (await namesIn(this.#live)).toSorted();
  }

  /** Projects that an import is or was kept of. */
  async projects(): Promise<string[]> {
    return [...(await namesIn(this.#live)), ...(await namesIn(this.#ended))];
  }

  /** One that is under way is canceled, and removed by another call once it has ended. */
  async forget(projectId: string): Promise<void> {
    const live = await this.findLive(projectId);
    if (live !== undefined) await this.mark(live, 'canceled');
    else await rm(join(this.#ended, projectId), { recursive: true, force: true });
  }

  /** False where the project has another import under way. */
  async begin(projectId: string, record: Import): Promise<boolean> {
    await this.prepare();
    try {
      // One process alone makes the directory, whatever others do at that moment.
      await mkdir(this.#in(projectId), { mode: 0o700 });
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false;
      throw error;
    }
    await writeFile(this.uploadPath(projectId, record), '', { mode: 0o600 });
    await writeWhole(join(this.#in(projectId), recordFile), record);
    return true;
  }

  /** Files and marks are named by their import: one that has ended meets nothing of the next. */
  uploadPath(projectId: string, { id }: Pick<Import, 'id'>): string {
    return join(this.#in(projectId), `upload-${id}`);
  }

  /** Undefined where there is none, or where its making was broken off. */
  async findLive(projectId: string): Promise<LiveImport | undefined> {
    const directory = this.#in(projectId);
    const names = await namesIn(directory);
    const made = await readRecord(join(directory, recordFile));
    if (made === undefined) return undefined;
    const record = (await readRecord(join(directory, stateFile))) ?? made;
    const upload = await statOf(this.uploadPath(projectId, record));
    record.uploadedBytes = BigInt(upload?.size ?? 0);
    return {
      ...{ projectId, record, uploadTimeMs: upload?.mtimeMs ?? 0 },
      isStarted: names.includes(`started-${record.id}`),
      isCanceled: names.includes(`canceled-${record.id}`),
    };
  }

  /** The one that is under way, then those that ended, the newest first. */
  async list(projectId: string): Promise<Import[]> {
    const live = await this.findLive(projectId);
    const directory = join(this.#ended, projectId);
    const names = (await namesIn(directory)).toSorted().reverse();
    const ended = await Promise.all(names.map((name) => readRecord(join(directory, name))));
    const records = ended.filter((record) => record !== undefined);
    if (live === undefined) return records;
    // Until its file is out of the way, an import is in both places, and no other one can begin.
    return [live.record, ...records.filter(({ id }) => id !== live.record.id)];
  }

  /** Writes `data` behind the first `offset` bytes of an import's file, where so many are there. */
  async append(live: LiveImport, offset: bigint, data: Uint8Array): Promise<Appended> {
    const path = this.uploadPath(live.projectId, live.record);
    const file = await unlessGone(open(path, 'r+'));
    if (file === undefined) return { kind: 'gone' };
    try {
      const { size } = await file.stat();
      if (BigInt(size) !== offset) return { kind: 'elsewhere', bytes: size };
      await file.write(data, 0, data.length, size);
      return { kind: 'appended', bytes: size + data.length };
    } finally {
      await file.close();
    }
  }

  /** Whether its record is kept already, and only its file was not removed. */
  async isEnded(projectId: string, record: Import): Promise<boolean> {
    return (await statOf(this.#endedPath(projectId, record))) !== undefined;
  }

  /** Says nothing to an import that has ended meanwhile. */
  async mark({ projectId, record }: LiveImport, mark: ImportMark): Promise<void> {
    const path = join(this.#in(projectId), `${mark}-${record.id}`);
    await unlessGone(writeFile(path, '', { mode: 0o600 }));
  }

  async writeState(projectId: string, record: Import): Promise<void> {
    await writeWhole(join(this.#in(projectId), stateFile), record);
  }

  /** Keeps the record and removes everything else. */
  async end(projectId: string, record: Import): Promise<void> {
    const directory = join(this.#ended, projectId);
    await mkdir(directory, { recursive: true, mode: 0o700 });
    await writeWhole(this.#endedPath(projectId, record), record);
    const names = (await namesIn(directory)).toSorted();
    for (const old of names.slice(0, -maxEnded)) await rm(join(directory, old), { force: true });
    await this.remove(projectId);
  }

  /** At once for everybody else: the next import of the project can begin before the file is removed. */
  async remove(projectId: string): Promise<void> {
    await mkdir(this.#gone, { recursive: true, mode: 0o700 });
    await unlessGone(rename(this.#in(projectId), join(this.#gone, randomUUID())));
    await this.removeGone();
  }

  /** Also what a kill left. The folder itself stays: another removal may be about to move something into it. */
  async removeGone(): Promise<void> {
    for (const name of await namesIn(this.#gone))
      await rm(join(this.#gone, name), { recursive: true, force: true, maxRetries: 3 });
  }

  /** How long ago the directory of an import was made or last changed; 0 where there is none. */
  async changeTimeMs(projectId: string): Promise<number> {
    return (await statOf(this.#in(projectId)))?.mtimeMs ?? 0;
  }

  /** Names are in the order of time. */
  #endedPath(projectId: string, { createTime, id }: Import): string {
    const timeMs = createTime === undefined ? 0 : timestampMs(createTime);
    return join(this.#ended, projectId, `${String(timeMs).padStart(15, '0')}-${id}.json`);
  }

  #in(projectId: string): string {
    return join(this.#live, projectId);
  }
}

/** A copy in another state. */
export function withState(record: Import, changes: Partial<Omit<Import, '$typeName'>>): Import {
  return create(ImportSchema, { ...record, ...changes });
}

async function namesIn(directory: string): Promise<string[]> {
  return (await unlessGone(readdir(directory))) ?? [];
}

function statOf(path: string): Promise<Stats | undefined> {
  return unlessGone(stat(path));
}

async function readRecord(path: string): Promise<Import | undefined> {
  const text = await unlessGone(readFile(path, 'utf8'));
  if (text === undefined) return undefined;
  // Of a newer version that was here before, members that this one does not know are passed over.
  return fromJsonString(ImportSchema, text, { ignoreUnknownFields: true });
}

/** Undefined where there is no such file. */
async function unlessGone<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Whoever reads meets the old text or the new one. */
async function writeWhole(path: string, record: Import): Promise<void> {
  await writeFile(`${path}.next`, toJsonString(ImportSchema, record), { mode: 0o600 });
  await rename(`${path}.next`, path);
}

function codeOf(error: unknown): unknown {
  return error instanceof Error && 'code' in error ? error.code : undefined;
}
