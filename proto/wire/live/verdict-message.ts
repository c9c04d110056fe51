// What the pipeline's writer tells a watched project about one batch, by a core message: how many events of the project
// were stored, dropped or dead, and which, up to a bound.

import { isFields, readFields, textOf } from './message-fields.ts';

export interface VerdictMessage {
  timeMs: number;
  stored: number;
  duplicates: number;
  dead: number;
  /** Sixteen bytes an event; at most `maxStoredIds` events. */
  storedIds: Uint8Array;
  /** Likewise, at most `maxDuplicateIds`. */
  duplicateIds: Uint8Array;
  /** At most `maxDeadEvents`. */
  deadEvents: DeadEvent[];
}

export interface DeadEvent {
  reason: string;
  /** Empty where they cannot be read. */
  kind: string;
  eventId: string;
}

/** A batch at 2,500 events a second names all of its events. 32 KiB. */
export const maxStoredIds = 2_000;
export const maxDuplicateIds = 500;
export const maxDeadEvents = 100;

const maxTextCharacters = 200;

export function encodeVerdict(verdict: VerdictMessage): Uint8Array {
  return Buffer.from(
    JSON.stringify({
      ...verdict,
      storedIds: Buffer.from(verdict.storedIds).toString('base64'),
      duplicateIds: Buffer.from(verdict.duplicateIds).toString('base64'),
    }),
  );
}

/** Undefined where the bytes are no such message. */
export function decodeVerdict(content: Uint8Array): VerdictMessage | undefined {
  const fields = readFields(content);
  if (fields === undefined) return undefined;
  const { deadEvents } = fields;
  const number = (name: string): number => {
    const value = fields[name];
    return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 ? value : 0;
  };
  return {
    timeMs: number('timeMs'),
    stored: number('stored'),
    duplicates: number('duplicates'),
    dead: number('dead'),
    storedIds: idsOf(fields['storedIds'], maxStoredIds),
    duplicateIds: idsOf(fields['duplicateIds'], maxDuplicateIds),
    deadEvents: Array.isArray(deadEvents)
      ? deadEvents.slice(0, maxDeadEvents).map(deadEventOf)
      : [],
  };
}

function idsOf(value: unknown, maxIds: number): Uint8Array {
  const bytes = Buffer.from(typeof value === 'string' ? value : '', 'base64');
  return bytes.subarray(0, Math.min(maxIds, Math.floor(bytes.length / 16)) * 16);
}

function deadEventOf(value: unknown): DeadEvent {
  const fields = isFields(value) ? value : {};
  return {
    reason: textOf(fields['reason'], maxTextCharacters),
    kind: textOf(fields['kind'], maxTextCharacters),
    eventId: textOf(fields['eventId'], maxTextCharacters),
  };
}
