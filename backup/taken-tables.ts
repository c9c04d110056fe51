// Tables that were taken at one moment and wait to be saved, and how their parts come into the backup: what is there
// already is left as it is.

import { appendFileSync, existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import {
  keyFile,
  type Manifest,
  partDirectory,
  type SavedPart,
  type SavedTable,
  streamFile,
} from './manifest.ts';
import { writeDirectory } from './saved-files.ts';
import type { StoreTable } from './store-tables.ts';

export interface TakenPart extends Omit<SavedPart, 'files'> {
  /** Writes its files. */
  save(directory: string): Promise<void>;
}

export interface TakenTables {
  kind: 'parts' | 'rows';
  /** What takes time, before the moment. */
  prepare(tables: readonly StoreTable[]): Promise<void>;
  /** Gives up what was taken before. */
  begin(): Promise<void>;
  take(table: StoreTable): Promise<void>;
  parts(table: StoreTable): Promise<TakenPart[]>;
  /** Removes what was taken. */
  close(): Promise<void>;
}

/** The parts that a place of backups has, whole. */
export interface KnownParts {
  find(table: string, id: string): SavedPart | undefined;
  add(table: string, part: SavedPart): void;
  /** Removes whatever a manifest does not name, which is the newest now. */
  settle(manifest: Manifest): void;
}

/** Of the last backup, and of one that was not finished. */
export function openKnownParts(directory: string, last: Manifest | undefined): KnownParts {
  const journal = join(directory, 'unfinished.jsonl');
  const known = new Map<string, SavedPart>();
  for (const { name, parts } of last?.store.tables ?? []) {
    for (const part of parts) known.set(`${name}/${part.id}`, part);
  }
  for (const { table, part } of journalOf(journal)) known.set(`${table}/${part.id}`, part);
  return {
    find(table, id) {
      const part = known.get(`${table}/${id}`);
      return part !== undefined && existsSync(partDirectory(directory, table, id))
        ? part
        : undefined;
    },
    add(table, part) {
      appendFileSync(journal, `${JSON.stringify({ table, part })}\n`, { mode: 0o600 });
    },
    settle(manifest) {
      rmSync(journal, { force: true });
      removeOthers(directory, manifest);
    },
  };
}

interface JournalLine {
  table: string;
  part: SavedPart;
}

/** The last line of a killed command may be cut. */
function journalOf(file: string): JournalLine[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .split('\n')
    .flatMap((line) => {
      try {
        const value: JournalLine = JSON.parse(line);
        return [value];
      } catch {
        return [];
      }
    });
}

/** Saves what the place does not have yet; `onSaved` hears of each part that is new. */
export async function saveTable(
  directory: string,
  table: string,
  parts: readonly TakenPart[],
  { known, onSaved }: { known: KnownParts; onSaved(part: SavedPart): void },
): Promise<SavedTable> {
  const saved: SavedPart[] = [];
  for (const { save, ...part } of parts) {
    const there = known.find(table, part.id);
    if (there !== undefined) {
      saved.push({ ...there, name: part.name });
      continue;
    }
    const files = await writeDirectory(partDirectory(directory, table, part.id), save);
    const made = { ...part, files };
    known.add(table, made);
    saved.push(made);
    onSaved(made);
  }
  return { name: table, rows: saved.reduce((sum, { rows }) => sum + rows, 0), parts: saved };
}

function removeOthers(directory: string, { store, streams, keys }: Manifest): void {
  const keep = (under: string, names: readonly string[]): void => {
    const path = join(directory, under);
    if (!existsSync(path)) return;
    for (const name of readdirSync(path)) {
      if (!names.includes(name)) rmSync(join(path, name), { recursive: true, force: true });
    }
  };
  keep(
    'streams',
    streams.map(({ name, sha256 }) => basename(streamFile(directory, name, sha256))),
  );
  keep(
    'keys',
    Object.entries(keys).map(([name, { sha256 }]) => basename(keyFile(directory, name, sha256))),
  );
  keep(
    'tables',
    store.tables.map(({ name }) => name),
  );
  for (const { name, parts } of store.tables) {
    keep(
      join('tables', name),
      parts.map(({ id }) => id),
    );
  }
}
