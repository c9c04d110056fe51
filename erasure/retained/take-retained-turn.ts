// One turn at the events that projects keep no longer: takes the lease on the erasures' work, finds projects with old
// events where no piece of work is under way, and takes one step of it. A process that dies leaves the rest to the turn
// after its lease. Whoever asked for an erasure goes first, between two pieces. A piece is of many projects: each
// deletion makes the engine go through all parts of a table, however few rows it takes out.

import { randomUUID } from 'node:crypto';
import { shardOf } from '../../platform/broker/topology.ts';
import { dayMs } from '../../platform/clock.ts';
import {
  type ErasureWork,
  erasureLeaseMs,
  erasureWorkKey,
  noWork,
} from '../../platform/erasure/erasure-record.ts';
import {
  type RetainedProject,
  type RetainedWork,
  retainedSteps,
} from '../../platform/erasure/retained-work.ts';
import { retainedFromMs } from '../../platform/retained/retained-from.ts';
import { HeldRecord, isLeased, LeaseLost } from '../../platform/turns/held-record.ts';
import type { ErasureParts, StepContext } from '../erasure-parts.ts';
import { marksNow } from '../steps/cut.ts';
import { oldEventsSql } from '../tables/old-rows.ts';
import { projectsSql } from '../tables/person-rows.ts';
import { profilesAtOnce } from '../tables/profile-rows.ts';
import { selectRows } from '../tables/select-rows.ts';
import { takeStep } from './retained-steps.ts';

export interface RetainedParts
  extends Pick<ErasureParts, 'nats' | 'clickhouse' | 'shards' | 'work' | 'clock' | 'log'> {
  /** All projects. */
  projects(): Iterable<readonly [projectId: string, project: { retentionDays?: number }]>;
  /** Whether an erasure was asked for that is not done. */
  hasErasure(): boolean;
  /** The boundary up to which this process has found nothing more, by project. */
  lookedAtMs: Map<string, number>;
  /** Of one piece of work, and of one statement; the usual ones unless given. */
  maxEvents?: number;
  maxProjects?: number;
  maxStored?: number;
  eventsAtOnce?: number;
}

const againMs = 500;
/** A new boundary comes once a day, and a setting that changes at any moment. */
const lookAgainMs = 10_000;
/** A deletion writes each part anew that has some of them. */
const usualMaxEvents = 5_000_000;
/** Their ids are in the text of two dozen statements, and their records are read one by one. */
const usualMaxProjects = 200;
/** All events of these projects, which are looked through where profiles are counted anew; a statement has a minute. */
const usualMaxStored = 50_000_000;
/** All columns of these are read, in some seconds; a statement has a minute. */
const usualEventsAtOnce = 1_000_000;
/** Days of projects that one statement tells. */
const maxDays = 100_000;

type Held = HeldRecord<ErasureWork>;

/** Returns when the next turn is. Throws the engines' errors: the step is taken again. */
export async function takeRetainedTurn(parts: RetainedParts): Promise<number> {
  const { work: states, clock, log } = parts;
  const nowMs = clock.nowMs();
  const found = await states.get(erasureWorkKey);
  if (found.kind === 'unreadable') throw new Error('the work cannot be read by this version');
  const record = found.kind === 'found' ? found.record : noWork;
  if (isLeased(record, nowMs, erasureLeaseMs)) return nowMs + againMs;
  if (record.batch !== undefined) return nowMs + againMs;
  if (record.retained === undefined && parts.hasErasure()) return nowMs + againMs;
  const work = record.retained ?? (await newWork(parts));
  if (work === undefined) return nowMs + lookAgainMs;
  const lease = { states, clock, leaseMs: erasureLeaseMs };
  const held = await HeldRecord.take(lease, erasureWorkKey, found, { ...record, retained: work });
  if (held === undefined) return nowMs + againMs;
  try {
    await takeOne(parts, held, work);
    await held.release();
  } catch (error) {
    if (!(error instanceof LeaseLost)) {
      await held.release();
      throw error;
    }
    log.warn(error.message);
  }
  return nowMs + againMs;
}

async function takeOne(parts: RetainedParts, held: Held, work: RetainedWork): Promise<void> {
  const { clickhouse, shards, log } = parts;
  const store = clickhouse.all[work.group];
  if (store === undefined) throw new Error('erasure: there is no such group of servers any more');
  const end = await takeStep[work.step](parts, {
    ...{ work, store, shards: shardsOf(work.projects, shards) },
    keep: (next) => keep(held, next),
  });
  if (end === 'later') return;
  const now = held.record.retained ?? work;
  const next = retainedSteps[retainedSteps.indexOf(work.step) + 1];
  await keep(held, next && { ...now, step: next, slice: 0 });
  if (next !== undefined) return;
  const projectIds = work.projects.map(({ projectId }) => projectId);
  log.info({ projectIds }, 'events that these projects keep no longer are gone');
}

