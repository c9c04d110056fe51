// What a backup holds: its list of contents, which names every file with its length and hash. Nothing of a backup that
// the list does not name belongs to it. Taking one is take-backup.ts, checking one check-backup.ts.

import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fieldOf } from '../platform/json.ts';
import type { SavedRecord } from '../platform/ledger/boundary.ts';
import { replacePrivateJson } from '../platform/secrets/private-file.ts';

export interface SavedFile {
  bytes: number;
  sha256: string;
}

/** A snapshot of a stream as the broker made it, in `streams/`. */
export interface SavedStream extends SavedFile {
  name: string;
  /** The broker's own description of the stream. */
  config: Record<string, unknown>;
  messages: number;
  lastSeq: number;
}

/** A part of a table, in `tables/<table>/<id>/`. Its files never change once they are written. */
export interface SavedPart {
  /** The hash of its content: a part with the same one is the same. */
  id: string;
  /** As ClickHouse calls it. */
  name: string;
  rows: number;
  files: Record<string, SavedFile>;
}

export interface SavedTable {
  name: string;
  rows: number;
  parts: SavedPart[];
}

export interface SavedStore {
  /** `parts`: ClickHouse's own files. `rows`: files in its format Native, of a server whose disk is elsewhere. */
  kind: 'parts' | 'rows';
  /** Statements that make the functions, which hold the keys of every profile's hash. */
  functions: { name: string; create: string }[];
  /** Names of the applied migrations. */
  migrations: string[];
  tables: SavedTable[];
}

export interface Manifest {
  /** Since the epoch. */
  takenMs: number;
  shards: number;
  streams: SavedStream[];
  /** Ledgers, which say up to which message the tables are. */
  records: SavedRecord[];
  store: SavedStore;
  /** In `keys/`. */
  keys: Record<string, SavedFile>;
}

const format = 'millrace-backup-1';

export const manifestFile = (directory: string): string => join(directory, 'manifest.json');
/** Named by its content too: a backup is whole until the next one is. */
export const streamFile = (directory: string, name: string, sha256: string): string =>
  join(directory, 'streams', `${name}-${sha256.slice(0, 16)}`);
export const partDirectory = (directory: string, table: string, id: string): string =>
  join(directory, 'tables', table, id);
export const keyFile = (directory: string, name: string, sha256: string): string =>
  join(directory, 'keys', `${name}-${sha256.slice(0, 16)}`);

/** Replaces the list whole, or not at all. */
export function writeManifest(directory: string, manifest: Manifest): void {
  const content = { format, manifest };
  replacePrivateJson(manifestFile(directory), { ...content, sha256: hashOf(content) });
}

/** Undefined where there is none. Throws one sentence where it is damaged, or of another version. */
export function readManifest(directory: string): Manifest | undefined {
  const file = manifestFile(directory);
  if (!existsSync(file)) return undefined;
  const value = parsed(readFileSync(file, 'utf8'));
  const manifest: unknown = fieldOf(value, 'manifest');
  const isWhole = hashOf({ format, manifest }) === fieldOf(value, 'sha256');
  if (fieldOf(value, 'format') !== format || !isWhole || !isManifest(manifest)) {
    throw new Error(`${file} is damaged, or no list of the format ${format}`);
  }
  return manifest;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function hashOf(content: object): string {
  return createHash('sha256').update(JSON.stringify(content)).digest('hex');
}

/** The hash tells a whole list; a whole one of this format has these fields. */
function isManifest(value: unknown): value is Manifest {
  return ['takenMs', 'shards', 'streams', 'records', 'store', 'keys'].every(
    (name) => fieldOf(value, name) !== undefined,
  );
}
