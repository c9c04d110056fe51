// One turn at the erasure of persons, projects, organizations and accounts: takes the lease on the work, gathers open
// requests into a batch, and takes its steps one after the other, each written when it is done. A process that dies
// leaves the rest to the turn after its lease.

import { randomUUID } from 'node:crypto';
import {
  completion,
  deletionSteps,
  type ErasureBatch,
  type ErasureRecord,
  type ErasureStep,
  type ErasureWork,
  erasureKey,
  erasureLeaseMs,
  erasureSteps,
  erasureWorkKey,
  isOpen,
  noWork,
  quietMs,
} from '../platform/erasure/erasure-record.ts';
import { HeldRecord, isLeased, LeaseLost } from '../platform/turns/held-record.ts';
import {
  type ErasureParts,
  maxRequests,
  type StepContext,
  type StepEnd,
  type TakeStep,
} from './erasure-parts.ts';
import { awaitQueue } from './steps/await-queue.ts';
import { cut } from './steps/cut.ts';
import { find, hide, IdLost } from './steps/hide-and-find.ts';
import { eraseLetters } from './steps/letters.ts';
import { forget, rowsLeft, settle } from './steps/settle.ts';
import { personsBack } from './tables/late-persons.ts';
import { deletionStepsTaken, lookAtRest } from './whole/deletion-steps.ts';

const againMs = 500;
/** Of a batch of projects, organizations and accounts: the broker is asked much for each. */
const maxWholes = 20;
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
  // Not its end: who looks for late rows has it for a moment.
  if (isLeased(record, nowMs, erasureLeaseMs)) return nowMs + againMs;
  // The events that a project keeps no longer are taken out of the same sums.
  const batch = record.batch ?? (record.retained === undefined ? newBatch(parts) : undefined);
  if (batch === undefined) return nowMs + againMs;
  const held = await HeldRecord.take(
    { states, clock, leaseMs: erasureLeaseMs },
    erasureWorkKey,
    found,
    {
      ...record,
      batch,
    },
  );
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

function newBatch({ requests, clickhouse, clock }: ErasureParts): ErasureBatch | undefined {
  const nowMs = clock.nowMs();
  const open = [...requests.records()]
    .map(([, record]) => record)
    .filter((record) => isOpen(record) && isQuiet(record, nowMs))
    .sort((one, other) => one.requestedAtMs - other.requestedAtMs);
  const groupOf = ({ projectId }: ErasureRecord): number =>
    projectId === '' ? 0 : clickhouse.placeOf(projectId);
  const [first] = open;
  if (first === undefined) return undefined;
  const group = groupOf(first);
  const isWhole = first.whole !== undefined;
  const some = open
    .filter((request) => groupOf(request) === group && (request.whole !== undefined) === isWhole)
    .slice(0, isWhole ? maxWholes : maxRequests);
  return {
    id: randomUUID(),
    requestIds: some.map(({ requestId }) => requestId),
    ...{ group, step: isWhole ? 'records' : 'hide', round: 1, cuts: 0 },
    ...{ stored: [], storedBefore: [], events: {} },
  };
}

/** What is deleted as a whole is closed at once, and its data wait for what was accepted at that moment. */
function isQuiet({ whole, requestedAtMs }: ErasureRecord, nowMs: number): boolean {
  // Far ahead: the clock was set back meanwhile.
  return whole === undefined || Math.abs(nowMs - requestedAtMs) >= quietMs;
}

const steps: Readonly<Record<Exclude<ErasureStep, 'check' | 'look'>, TakeStep>> = {
  hide,
  find,
  queue: awaitQueue,
  letters: eraseLetters,
  cut,
  settle,
  forget,
  ...deletionStepsTaken,
};

/** The one after it in its list; the last one goes on by itself. */
function nextStep(step: ErasureStep): ErasureStep {
  const isOfWhole = deletionSteps.some((one) => one === step);
  const list: readonly ErasureStep[] = isOfWhole ? deletionSteps : erasureSteps;
  return list[list.indexOf(step) + 1] ?? step;
}

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
    const { step } = batch;
    const isLast = step === 'check' || step === 'look';
    const end = isLast
      ? await check(parts, held, context)
      : await steps[step](parts, context, AbortSignal.timeout(changeMs));
    if (end === 'later') {
      await held.release();
      return parts.clock.nowMs() + againMs;
    }
    const now = held.record.batch;
    if (!isLast && now !== undefined) await keep(held, { ...now, step: nextStep(step) });
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
    renew: () => held.renew(),
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

/**
 * Rows that came meanwhile are erased in another round. A person who still sends then is somebody new; of a project
 * nothing may be left.
 */
async function check(parts: ErasureParts, held: Held, context: StepContext): Promise<StepEnd> {
  const isWhole = context.batch.step === 'look';
  if (!isWhole && (await settle(parts, context)) === 'later') return 'later';
  const { batch, requests } = context;
  const left = isWhole ? await lookAtRest(parts, context) : await rowsLeft(parts, context);
  const rows = [...left.values()].reduce((sum, count) => sum + count, 0);
  if (rows > 0 && (isWhole || batch.round < maxRounds)) {
    // Who came back since is no part of what is done again.
    const back = isWhole ? [] : await personsBack(context.store, requests);
    for (const request of back) await complete(parts, batch, request);
    const { queued: _, ...rest } = batch;
    await keep(held, { ...rest, step: isWhole ? 'records' : 'hide', round: batch.round + 1 });
    return 'done';
  }
  for (const request of requests) await complete(parts, batch, request);
  const what = isWhole ? requests.map(({ whole }) => whole?.kind) : 'persons';
  parts.log.info({ requests: requests.length, round: batch.round, left: rows, what }, 'erased');
  await keep(held, undefined);
  return 'done';
}

async function complete(
  parts: ErasureParts,
  { events }: ErasureBatch,
  { requestId, whole, events: before }: ErasureRecord,
): Promise<void> {
  await change(parts, requestId, {
    ...completion(parts.clock),
    ...(whole !== undefined && { whole: { ...whole, displayName: '' } }),
    // Also of a request that was opened again.
    events: before + (events[requestId] ?? 0),
  });
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
  // One that was completed before the others has no error.
  for (const { requestId } of await openRequests(parts, batch)) {
    await change(parts, requestId, { error: `the step "${batch.step}" failed and is tried again` });
  }
}
