// The record of one distinct id: whether it was named, claimed or deleted, and its traits. Changes are applied to
// records (changes.ts); read-records.ts and insert-block.ts know how they are stored.

import { ProfileTraits } from './traits.ts';

/** The call that claimed an id; empty where it has no owner. */
export type MergeSource = '' | 'identify' | 'alias';

export interface ProfileRecord {
  readonly projectId: string;
  readonly distinctId: string;
  /** An Identify or Alias named it as its externalId. */
  named: boolean;
  deleted: boolean;
  /** Absent where it has none: most ids have none, and a batch makes tens of thousands of records. */
  traits: ProfileTraits | undefined;
  deviceId: string;
  createTimeMs: number;
  /** The times of earlier creations since the record was last stored. */
  formerCreateTimesMs: readonly number[];
  updateTimeMs: number;
  /** The id that claimed this one; empty for none. */
  owner: string;
  /** The id at the end of the owners; empty where that is this one. */
  root: string;
  /** The root in its stored row. The next row names it as the former root where the root has changed. */
  storedRoot: string;
  mergeTimeMs: number;
  mergeSource: MergeSource;
  /** Of a root: how many ids are merged into it. */
  members: number;
  /** It was claimed once, so it has an edge's row, which names its owner or says that it has none any more. */
  wasClaimed: boolean;
}

export const noTimes: readonly number[] = [];

/** The record of an id that no call has named yet. */
export function newRecord(projectId: string, distinctId: string): ProfileRecord {
  return {
    projectId,
    distinctId,
    named: false,
    deleted: false,
    traits: undefined,
    deviceId: '',
    createTimeMs: 0,
    formerCreateTimesMs: noTimes,
    updateTimeMs: 0,
    owner: '',
    root: '',
    storedRoot: '',
    mergeTimeMs: 0,
    mergeSource: '',
    members: 0,
    wasClaimed: false,
  };
}

/** The record's traits to change; made where it has none. */
export function traitsOf(record: ProfileRecord): ProfileTraits {
  record.traits ??= new ProfileTraits();
  return record.traits;
}

/** A key for an id among those of all projects; unambiguous because a project's id holds no space. */
export function recordKey(projectId: string, distinctId: string): string {
  return `${projectId} ${distinctId}`;
}
