// Past days of profile_days in memory: how many events each profile sent in a UTC day, and in which quarters of an
// hour. To go through a million of these takes some milliseconds here; the engine takes a tenth of a second to read and
// group them. A merge changes no day.

import { setBounded } from '../../../platform/memory/bounded-map.ts';
import type { UserBits } from './bits/user-bits.ts';
import type { FirstDays } from './first-days.ts';
import type { MergedProfiles } from './merged-profiles.ts';
import { ProfileNumbers } from './profile-numbers.ts';
import type { ProfileSums } from './profile-sums.ts';

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
  bits: UserBits[];
  firstDays?: FirstDays;
  merged?: MergedProfiles;
}

interface Used extends HeldProject {
  usedAtMs: number;
  /** Of its days. */
  dayBytes: number;
  /** For what is on its way. */
  reservedBytes: number;
}

const bytesOfEntry = 20;
/**
 * Its key, its slots in a table that has just grown, its sums, its bits for four questions, its user and its
 * first day.
 */
const bytesOfProfile = 90;
/** Objects and small arrays. */
const bytesOfDay = 700;
const bytesOfProject = 16_384;
/** Days of a project that asked within so long stay; who was refused does not try again so soon. */
const inUseMs = 3_600_000;
const maxRefused = 10_000;

export class HeldDays {
  readonly #projects = new Map<string, Used>();
  /** When a project was refused. */
  readonly #refused = new Map<string, number>();
  readonly #maxBytes: number;
  readonly #nowMs: () => number;

  /**
   * `maxBytes` is of all projects: in 192 MiB a million profiles and six million entries of days have room. `nowMs` is
   * any clock.
   */
  constructor(maxBytes: number, nowMs: () => number) {
    this.#maxBytes = maxBytes;
    this.#nowMs = nowMs;
  }

  /** So many have room if nothing else takes any. */
  get maxProfiles(): number {
    return this.#maxBytes / bytesOfProfile;
  }

  /** Undefined for a project without days. */
  get(projectId: string): HeldProject | undefined {
    const project = this.#projects.get(projectId);
    if (project !== undefined) project.usedAtMs = this.#nowMs();
    return project;
  }

  /**
   * Has `load` add days to the project, where there is room for so many more entries of days and profiles. Projects
   * that nobody uses make it. Throws what `load` does, and where there is no room.
   */
  async add(
    projectId: string,
    { days, entries, profiles }: { days: number; entries: number; profiles: number },
    load: (project: HeldProject) => Promise<void>,
  ): Promise<void> {
    const bytes = entries * bytesOfEntry + profiles * bytesOfProfile + days * bytesOfDay;
    if (this.#isRefused(projectId) || !this.#makeRoom(projectId, bytes + bytesOfProject)) {
      throw new Error('days of profiles have no room in memory');
    }
    const project = this.#projects.get(projectId) ?? {
      ...{ numbers: new ProfileNumbers(), days: new Map(), bits: [] },
      ...{ usedAtMs: 0, dayBytes: 0, reservedBytes: 0 },
    };
    this.#projects.set(projectId, project);
    project.usedAtMs = this.#nowMs();
    project.reservedBytes += bytes;
    try {
      await load(project);
    } finally {
      project.reservedBytes -= bytes;
      project.dayBytes = 0;
      for (const { profiles } of project.days.values()) {
        project.dayBytes += bytesOfDay + profiles.length * bytesOfEntry;
      }
    }
  }

  /** Drops the days of a project and holds none for an hour. */
  refuse(projectId: string): void {
    this.#projects.delete(projectId);
    setBounded(this.#refused, projectId, this.#nowMs(), maxRefused);
  }

  #isRefused(projectId: string): boolean {
    const atMs = this.#refused.get(projectId);
    return atMs !== undefined && this.#nowMs() - atMs < inUseMs;
  }

  /** Drops other projects that nobody uses, the oldest use first, until there is room. */
  #makeRoom(projectId: string, bytes: number): boolean {
    const sizes = [...this.#projects].map(([id, project]) => ({
      id,
      project,
      bytes: sizeOf(project),
    }));
    let free = this.#maxBytes - sizes.reduce((sum, one) => sum + one.bytes, 0);
    const unused = sizes
      .filter(({ id, project }) => id !== projectId && this.#nowMs() - project.usedAtMs > inUseMs)
      .sort((one, other) => one.project.usedAtMs - other.project.usedAtMs);
    for (const one of unused) {
      if (free >= bytes) break;
      this.#projects.delete(one.id);
      free += one.bytes;
    }
    return free >= bytes;
  }
}

function sizeOf({ numbers, merged, dayBytes, reservedBytes }: Used): number {
  const made = numbers.size * bytesOfProfile + (merged?.bytes ?? 0);
  return bytesOfProject + made + dayBytes + reservedBytes;
}

/** Holds a day. What is made of one that it replaces goes with it. */
export function holdDay(project: HeldProject, number: number, day: HeldDay): void {
  if (project.days.has(number)) {
    project.bits = [];
    delete project.sums;
  }
  project.days.set(number, day);
}
