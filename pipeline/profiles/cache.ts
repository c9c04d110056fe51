// The records that were used last, so that a profile which is identified again and again is not read again and again.
// It is the one writer's own: what it holds is what is stored.

import { noTimes, type ProfileRecord, recordKey } from './record.ts';

/** What a record takes beside its texts, and what its traits do. */
const recordBytes = 400;
const traitsBytes = 600;

/** Two generations, the older of which is let go of as a whole: to keep the order of uses costs more than it saves. */
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

  /** Keeps a record that was stored. One that is put again counts again, because it may have grown. */
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
