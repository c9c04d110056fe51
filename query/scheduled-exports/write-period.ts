// One step of the period that is being written: it is begun, one of its files is written and read back, or its manifest
// is. A failure of any kind is tried again, later each time, and told in words.

import { ConnectError } from '@connectrpc/connect';
import { collectRows } from '../../platform/clickhouse/select-rows.ts';
import { dayMs, hourMs } from '../../platform/clock.ts';
import { maxParts, type PartRecord } from '../../platform/exports/export-record.ts';
import type { PeriodProgress, ScheduleRecord } from '../../platform/exports/schedule-record.ts';
import { waitAfter } from '../../platform/retry.ts';
import { type KeptLease, keepLease } from '../../platform/turns/keep-lease.ts';
import { exportFailure } from '../export/export-failure.ts';
import { exportFormats } from '../export/export-format.ts';
import type { ExportAsked } from '../export/export-request.ts';
import { selectWith, statementOf } from '../export/export-select.ts';
import { askedOf, queryOf } from '../kept-exports/export-query.ts';
import { partName, refuseFull, writePart } from '../kept-exports/files/write-part.ts';
import { maxManifestBytes, partNamesIn, periodManifestOf } from './period-manifest.ts';
import { folderOf, latestPeriod, manifestName, periodOf, settleMs } from './periods.ts';
import type { HeldSchedule, ScheduleParts } from './schedule-parts.ts';
import type { ObjectStore } from './store/object-store.ts';
import { bodyOf, putAndReadBack } from './store/read-back.ts';
import { StoreFailure } from './store/store-failure.ts';

const waits = { baseMs: 60_000, capMs: hourMs };
/** Whoever made it is told of a failure that lasts so long … */
export const tellAfterMs = 3 * hourMs;
/** … and it is paused after one that lasts so long. */
export const pauseAfterMs = 7 * dayMs;
/** Until it is asked again whether all of the period is stored. */
const notYetMs = 60_000;
const maxCharacters = 1_048_576;

type Changes = Partial<ScheduleRecord>;

/** Throws LeaseLost, also where somebody has paused or deleted it, or deleted its project, meanwhile. */
export async function writeStep(parts: ScheduleParts, one: HeldSchedule): Promise<void> {
  const { held } = one;
  const { stopping, log } = parts;
  const isEnded = (): boolean => {
    const now = parts.known(one.key);
    const isOther = now !== undefined && (now.id !== held.record.id || now.state !== 'active');
    // The record of a deleted project's schedule is there for some seconds more.
    return isOther || parts.project(one.projectId) === undefined;
  };
  const kept = keepLease({ held, isEnded, noun: 'scheduled export', stopping, log });
  let next: ScheduleRecord;
  try {
    kept.look();
    const done = await step(parts, one, kept);
    await kept.stop();
    next = { ...held.record, tries: 0, nextTryMs: 0, failingSinceMs: 0, ...done };
  } catch (cause) {
    await kept.stop();
    if (stopping.aborted) return;
    next = afterFailure(parts, one, cause, kept.signal);
  }
  await held.write(next);
}

/** One step of a period that has begun, with all that it needs. */
interface Step {
  parts: ScheduleParts;
  projectId: string;
  record: ScheduleRecord;
  asked: ExportAsked;
  store: ObjectStore;
  signal: AbortSignal;
}

async function step(
  parts: ScheduleParts,
  { projectId, held: { record } }: HeldSchedule,
  { signal, look }: Pick<KeptLease, 'signal' | 'look'>,
): Promise<Changes> {
  const query = queryOf(record.query);
  const listed = await parts.readSegments(projectId, query);
  const asked = { ...askedOf(query), listed };
  const store = changedWhileKept(parts.openStore(record), look);
  const own = { parts, projectId, record, asked, store, signal };
  const { progress } = record;
  try {
    if (progress === undefined) return await begin(own);
    if (progress.parts.length < progress.partCount) return await writeNext(own, progress);
    return await finish(own, progress);
  } finally {
    await store.close();
  }
}

