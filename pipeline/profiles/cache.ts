// Keeps the records that a writer used last, so that it does not read a profile again with each Identify call. Only
// the shard's writer stores records, so the kept ones are equal to the stored ones.

import { noTimes, type ProfileRecord, recordKey } from './record.ts';

/** Bytes of a record and of its traits, besides their texts. */
const recordBytes = 400;
const traitsBytes = 600;

/** Two generations; the older one is dropped whole, because keeping the order of uses costs more than it saves. */
export class ProfileCache {
  readonly #generationBytes: number;
  #young = new Map<string, ProfileRecord>();
  #old = new Map<string, ProfileRecord>();
  #youngBytes = 0;

  constructor(maxBytes: number) {
    this.#generationBytes = maxBytes / 2;
  }

  get(projectId: string, distinctId: string): ProfileRecord | undefined {
    const key = recordKey(projectId, distinctId);
    return this.#young.get(key) ?? this.#old.get(key);
  }

  clear(): void {
    this.#young = new Map();
    this.#old = new Map();
    this.#youngBytes = 0;
  }

  /** Keeps a record that was stored. A record that is put again counts again, because it may have grown. */
  put(record: ProfileRecord): void {
    record.formerCreateTimesMs = noTimes;
    record.storedRoot = record.root;
    this.#young.set(recordKey(record.projectId, record.distinctId), record);
    this.#youngBytes += sizeOf(record);
    if (this.#youngBytes < this.#generationBytes) return;
    this.#old = this.#young;
    this.#young = new Map();
    this.#youngBytes = 0;
  }
}

function sizeOf({ distinctId, owner, root, traits }: ProfileRecord): number {
  const bytes = recordBytes + 2 * (distinctId.length + owner.length + root.length);
  if (traits === undefined) return bytes;
  return bytes + traitsBytes + 2 * traits.length + 100 * traits.values.size;
}
