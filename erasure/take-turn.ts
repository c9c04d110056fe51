// One turn at the erasure of persons: takes the lease on the work, gathers the open requests into a batch, and takes
// its steps one after the other, each written when it is done. A process that dies leaves the rest to the turn after
// its lease.

import { randomUUID } from 'node:crypto';
import { shardOf } from '../platform/broker/topology.ts';
import {
  type ErasureBatch,
  type ErasureRecord,
  type ErasureStep,
  type ErasureWork,
  erasureKey,
  erasureSteps,
  erasureWorkKey,
  isOpen,
  noWork,
} from '../platform/erasure/erasure-record.ts';
import { HeldRecord, isLeased, LeaseLost } from '../platform/turns/held-record.ts';
import type { ErasureParts, StepContext, StepEnd } from './erasure-parts.ts';
import { awaitQueue } from './steps/await-queue.ts';
import { cut } from './steps/cut.ts';
import { find, hide, IdLost } from './steps/hide-and-find.ts';
import { eraseLetters } from './steps/letters.ts';
import { forget, rowsLeft, settle } from './steps/settle.ts';

/** A statement takes a minute at most, and the writers stand still for some seconds. */
const leaseMs = 90_000;
const againMs = 500;
/** Of one batch: its ids are in the text of a dozen statements. */
const maxRequests = 200;
/** Somebody who goes on sending is somebody new after so many rounds. */
const maxRounds = 3;
/** A change of a profile waits for its writer. */
const changeMs = 60_000;

type Held = HeldRecord<ErasureWork>;

/** Whether there is anything to do, as far as memory knows. */
export function hasOpen({ requests }: Pick<ErasureParts, 'requests'>): boolean {
  for (const [, request] of requests.records()) if (isOpen(request)) return true;
  return false;
}

/** Returns when the next turn is. Throws the engines' errors: the step is taken again. */
export async function takeTurn(parts: ErasureParts): Promise<number> {
  const { work: states, clock, log } = parts;
  const nowMs = clock.nowMs();
  const found = await states.get(erasureWorkKey);
  if (found.kind === 'unreadable') throw new Error('the work cannot be read by this version');
  const record = found.kind === 'found' ? found.record : noWork;
  if (isLeased(record, nowMs, leaseMs)) return record.leaseEndMs;
  const batch = record.batch ?? newBatch(parts);
  if (batch === undefined) return nowMs + againMs;
  const held = await HeldRecord.take({ states, clock, leaseMs }, erasureWorkKey, found, {
    ...record,
    batch,
  });
  if (held === undefined) return nowMs + againMs;
  try {
    return await takeSteps(parts, held);
  } catch (error) {
    if (error instanceof LeaseLost) {
      log.warn(error.message);
      return nowMs + againMs;
    }
    await note(parts, held, error);
    await held.release();
    throw error;
  }
}

function newBatch({ requests, clickhouse, shards }: ErasureParts): ErasureBatch | undefined {
  const open = [...requests.records()]
    .map(([, record]) => record)
    .filter(isOpen)
    .sort((one, other) => one.requestedAtMs - other.requestedAtMs);
  const groupOf = ({ projectId }: ErasureRecord): number =>
    shardOf(projectId, shards) % clickhouse.all.length;
  const [first] = open;
  if (first === undefined) return undefined;
  const group = groupOf(first);
  const some = open.filter((request) => groupOf(request) === group).slice(0, maxRequests);
  return {
    id: randomUUID(),
    requestIds: some.map(({ requestId }) => requestId),
    ...{ group, step: 'hide', round: 1, cuts: 0, stored: [], storedBefore: [], events: {} },
  };
}

type TakeStep = (
  parts: ErasureParts,
  context: StepContext,
  signal: AbortSignal,
) => Promise<StepEnd>;

const steps: Readonly<Record<Exclude<ErasureStep, 'check'>, TakeStep>> = {
  hide,
  find,
  queue: awaitQueue,
  letters: eraseLetters,
  cut,
  settle,
  forget,
};