/** Nothing in the bucket is changed once somebody has ended it. `look` throws then. */
function changedWhileKept(store: ObjectStore, look: () => void): ObjectStore {
  const { put, delete: remove } = store;
  return {
    ...store,
    put: async (...request) => {
      look();
      return put(...request);
    },
    delete: async (...request) => {
      look();
      return remove(...request);
    },
  };
}

async function begin({ parts, projectId, record, asked, store, signal }: Step): Promise<Changes> {
  const { clock } = parts;
  const { cadence, nextFromMs, target } = record;
  const nowMs = clock.nowMs();
  // Before any statement begins: whatever was accepted before this moment is in the files.
  const completeUntilMs = await parts.completeUntilMs(projectId);
  const isOfEvents = asked.what === 'events';
  const period = isOfEvents
    ? periodOf(cadence, nextFromMs)
    : latestPeriod(cadence, nextFromMs, nowMs);
  if (completeUntilMs === undefined || completeUntilMs < period.toMs + settleMs) {
    return { nextTryMs: nowMs + notYetMs };
  }
  const folder = folderOf(target, { projectId, what: asked.what }, cadence, period.fromMs);
  const manifest = await orAbsent(store.get(folder + manifestName, maxManifestBytes, signal));
  const [[count] = []] = await rowsOf(
    { parts, projectId, asked: inPeriod(asked, period), signal },
    (sql) => `SELECT toString(count()) FROM (${sql})`,
  );
  const partCount = Math.min(maxParts, Math.ceil(Number(count) / parts.partRows));
  const progress: PeriodProgress = {
    ...{ ...period, beginMs: nowMs, completeUntilMs, partCount, parts: [] },
    ...(manifest !== undefined && { earlier: partNamesIn(manifest) }),
  };
  // Of several periods of persons that were missed the last one is enough.
  return { progress, ...(isOfEvents ? {} : { nextFromMs: period.fromMs }) };
}

async function writeNext(
  { parts, projectId, record, asked, store, signal }: Step,
  progress: PeriodProgress,
): Promise<Changes> {
  const { files, room } = parts;
  const { id, cadence, target } = record;
  const folder = folderOf(target, { projectId, what: asked.what }, cadence, progress.fromMs);
  const place = progress.parts.length;
  // Written again: the period is not there while its files change.
  if (place === 0 && progress.earlier) await store.delete(folder + manifestName, signal);
  const share = { place, of: progress.partCount };
  const ofPart = { ...inPeriod(asked, progress), share };
  const select = selectWith(statementOf(projectId, ofPart, undefined), ofPart, signal);
  const named = { projectId, id, name: partName(asked, place) };
  try {
    await files.make(projectId, id);
    const bytes = parts.group(projectId).stream(select, exportFormats[asked.format].engine);
    const part = await writePart(files, named, asked, bytes, (fileBytes) =>
      refuseFull(room, projectId, fileBytes),
    );
    const path = files.pathOf(projectId, id, part.name);
    await putAndReadBack(store, folder + part.name, { ...part, path }, signal);
    return { progress: { ...progress, parts: [...progress.parts, part] } };
  } finally {
    await files.remove(projectId, id);
  }
}

async function finish(
  { parts, projectId, record, asked, store, signal }: Step,
  progress: PeriodProgress,
): Promise<Changes> {
  const { cadence, target, nextFromMs } = record;
  const folder = folderOf(target, { projectId, what: asked.what }, cadence, progress.fromMs);
  for (const part of progress.parts) await lookAt(store, folder, part, signal);
  const names = new Set(progress.parts.map(({ name }) => name));
  for (const name of progress.earlier ?? []) {
    if (!names.has(name)) await store.delete(folder + name, signal);
  }
  const of = { parts, projectId, asked: inPeriod(asked, progress), signal };
  const described = await rowsOf(of, (sql) => `DESCRIBE (${sql})`);
  const schema = described.map(([name, type]) => ({ name: String(name), type: String(type) }));
  const text = periodManifestOf(record, projectId, progress, asked, schema);
  await putAndReadBack(store, folder + manifestName, bodyOf(text), signal);
  const sum = (of: 'rows' | 'bytes') => progress.parts.reduce((all, part) => all + part[of], 0);
  const { fromMs, toMs } = progress;
  return {
    progress: undefined,
    last: {
      ...{ fromMs, toMs, files: names.size, rows: sum('rows'), bytes: sum('bytes') },
      doneMs: parts.clock.nowMs(),
    },
    // Somebody may have asked meanwhile for all periods from an earlier one on.
    nextFromMs: nextFromMs === fromMs ? toMs : nextFromMs,
  };
}

