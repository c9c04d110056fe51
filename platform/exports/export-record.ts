// What is known of a kept export: one record for each place that a project has for exports, changed by compare-and-set
// alone. Its lease says which process writes the files. A file is told here once it is whole on the disk, so that
// whatever dies, the record says what is left to do.

import type { JsonValue } from '@bufbuild/protobuf';
import { hasNumbers, hasTexts } from '../broker/record-bucket.ts';

export const exportStates = [
  'pending',
  'running',
  'ready',
  'failed',
  'cancelled',
  'expired',
] as const;
export type ExportStateName = (typeof exportStates)[number];

export interface PartRecord {
  name: string;
  bytes: number;
  rows: number;
  /** Hexadecimal. */
  sha256: string;
}

export interface ExportRecord {
  schemaVersion: 1;
  /** UUID. */
  id: string;
  /** Of the data directory that has its files (export-files.ts). */
  directoryId: string;
  /** Protobuf JSON of shared.exports.v1.ExportQuery. */
  query: JsonValue;
  /** The member who asked, who is told; empty where a key has. */
  customerId: string;
  state: ExportStateName;
  /** Why it failed, or what it waits for; else empty. */
  reason: string;
  createMs: number;
  stateMs: number;
  /** When the last step was done. */
  progressMs: number;
  /** When its files are deleted; 0 until it is ready. */
  expireMs: number;
  /** 0 where it is not known. */
  completeUntilMs: number;
  /** How many files it will have; 0 until it is planned. */
  partCount: number;
  /** Those that are there, in their order. */
  parts: readonly PartRecord[];
  /** Of the manifest; undefined until it is there. */
  manifest?: PartRecord;
  /** Whether the disk may have files of it. */
  hasFiles: boolean;
  /** Nobody is to be told any more that it is ready. */
  isTold: boolean;
  /** Whether the deliveries of webhooks are queued; absent is no. */
  areQueued?: boolean;
  /** Tries of the present step that failed, and the moment of the next. */
  tries: number;
  nextTryMs: number;
  /** Other processes leave it alone until then. */
  leaseEndMs: number;
}

/** Of a project. */
export const maxExports = 20;
export const maxParts = 200;

/** The key of one of the project's places, from 0. */
export function exportKey(projectId: string, place: number): string {
  return `${projectId}.${place}`;
}

export function projectOfKey(key: string): string {
  return key.slice(0, key.lastIndexOf('.'));
}

/** Whether nothing more is written for it. */
export function hasEnded({ state }: Pick<ExportRecord, 'state'>): boolean {
  return state === 'failed' || state === 'cancelled' || state === 'expired';
}

/** Of its parts together. */
export function sizeOf({ parts }: Pick<ExportRecord, 'parts'>): { rows: number; bytes: number } {
  let rows = 0;
  let bytes = 0;
  for (const part of parts) {
    rows += part.rows;
    bytes += part.bytes;
  }
  return { rows, bytes };
}

/** Narrows a value of the bucket. */
export function readExportRecord(value: unknown): ExportRecord | undefined {
  return isExportRecord(value) ? value : undefined;
}

const texts = ['id', 'directoryId', 'customerId', 'state', 'reason'];
const numbers = [
  ...['createMs', 'stateMs', 'progressMs', 'expireMs', 'completeUntilMs', 'partCount'],
  ...['tries', 'nextTryMs', 'leaseEndMs'],
];

function isExportRecord(value: unknown): value is ExportRecord {
  if (typeof value !== 'object' || value === null) return false;
  const member = (name: string): unknown => Reflect.get(value, name);
  const parts = member('parts');
  const manifest = member('manifest');
  return (
    member('schemaVersion') === 1 &&
    hasTexts(value, texts) &&
    hasNumbers(value, numbers) &&
    exportStates.some((state) => state === member('state')) &&
    typeof member('query') === 'object' &&
    typeof member('hasFiles') === 'boolean' &&
    typeof member('isTold') === 'boolean' &&
    Array.isArray(parts) &&
    parts.every(isPart) &&
    (manifest === undefined || isPart(manifest))
  );
}

function isPart(value: unknown): boolean {
  return (
    typeof value === 'object' &&
    value !== null &&
    hasTexts(value, ['name', 'sha256']) &&
    hasNumbers(value, ['bytes', 'rows'])
  );
}
