// What is known of one distinct id: whether it was named, claimed or deleted, and its traits. The state that changes
// are applied to; how it is stored is profile-store.ts's.

import { ProfileTraits } from './traits.ts';

export type MergeSource = '' | 'identify' | 'alias';

export interface ProfileRecord {
  readonly projectId: string;
  readonly distinctId: string;
  /** An Identify or Alias had it as its externalId. */
  named: boolean;
  deleted: boolean;
  /** Absent where it has none, as most ids do: a batch makes ten thousands of records. */
  traits: ProfileTraits | undefined;
  deviceId: string;
  createTimeMs: number;
  /** Those that it had before, since it was stored the last time. */
  formerCreateTimesMs: readonly number[];
  updateTimeMs: number;
  /** The id that claimed this one; empty where none does. */
  owner: string;
  /** Where following owners ends; empty where this is the end. */
  root: string;
  /** The root that its row has, which the next one must name where it is another. */
  storedRoot: string;
  mergeTimeMs: number;
  mergeSource: MergeSource;
  /** It was claimed once, so that a row must say by whom, or that nobody does any more. */
  wasClaimed: boolean;
}

export const noTimes: readonly number[] = [];

/** An id that nothing was said about yet. */
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
    wasClaimed: false,
  };
}

/** The record's traits, to be changed. */
export function traitsOf(record: ProfileRecord): ProfileTraits {
  record.traits ??= new ProfileTraits();
  return record.traits;
}

/** Names an id among those of all projects; a project's id holds no space. */
export function recordKey(projectId: string, distinctId: string): string {
  return `${projectId} ${distinctId}`;
}
