// Runs a statement over the days that are not held, and adds the held ones to its rows.

import type { Found } from '../kept/kept-parts.ts';
import type { Rows } from '../run/result-cache.ts';
import { type InsightStatement, needsTooMuch } from '../run/run-insight.ts';
import type { HeldDay, HeldDays, HeldProject } from './held-days.ts';
import type { Identities } from './identities.ts';
import { MergedProfiles } from './merged-profiles.ts';
import { type MostEvents, ProfileSums } from './profile-sums.ts';
import { type BitsOf, type Stretch, type StretchedDay, UserBits } from './user-bits.ts';

/** Held days of a range. */
export interface HeldRange {
  /** Sums of users: those of the days, and `others`, which are pairs of a profile's key and further events of it. */
  most(identities: Identities, others: Uint32Array, limit: number): Promise<MostEvents>;
  /** The users of each of `counted`. `others` are pairs of a profile's key and bits of further activity. */
  count(identities: Identities, others: Uint32Array, asked: Asked): Promise<number[]>;
}

/** What users are counted by. */
export interface Asked extends Omit<BitsOf, 'days'> {
  /** The stretches that have a part of a day, by the day since the epoch. */
  stretches: ReadonlyMap<number, readonly Stretch[]>;
}

/** A statement, and the days that it finds kept. */
interface Run {
  projectId: string;
  statement: InsightStatement;
  found: Found;
}

/**
 * Runs the statement itself where it has no other for held days, where few of the days are held, or where the other
 * one needs too much.
 */
export async function runHeld(
  helds: HeldDays,
  { projectId, statement, found }: Run,
  run: (statement: InsightStatement) => Promise<Rows>,
): Promise<Rows> {
  const { held, kept } = statement;
  const project = helds.get(projectId);
  if (held === undefined || kept === undefined || project === undefined) return run(statement);
  const days = daysOf(project, found);
  // Days that are read anew at this moment are not those that the statement would leave out.
  const areHeld = days.size === found.length && days.size >= (kept.last - kept.first + 1) / 2;
  if (!areHeld) return run(statement);
  try {
    const { texts } = await run({ ...statement, ...held });
    const rows = await held.rowsOf(
      texts.map((text) => JSON.parse(text)),
      rangeOf(project, days),
    );
    return rowsOf(rows.map((row) => JSON.stringify(row)));
  } catch (error) {
    if (!needsTooMuch(error)) throw error;
    helds.refuse(projectId);
    return run(statement);
  }
}

function daysOf({ days }: HeldProject, found: Found): Map<number, HeldDay> {
  const held = new Map<number, HeldDay>();
  for (const { day, version } of found) {
    const one = days.get(day);
    if (one?.version === version) held.set(day, one);
  }
  return held;
}

function rangeOf(project: HeldProject, days: ReadonlyMap<number, HeldDay>): HeldRange {
  // What follows the last `await` of each is not to be parted: others follow other merges.
  return {
    async most(identities, others, limit) {
      const sums = await sumsOf(project, [...days.values()]);
      sums.follow(mergedOf(project, identities));
      return sums.most(others, limit);
    },
    async count(identities, others, { stretches, ...of }) {
      const stretched = [...days].map(([number, day]) => ({
        day,
        stretches: stretches.get(number) ?? [],
      }));
      // A range ends within a day at another moment from question to question.
      const whole = stretched.filter((day) => isWhole(day));
      const parts = stretched.filter((day) => !isWhole(day));
      const bits = await bitsOf(project, { ...of, days: whole });
      return bits.count(mergedOf(project, identities), parts, others);
    },
  };
}

/** Whether the stretches have each quarter of the day. */
function isWhole({ stretches }: StretchedDay): boolean {
  return [0, 1, 2].every((word) => {
    const all = stretches.reduce((quarters, one) => quarters | (one.quarters[word] ?? 0), 0);
    return all === -1;
  });
}

async function bitsOf(project: HeldProject, of: BitsOf): Promise<UserBits> {
  if (project.bits?.isOf(of)) return project.bits;
  const bits = await UserBits.of(project.numbers, of);
  project.bits = bits;
  return bits;
}

async function sumsOf(project: HeldProject, days: readonly HeldDay[]): Promise<ProfileSums> {
  if (project.sums?.isOf(days)) return project.sums;
  const sums = await ProfileSums.of(project.numbers, days);
  project.sums = sums;
  return sums;
}

function mergedOf(project: HeldProject, identities: Identities): MergedProfiles {
  if (project.merged?.isOf(identities)) return project.merged;
  const merged = new MergedProfiles(identities, project.numbers);
  project.merged = merged;
  return merged;
}

function rowsOf(texts: readonly string[]): Rows {
  return { texts, characters: texts.reduce((sum, { length }) => sum + length, 0) };
}
