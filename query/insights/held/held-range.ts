// Runs a statement over the days that are not held, and adds the held ones to its rows.

import type { Found } from '../kept/kept-parts.ts';
import type { Rows } from '../run/result-cache.ts';
import { type InsightStatement, needsTooMuch } from '../run/run-insight.ts';
import type { HeldDay, HeldDays, HeldProject } from './held-days.ts';
import { type Identities, MergedProfiles } from './merged-profiles.ts';
import { type MostEvents, ProfileSums } from './profile-sums.ts';

/** Held days of a range. */
export interface HeldRange {
  /** Sums of users: those of the days, and `others`, which are pairs of a profile's key and further events of it. */
  most(identities: Identities, others: Uint32Array, limit: number): Promise<MostEvents>;
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
  const areHeld = days.length === found.length && days.length >= (kept.last - kept.first + 1) / 2;
  if (!areHeld) return run(statement);
  try {
    const { texts } = await run({ ...statement, ...held });
    const range: HeldRange = {
      async most(identities, others, limit) {
        const sums = await sumsOf(project, days);
        // Not to be parted: others follow other merges.
        sums.follow(mergedOf(project, identities));
        return sums.most(others, limit);
      },
    };
    const rows = await held.rowsOf(
      texts.map((text) => JSON.parse(text)),
      range,
    );
    return rowsOf(rows.map((row) => JSON.stringify(row)));
  } catch (error) {
    if (!needsTooMuch(error)) throw error;
    helds.refuse(projectId);
    return run(statement);
  }
}

function daysOf({ days }: HeldProject, found: Found): HeldDay[] {
  return found.flatMap(({ day, version }) => {
    const one = days.get(day);
    return one?.version === version ? [one] : [];
  });
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
