// Runs a statement over the days that are not held, and adds the held ones to its rows.

import type { Found } from '../kept/kept-parts.ts';
import type { HeldStatement } from '../plan.ts';
import type { Rows } from '../run/result-cache.ts';
import { type InsightStatement, needsTooMuch } from '../run/run-insight.ts';
import { type BitsOf, type Stretch, type StretchedDay, UserBits } from './bits/user-bits.ts';
import type { HeldDay, HeldDays, HeldProject } from './held-days.ts';
import type { Identities } from './identities.ts';
import { MergedProfiles } from './merged-profiles.ts';
import { pairWords } from './packed-words.ts';
import { type MostEvents, ProfileSums } from './profile-sums.ts';

/** Held days of a range. */
export interface HeldRange {
  /** Sums of users: those of the days, and `others`, which are pairs of a profile's key and further events of it. */
  most(identities: Identities, others: Uint32Array, limit: number): Promise<MostEvents>;
  /** The users of each cell. `others` are pairs of a profile's key and bits of further activity. */
  count(identities: Identities, others: Uint32Array, asked: Asked): Promise<Float64Array>;
}

/** What users are counted by. */
export interface Asked extends Omit<BitsOf, 'days' | 'older'> {
  /** Who has an event before this day has the bit of the place 0. */
  olderThan: number | undefined;
  /** The stretches that have a part of a day, by the day since the epoch. */
  stretches: ReadonlyMap<number, readonly Stretch[]>;
}

/** More days are as well read from the tables. */
const maxMissing = 5;
/** Some 300,000 pairs: more take this process longer than the tables take the engine. */
const maxCharacters = 6 * 1_048_576;

/** A statement, and the days that it finds kept. */
interface Run {
  projectId: string;
  statement: InsightStatement;
  found: Found;
}

/** Runs the statement itself where it has no other for held days, where too few are held, and as a last way. */
export async function runHeld(
  helds: HeldDays,
  { projectId, statement, found }: Run,
  run: (statement: InsightStatement) => Promise<Rows>,
): Promise<Rows> {
  const { held, kept } = statement;
  const project = helds.get(projectId);
  if (held === undefined || kept === undefined || project === undefined) return run(statement);
  const days = daysOf(project, found);
  const missing = kept.last - kept.first + 1 - days.size;
  // Days that are read anew at this moment are not those that the statement would leave out.
  const lacksFirstDays = held.needsFirstDays === true && project.firstDays === undefined;
  if (lacksFirstDays || days.size < found.length || missing > maxMissing || missing > days.size)
    return run(statement);
  const rows = await heldRows(run({ ...statement, ...held }), held, rangeOf(project, days));
  if (rows !== undefined) return rows;
  // Days that are on their way make it smaller.
  if (missing <= 1) helds.refuse(projectId);
  return run(statement);
}

/** Undefined where the statement needs too much, or answers more than this process should go through. */
async function heldRows(
  running: Promise<Rows>,
  held: HeldStatement,
  range: HeldRange,
): Promise<Rows | undefined> {
  try {
    const { texts, characters } = await running;
    if (characters > maxCharacters) return undefined;
    const rows = await held.rowsOf(
      texts.map((text) => JSON.parse(text)),
      range,
    );
    return rowsOf(rows.map((row) => JSON.stringify(row)));
  } catch (error) {
    if (needsTooMuch(error)) return undefined;
    throw error;
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
  const { numbers } = project;
  return {
    async most(identities, others, limit) {
      const sums = await sumsOf(project, [...days.values()]);
      const merged = await mergedOf(project, identities);
      const profiles = await numbers.ofAll(others, pairWords);
      // Not to be parted: other questions follow other merges.
      sums.follow(merged);
      return sums.most(profiles, others, limit);
    },
    async count(identities, others, { stretches, olderThan, ...of }) {
      const stretched = [...days].map(([number, day]) => ({
        day,
        stretches: stretches.get(number) ?? [],
      }));
      // A range ends within a day at another moment from question to question.
      const whole = stretched.filter((day) => isWhole(day));
      const parts = stretched.filter((day) => !isWhole(day));
      const merged = await mergedOf(project, identities);
      const older = olderOf(project, olderThan);
      const bits = await bitsOf(project, { ...of, days: whole, older }, merged);
      return bits.count(parts, await numbers.ofAll(others, pairWords), others);
    },
  };
}

function olderOf({ firstDays }: HeldProject, day: number | undefined): BitsOf['older'] {
  if (day === undefined) return undefined;
  if (firstDays === undefined) throw new Error('nobody knows who is older than a day');
  return { day, firstDays };
}

/** Whether the stretches have each quarter of the day. */
function isWhole({ stretches }: StretchedDay): boolean {
  return [0, 1, 2].every((word) => {
    const all = stretches.reduce((quarters, one) => quarters | (one.quarters[word] ?? 0), 0);
    return all === -1;
  });
}

/** Of as many questions bits stay, 8 bytes a profile each. */
const maxBits = 4;

async function bitsOf(project: HeldProject, of: BitsOf, merged: MergedProfiles): Promise<UserBits> {
  const found = project.bits.find((bits) => bits.isOf(of, merged));
  const bits = found ?? (await UserBits.of(of, merged, project.numbers));
  // Those of other merges are never asked for again.
  const others = project.bits.filter((one) => one !== bits && one.isOfMerged(merged));
  project.bits = [bits, ...others].slice(0, maxBits);
  return bits;
}

async function sumsOf(project: HeldProject, days: readonly HeldDay[]): Promise<ProfileSums> {
  if (project.sums?.isOf(days)) return project.sums;
  const sums = await ProfileSums.of(project.numbers, days);
  project.sums = sums;
  return sums;
}

async function mergedOf(project: HeldProject, identities: Identities): Promise<MergedProfiles> {
  if (project.merged?.isOf(identities)) return project.merged;
  const merged = await MergedProfiles.of(identities, project.numbers);
  project.merged = merged;
  return merged;
}

function rowsOf(texts: readonly string[]): Rows {
  return { texts, characters: texts.reduce((sum, { length }) => sum + length, 0) };
}
