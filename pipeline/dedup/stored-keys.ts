// Reads the keys of stored events out of the table events, as many as a statement selects: a project, an id and three
// numbers a row, which are hashed as they arrive.

import type { ClickHouseClient } from '@clickhouse/client';
import { type EventKeys, writeEventKey } from '../build/event-key.ts';
import { windowRows } from './event-ids.ts';

/** Selects what `readKeys` reads, of the rows within `windowRows` that meet `condition`. */
export const selectKeys = (condition: string, limit = ''): string => `
  SELECT
    project_id, event_id, toUnixTimestamp64Milli(occur_time), toUnixTimestamp64Milli(receive_time), stream_seq
  FROM events WHERE ${windowRows} AND ${condition} ${limit} FORMAT RowBinary`;

export type OnKey = (
  high: number,
  low: number,
  occurTimeMs: number,
  receiveTimeMs: number,
  seq: number,
) => void;

/** Bytes of a row after its project. */
const afterProject = 16 + 3 * 8;

/** Returns the number of rows. Throws the client's errors. */
export async function readKeys(
  clickhouse: Pick<ClickHouseClient, 'exec'>,
  eventKeys: EventKeys,
  { query, parameters, signal }: { query: string; parameters: object; signal: AbortSignal },
  onKey: OnKey,
): Promise<number> {
  const answer = await clickhouse.exec({
    query,
    query_params: { ...parameters },
    abort_signal: signal,
  });
  const reader = new RowReader(eventKeys, onKey);
  for await (const chunk of answer.stream) reader.read(chunk);
  return reader.end();
}

class RowReader {
  readonly #eventKeys: EventKeys;
  readonly #onKey: OnKey;
  readonly #id = new Uint32Array(4);
  readonly #key = new Uint32Array(2);
  /** The project of the row before: most rows have the same. */
  #project: Buffer = Buffer.alloc(0);
  #projectKey: Uint32Array = new Uint32Array(2);
  /** The beginning of a row whose end has not come yet. */
  #rest: Buffer = Buffer.alloc(0);
  #count = 0;

  constructor(eventKeys: EventKeys, onKey: OnKey) {
    this.#eventKeys = eventKeys;
    this.#onKey = onKey;
    this.#projectKey = eventKeys.projectKey('');
  }

  read(chunk: Buffer): void {
    const bytes = this.#rest.length === 0 ? chunk : Buffer.concat([this.#rest, chunk]);
    let at = 0;
    for (;;) {
      const text = readLength(bytes, at);
      const idAt = text.at + text.length;
      if (idAt + afterProject > bytes.length) break;
      this.#readProject(bytes, text.at, idAt);
      readUuid(bytes, idAt, this.#id);
      writeEventKey(this.#projectKey, this.#id, 0, this.#key, 0);
      this.#onKey(
        this.#key[0] ?? 0,
        this.#key[1] ?? 0,
        readInt64(bytes, idAt + 16),
        readInt64(bytes, idAt + 24),
        readInt64(bytes, idAt + 32),
      );
      at = idAt + afterProject;
      this.#count++;
    }
    this.#rest = bytes.subarray(at);
  }

  end(): number {
    if (this.#rest.length > 0) throw new Error('stored keys: they end in the middle of a row');
    return this.#count;
  }

  #readProject(bytes: Buffer, from: number, to: number): void {
    const known = this.#project;
    let isSame = known.length === to - from;
    for (let at = 0; isSame && at < known.length; at++) isSame = known[at] === bytes[from + at];
    if (isSame) return;
    this.#project = Buffer.from(bytes.subarray(from, to));
    this.#projectKey = this.#eventKeys.projectKey(this.#project.toString());
  }
}

/** Exact up to 2^53, which neither times nor sequences exceed. */
function readInt64(bytes: Buffer, at: number): number {
  return bytes.readUInt32LE(at) + bytes.readInt32LE(at + 4) * 4_294_967_296;
}

/** The length of a RowBinary text (LEB128) and where the text starts; an end beyond `bytes` where they are cut off. */
function readLength(bytes: Buffer, at: number): { at: number; length: number } {
  let length = 0;
  for (let shift = 0; at < bytes.length; shift += 7) {
    const byte = bytes[at++] ?? 0;
    length |= (byte & 0x7f) << shift;
    if (byte < 0x80) return { at, length };
  }
  return { at: bytes.length, length: 1 };
}

/** RowBinary writes a UUID as two little-endian halves; `id` gets its bytes in the order of its text, see uuid.ts. */
function readUuid(bytes: Buffer, at: number, id: Uint32Array): void {
  id[0] = bytes.readUInt32BE(at + 4);
  id[1] = bytes.readUInt32BE(at);
  id[2] = bytes.readUInt32BE(at + 12);
  id[3] = bytes.readUInt32BE(at + 8);
}
