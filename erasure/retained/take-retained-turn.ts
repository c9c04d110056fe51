// One turn at the events that projects keep no longer: takes the lease on the erasures' work, finds a project with old
// events where no piece of work is under way, and takes one step of it. A process that dies leaves the rest to the turn
// after its lease. Whoever asked for an erasure goes first, between two pieces.

import { randomUUID } from 'node:crypto';
import { shardOf } from '../../platform/broker/topology.ts';
import { dayMs } from '../../platform/clock.ts';
import {
  type ErasureWork,
  erasureLeaseMs,
  erasureWorkKey,
  noWork,
} from '../../platform/erasure/erasure-record.ts';
import { type RetainedWork, retainedSteps } from '../../platform/erasure/retained-work.ts';
import { retainedFromMs } from '../../platform/retained/retained-from.ts';
import { HeldRecord, isLeased, LeaseLost } from '../../platform/turns/held-record.ts';
import type { ErasureParts, StepContext } from '../erasure-parts.ts';
import { marksNow } from '../steps/cut.ts';
import { oldEventsSql } from '../tables/old-rows.ts';
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
  eventsAtOnce?: number;
}

const againMs = 500;
/** A new boundary comes once a day, and a setting that changes at any moment. */
const lookAgainMs = 10_000;
/** A deletion writes each part anew that has some of them. */
const usualMaxEvents = 5_000_000;
/** All columns of these are read, in some seconds; a statement has a minute. */
const usualEventsAtOnce = 1_000_000;
/** Ten years. */
const maxDays = 3_700;

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
    ...{ work, store, shards: [shardOf(work.projectId, shards)] },
    keep: (next) => keep(held, next),
  });
  if (end === 'later') return;
  const now = held.record.retained ?? work;
  const next = retainedSteps[retainedSteps.indexOf(work.step) + 1];
  await keep(held, next && { ...now, step: next, slice: 0 });
  if (next !== undefined) return;
  const { projectId, beforeMs } = work;
  const before = new Date(beforeMs).toISOString();
  log.info({ projectId, before }, 'events that the project keeps no longer are gone');
}

async function keep(held: Held, retained: RetainedWork | undefined): Promise<void> {
  const { retained: _, ...rest } = held.record;
  await held.write({ ...rest, ...(retained !== undefined && { retained }) });
}

/** Of the first project that has old events. */
async function newWork(parts: RetainedParts): Promise<RetainedWork | undefined> {
  const { clock, lookedAtMs } = parts;
  for (const [projectId, { retentionDays }] of parts.projects()) {
    const fromMs = retainedFromMs(retentionDays, clock.nowMs());
    if (fromMs === undefined || lookedAtMs.get(projectId) === fromMs) continue;
    const work = await workOf(parts, projectId, fromMs);
    if (work !== undefined) return work;
    lookedAtMs.set(projectId, fromMs);
  }
  return undefined;
}

/** Undefined where no event is older. The oldest days first, as many as one piece may have, at least one. */
async function workOf(
  parts: RetainedParts,
  projectId: string,
  fromMs: number,
): Promise<RetainedWork | undefined> {
  const { nats, clickhouse, shards, clock } = parts;
  const { maxEvents = usualMaxEvents, eventsAtOnce = usualEventsAtOnce } = parts;
  const shard = shardOf(projectId, shards);
  const group = shard % clickhouse.all.length;
  const store = clickhouse.ofShard(shard);
  const stored = await marksNow(nats, [shard]);
  const days = await selectRows(
    store,
    `SELECT toUInt32(toDate(occur_time)) AS day, count() FROM events
      WHERE ${oldEventsSql({ projectId, beforeMs: fromMs, stored })} GROUP BY day ORDER BY day LIMIT ${maxDays}`,
  );
  const [first] = days;
  if (first === undefined) return undefined;
  let [last, events] = [Number(first[0]), Number(first[1])];
  for (const [day, count] of days.slice(1)) {
    if (events + Number(count) > maxEvents) break;
    last = Number(day);
    events += Number(count);
  }
  const beforeMs = (last + 1) * dayMs;
  const profiles = await countProfiles(store, oldEventsSql({ projectId, beforeMs, stored }));
  return {
    ...{ id: randomUUID(), projectId, group, beforeMs, startedMs: clock.nowMs() },
    ...{ step: 'sums', stored, slice: 0, attempts: 0 },
    nameSlices: Math.ceil(events / eventsAtOnce),
    slices: Math.ceil(profiles / profilesAtOnce),
  };
}

async function countProfiles(store: StepContext['store'], rows: string): Promise<number> {
  const sql = `SELECT uniq(profile_key) FROM events WHERE ${rows} AND NOT cookieless`;
  const [[profiles] = []] = await selectRows(store, sql);
  return Number(profiles);
}
