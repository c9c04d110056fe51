// The records that a batch's changes look at, by id and by root. They are loaded before the first change (loading.ts);
// changes.ts applies the changes to them. No input or output.

import { type ProfileRecord, recordKey } from './record.ts';

export class LoadedRecords {
  /** The records that a change altered and that must be stored. */
  readonly changed = new Set<ProfileRecord>();
  readonly #records = new Map<string, ProfileRecord>();
  /** Records by the key of their root; absent until the first question, which most batches never ask. */
  #members: Map<string, Set<ProfileRecord>> | undefined;

  /** Takes a record in its stored state, or a new one for an id without; the second record of one id is ignored. */
  add(record: ProfileRecord): void {
    const key = recordKey(record.projectId, record.distinctId);
    if (this.#records.has(key)) return;
    this.#records.set(key, record);
    if (this.#members !== undefined) addMember(this.#members, record);
  }

  has(projectId: string, distinctId: string): boolean {
    return this.#records.has(recordKey(projectId, distinctId));
  }

  all(): Iterable<ProfileRecord> {
    return this.#records.values();
  }

  /** Throws where the record was not loaded: to take its id for an unknown one could undo a merge. */
  get(projectId: string, distinctId: string): ProfileRecord {
    const record = this.#records.get(recordKey(projectId, distinctId));
    if (record === undefined) throw new Error('profile changes: a record was not loaded');
    return record;
  }

  /** The end of the record's owners; the record itself where it has none. */
  rootOf(record: ProfileRecord): ProfileRecord {
    return record.root === '' ? record : this.get(record.projectId, record.root);
  }

  /** The records whose root this one is. */
  membersOf({ projectId, distinctId }: ProfileRecord): Iterable<ProfileRecord> {
    if (this.#members === undefined) {
      this.#members = new Map();
      for (const record of this.#records.values()) addMember(this.#members, record);
    }
    return this.#members.get(recordKey(projectId, distinctId)) ?? [];
  }

  setRoot(record: ProfileRecord, root: string): void {
    this.#members?.get(recordKey(record.projectId, record.root))?.delete(record);
    record.root = root;
    if (this.#members !== undefined) addMember(this.#members, record);
    this.changed.add(record);
  }
}

function addMember(members: Map<string, Set<ProfileRecord>>, record: ProfileRecord): void {
  if (record.root === '') return;
  const key = recordKey(record.projectId, record.root);
  const group = members.get(key) ?? new Set();
  members.set(key, group);
  group.add(record);
}