async function takeSteps(parts: ErasureParts, held: Held): Promise<number> {
  for (;;) {
    const { batch } = held.record;
    if (batch === undefined) break;
    const requests = await openRequests(parts, batch);
    if (requests.length === 0) {
      await keep(held, undefined);
      break;
    }
    const context = contextOf(parts, held, batch, requests);
    await held.renew();
    const end =
      batch.step === 'check'
        ? await check(parts, held, context)
        : await steps[batch.step](parts, context, AbortSignal.timeout(changeMs));
    if (end === 'later') {
      await held.release();
      return parts.clock.nowMs() + againMs;
    }
    const now = held.record.batch;
    if (batch.step !== 'check' && now !== undefined) {
      const step = erasureSteps[erasureSteps.indexOf(batch.step) + 1] ?? 'check';
      await keep(held, { ...now, step });
    }
  }
  await held.release();
  return parts.clock.nowMs();
}

/** The batch's requests that are open, as the broker has them. */
async function openRequests(
  { requests }: ErasureParts,
  { requestIds }: ErasureBatch,
): Promise<ErasureRecord[]> {
  const reads = await Promise.all(requestIds.map((id) => requests.ask(erasureKey(id))));
  return reads.flatMap((read) =>
    read.kind === 'found' && isOpen(read.record) ? [read.record] : [],
  );
}

function contextOf(
  parts: ErasureParts,
  held: Held,
  batch: ErasureBatch,
  requests: readonly ErasureRecord[],
): StepContext {
  const store = parts.clickhouse.all[batch.group];
  if (store === undefined) throw new Error('erasure: there is no such group of servers any more');
  return {
    ...{ batch, requests, store },
    keep: (next) => keep(held, next),
    change: (requestId, changes) => change(parts, requestId, changes),
  };
}

async function keep(held: Held, batch: ErasureBatch | undefined): Promise<void> {
  const { batch: _, ...rest } = held.record;
  await held.write({ ...rest, ...(batch !== undefined && { batch }) });
}

async function change(
  { requests }: ErasureParts,
  requestId: string,
  changes: Partial<ErasureRecord>,
): Promise<void> {
  const key = erasureKey(requestId);
  for (;;) {
    const read = await requests.ask(key);
    if (read.kind !== 'found') return;
    const written = await requests.update(key, { ...read.record, ...changes }, read.revision);
    if (written.kind === 'written') return;
  }
}

/** Rows that came meanwhile are erased in another round; who still sends then is somebody new. */
async function check(parts: ErasureParts, held: Held, context: StepContext): Promise<StepEnd> {
  if ((await settle(parts, context)) === 'later') return 'later';
  const { batch, requests } = context;
  const left = await rowsLeft(context);
  const rows = [...left.values()].reduce((sum, count) => sum + count, 0);
  if (rows > 0 && batch.round < maxRounds) {
    const { queued: _, ...rest } = batch;
    await keep(held, { ...rest, step: 'hide', round: batch.round + 1 });
    return 'done';
  }
  for (const { requestId } of requests) {
    const events = batch.events[requestId] ?? 0;
    await change(parts, requestId, {
      ...{ status: 'completed', sealedId: '', events, error: '' },
      completedAtMs: parts.clock.nowMs(),
    });
  }
  parts.log.info(
    { requests: requests.length, round: batch.round, left: rows },
    'persons are erased',
  );
  await keep(held, undefined);
  return 'done';
}

/** What failed is told by the requests; one that can never be worked on fails for good, and the others go on. */
async function note(parts: ErasureParts, held: Held, error: unknown): Promise<void> {
  const { batch } = held.record;
  if (batch === undefined) return;
  if (error instanceof IdLost) {
    const { requestId, message } = error;
    await change(parts, requestId, {
      ...{ status: 'failed', error: message, completedAtMs: parts.clock.nowMs() },
    });
    return;
  }
  for (const requestId of batch.requestIds) {
    await change(parts, requestId, { error: `the step "${batch.step}" failed and is tried again` });
  }
}
