// Past days of profile_days in memory: how many events each profile sent in a UTC day, and in which quarters of an
// hour. To go through a million of these takes some milliseconds here; the engine takes a tenth of a second to read and
// group them. A merge changes no day.

import { setBounded } from '../../../platform/memory/bounded-map.ts';
import type { Found } from '../kept/kept-parts.ts';
import type { MergedProfiles } from './merged-profiles.ts';
import { ProfileNumbers } from './profile-numbers.ts';
import type { ProfileSums } from './profile-sums.ts';
import type { UserBits } from './user-bits.ts';

/** What is of one profile has the same place in each array. */
export interface HeldDay {
  /** The number of the day's events when it was read: every event adds to it. */
  version: number;
  /** Numbers of profiles. So many of the first are persons, and all others are cookieless visitors. */
  profiles: Uint32Array;
  persons: number;
  events: Uint32Array;
  /** The 96 quarters of an hour, a bit for each in which the profile sent an event. */
  quarters: readonly [Uint32Array, Uint32Array, Uint32Array];
}

/** The days of a project. */
export interface HeldProject {
  readonly numbers: ProfileNumbers;
  /** By the day since the epoch. */
  readonly days: Map<number, HeldDay>;
  /** Of the days that were asked for last, and who was merged then. */
  sums?: ProfileSums;
  bits?: UserBits;
  merged?: MergedProfiles;
}

interface Used extends HeldProject {
  usedAtMs: number;
}

/** Of all projects: a million profiles and six million entries of days have room. */
const maxBytes = 192 * 1_048_576;
const bytesOfEntry = 20;
/** Its key, its slots in a table that has just grown, its sums, its bits, and its user. */
const bytesOfProfile = 68;
/** Days of a project that asked within so long stay; who was refused does not try again so soon. */
const inUseMs = 3_600_000;
const maxRefused = 10_000;

export class HeldDays {
  readonly #projects = new Map<string, Used>();
  /** When a project was refused. */
  readonly #refused = new Map<string, number>();
  readonly #nowMs: () => number;

  /** `nowMs` is any clock. */
  constructor(nowMs: () => number) {
    this.#nowMs = nowMs;
  }

  /** Undefined for a project without days. */
  get(projectId: string): HeldProject | undefined {
    const project = this.#projects.get(projectId);
    if (project !== undefined) project.usedAtMs = this.#nowMs();
    return project;
  }

  /** All days of a project that are held, ascending, whether they still hold or not. */
  found(projectId: string): Found {
    const days = [...(this.get(projectId)?.days ?? [])];
    return days
      .map(([day, { version }]) => ({ day, version }))
      .sort((one, other) => one.day - other.day);
  }

  /**
   * The project, where there is room for so many more entries of days and profiles. Projects that nobody uses make it.
   * Undefined where there is none: then the project is refused. Its own days may be too old for any question.
   */
  withRoom(
    projectId: string,
    { entries, profiles }: { entries: number; profiles: number },
  ): HeldProject | undefined {
    const bytes = entries * bytesOfEntry + profiles * bytesOfProfile;
    const isFull = (): boolean => this.#bytes() + bytes > maxBytes;
    const refusedAtMs = this.#refused.get(projectId);
    if (refusedAtMs !== undefined && this.#nowMs() - refusedAtMs < inUseMs) return undefined;
    for (const [other, { usedAtMs }] of this.#projects) {
      if (isFull() && this.#nowMs() - usedAtMs > inUseMs) this.#projects.delete(other);
    }
    if (isFull()) {
      this.refuse(projectId);
      return undefined;
    }
    const project = this.get(projectId);
    if (project !== undefined) return project;
    const first = { numbers: new ProfileNumbers(), days: new Map(), usedAtMs: this.#nowMs() };
    this.#projects.set(projectId, first);
    return first;
  }

  /** Drops its days and holds none for an hour. */
  refuse(projectId: string): void {
    this.#projects.delete(projectId);
    setBounded(this.#refused, projectId, this.#nowMs(), maxRefused);
  }

  #bytes(): number {
    let bytes = 0;
    for (const { numbers, days, sums, bits, merged } of this.#projects.values()) {
      bytes += numbers.bytes;
      for (const made of [sums, bits, merged]) bytes += made?.bytes ?? 0;
      for (const { profiles } of days.values()) bytes += profiles.length * bytesOfEntry;
    }
    return bytes;
  }
}