async function keep(held: Held, retained: RetainedWork | undefined): Promise<void> {
  const { retained: _, ...rest } = held.record;
  await held.write({ ...rest, ...(retained !== undefined && { retained }) });
}

/** Of the first projects that have old events. */
async function newWork(parts: RetainedParts): Promise<RetainedWork | undefined> {
  const { clickhouse, maxProjects = usualMaxProjects } = parts;
  const due = dueProjects(parts);
  for (const [group, store] of clickhouse.all.entries()) {
    const here = due.filter(({ projectId }) => clickhouse.placeOf(projectId) === group);
    for (let at = 0; at < here.length; at += maxProjects) {
      const work = await workOf(parts, { group, store }, here.slice(at, at + maxProjects));
      if (work !== undefined) return work;
    }
  }
  return undefined;
}

/** Those that may have old events, as far as this process knows. */
function dueProjects({ projects, clock, lookedAtMs }: RetainedParts): RetainedProject[] {
  return [...projects()].flatMap(([projectId, { retentionDays }]) => {
    const beforeMs = retainedFromMs(retentionDays, clock.nowMs());
    const isDue = beforeMs !== undefined && lookedAtMs.get(projectId) !== beforeMs;
    return isDue ? [{ projectId, beforeMs }] : [];
  });
}

function shardsOf(projects: readonly RetainedProject[], shards: number): number[] {
  return [...new Set(projects.map(({ projectId }) => shardOf(projectId, shards)))];
}

/** Undefined where no event of these is older. */
async function workOf(
  parts: RetainedParts,
  { group, store }: { group: number; store: StepContext['store'] },
  some: readonly RetainedProject[],
): Promise<RetainedWork | undefined> {
  const { nats, shards, clock, lookedAtMs } = parts;
  const { maxEvents = usualMaxEvents, maxStored = usualMaxStored } = parts;
  const { eventsAtOnce = usualEventsAtOnce } = parts;
  const marks = await marksNow(nats, shardsOf(some, shards));
  const days = await selectRows(
    store,
    `SELECT project_id, toUInt32(toDate(occur_time)) AS day, count() FROM events
      WHERE ${oldEventsSql({ projects: some, stored: marks })}
      GROUP BY project_id, day ORDER BY project_id, day LIMIT ${maxDays}`,
  );
  const have = new Set(days.map(([projectId]) => String(projectId)));
  const stored = await storedOf(store, [...have]);
  const { projects, events } = firstOf(days, stored, { maxEvents, maxStored });
  if (days.length < maxDays) {
    for (const { projectId, beforeMs } of some) {
      if (!have.has(projectId)) lookedAtMs.set(projectId, beforeMs);
    }
  }
  if (projects.length === 0) return undefined;
  const profiles = await countProfiles(store, oldEventsSql({ projects, stored: marks }));
  return {
    ...{ id: randomUUID(), projects, group, startedMs: clock.nowMs() },
    ...{ step: 'sums', stored: marks, slice: 0, attempts: 0 },
    nameSlices: Math.ceil(events / eventsAtOnce),
    slices: Math.ceil(profiles / profilesAtOnce),
  };
}

/** All events of these projects, by their ids. */
async function storedOf(
  store: StepContext['store'],
  projectIds: readonly string[],
): Promise<Map<string, number>> {
  if (projectIds.length === 0) return new Map();
  const totals = await selectRows(
    store,
    `SELECT project_id, count() FROM events WHERE ${projectsSql(projectIds)} GROUP BY project_id`,
  );
  return new Map(totals.map(([projectId, count]) => [String(projectId), Number(count)]));
}

/**
 * The oldest days of each project, as many as one piece may have, at least one. `days`: project, day, events. `stored`:
 * all events of a project, by its id.
 */
function firstOf(
  days: readonly unknown[][],
  stored: ReadonlyMap<string, number>,
  { maxEvents, maxStored }: { maxEvents: number; maxStored: number },
): { projects: RetainedProject[]; events: number } {
  const beforeMs = new Map<string, number>();
  let [events, all] = [0, 0];
  for (const [project, day, count] of days) {
    const projectId = String(project);
    if (!beforeMs.has(projectId)) {
      const own = stored.get(projectId) ?? 0;
      if (all > 0 && all + own > maxStored) continue;
      all += own;
    }
    if (events > 0 && events + Number(count) > maxEvents) break;
    beforeMs.set(projectId, (Number(day) + 1) * dayMs);
    events += Number(count);
  }
  return {
    projects: [...beforeMs].map(([projectId, ms]) => ({ projectId, beforeMs: ms })),
    events,
  };
}

async function countProfiles(store: StepContext['store'], rows: string): Promise<number> {
  const sql = `SELECT uniq(profile_key) FROM events WHERE ${rows} AND NOT cookieless`;
  const [[profiles] = []] = await selectRows(store, sql);
  return Number(profiles);
}
