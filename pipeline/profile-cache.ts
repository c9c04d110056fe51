// The records that were used last, so that a profile which is identified again and again is not read again and again.
// It is the one writer's own: what it holds is what is stored.

import { type ProfileRecord, recordKey } from './profile-record.ts';

/** What a record takes beside its texts. */
const recordBytes = 600;

export class ProfileCache {
  readonly #maxBytes: number;
  /** The one used last comes last. */
  readonly #records = new Map<string, { record: ProfileRecord; bytes: number }>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get(projectId: string, distinctId: string): ProfileRecord | undefined {
    return this.#records.get(recordKey(projectId, distinctId))?.record;
  }

  /** Keeps a record, and lets go of those that were not used for longest. */
  put(record: ProfileRecord): void {
    const key = recordKey(record.projectId, record.distinctId);
    this.#remove(key);
    const bytes = sizeOf(record);
    this.#records.set(key, { record, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#records.keys()) {
      if (this.#bytes <= this.#maxBytes) break;
      this.#remove(oldest);
    }
  }

  #remove(key: string): void {
    const held = this.#records.get(key);
    if (held === undefined) return;
    this.#bytes -= held.bytes;
    this.#records.delete(key);
  }
}

function sizeOf(record: ProfileRecord): number {
  const texts = record.distinctId.length + record.owner.length + record.root.length;
  return recordBytes + 2 * (texts + record.traitsLength) + 100 * record.traits.size;
}