/** Another process that had lost its lease without knowing may have written after this one: then all is done anew. */
async function lookAt(
  store: ObjectStore,
  folder: string,
  { name, bytes, sha256 }: PartRecord,
  signal: AbortSignal,
): Promise<void> {
  const found = await orAbsent(store.head(folder + name, signal));
  const isOurs = found?.sha256 === sha256 || found?.sha256 === '';
  if (found?.bytes === bytes && isOurs) return;
  throw new ChangedFile(`${name} is not there as it was written: the period is written again`);
}

/** A key that may not read at all fails when what was written is read back. */
async function orAbsent<T>(read: Promise<T | undefined>): Promise<T | undefined> {
  try {
    return await read;
  } catch (cause) {
    if (cause instanceof StoreFailure && cause.mayBeAbsence) return undefined;
    throw cause;
  }
}

class ChangedFile extends StoreFailure {}

function inPeriod(asked: ExportAsked, { fromMs, toMs }: Pick<PeriodProgress, 'fromMs' | 'toMs'>) {
  return asked.what === 'events' ? { ...asked, received: { fromMs, toMs } } : asked;
}

async function rowsOf(
  { parts, projectId, asked, signal }: Pick<Step, 'parts' | 'projectId' | 'asked' | 'signal'>,
  around: (sql: string) => string,
): Promise<unknown[][]> {
  const { sql, params } = statementOf(projectId, asked, undefined);
  const select = selectWith({ sql: around(sql), params }, asked, signal);
  const { rows } = await collectRows(parts.group(projectId), select, maxCharacters);
  return rows;
}

function afterFailure(
  { clock, log }: ScheduleParts,
  { projectId, held: { record } }: HeldSchedule,
  cause: unknown,
  signal: AbortSignal,
): ScheduleRecord {
  const nowMs = clock.nowMs();
  const tries = record.tries + 1;
  const lastError = wordsOf(cause, signal, log);
  log.warn({ projectId, scheduleId: record.id, reason: lastError }, 'a scheduled export waits');
  const failingSinceMs = record.failingSinceMs || nowMs;
  const { progress } = record;
  const failed: ScheduleRecord = {
    ...{ ...record, tries, lastError, failingSinceMs, lastErrorMs: nowMs },
    nextTryMs: nowMs + waitAfter(tries, waits, Math.random()),
    ...(cause instanceof ChangedFile && progress && { progress: { ...progress, parts: [] } }),
  };
  const lastsMs = nowMs - failingSinceMs;
  const telling = { tellTries: 0, nextTellMs: 0, toldMs: failingSinceMs };
  if (lastsMs >= pauseAfterMs) {
    const reason = `it has failed for a week: ${lastError}`;
    return { ...failed, ...telling, state: 'paused', reason, telling: 'paused' };
  }
  const isNews = lastsMs >= tellAfterMs && record.toldMs !== failingSinceMs;
  return isNews ? { ...failed, ...telling, telling: 'failing' } : failed;
}

function wordsOf(cause: unknown, signal: AbortSignal, log: ScheduleParts['log']): string {
  if (cause instanceof StoreFailure || cause instanceof ConnectError) {
    return cause instanceof ConnectError ? cause.rawMessage : cause.message;
  }
  const isFull = cause instanceof Error && Reflect.get(cause, 'code') === 'ENOSPC';
  return isFull ? 'the disk is full' : exportFailure(cause, signal, log).rawMessage;
}
