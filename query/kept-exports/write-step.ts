// The next step of an export that is being written: its plan, one of its files, or the manifest that makes it ready. A
// failure that may pass is tried again; any other ends the export with its reason.

import { createHash } from 'node:crypto';
import { Code, ConnectError } from '@connectrpc/connect';
import { dayMs } from '../../platform/clock.ts';
import type { ExportRecord } from '../../platform/exports/export-record.ts';
import { waitAfter } from '../../platform/retry.ts';
import { keepLease } from '../../platform/turns/keep-lease.ts';
import { exportFailure } from '../export/export-failure.ts';
import { exportFormats } from '../export/export-format.ts';
import { selectWith, statementOf } from '../export/export-select.ts';
import type { ExportParts, HeldExport } from './export-parts.ts';
import { askedOf, queryOf } from './export-query.ts';
import { manifestFile, manifestOf } from './files/manifest.ts';
import { partName, refuseFull, writePart } from './files/write-part.ts';
import { askedOfPart, type PartPlan, planFile, planParts, readPlan } from './part-plan.ts';
import { listedOf } from './planned-segments.ts';

/** The files of an export that is ready are kept so long. */
export const keptDays = 7;
const waits = { baseMs: 10_000, capMs: 600_000 };
const maxTries = 30;
const mayPass = new Set([Code.Unavailable, Code.Internal]);

type Changes = Partial<ExportRecord>;

/** Throws LeaseLost, also where somebody has ended the export meanwhile. */
export async function writeStep(parts: ExportParts, one: HeldExport): Promise<void> {
  const { held } = one;
  const { stopping, log } = parts;
  const isEnded = () => {
    const now = parts.known(one.key);
    return now !== undefined && (now.id !== held.record.id || now.state === 'cancelled');
  };
  const kept = keepLease({ held, isEnded, noun: 'export', stopping, log });
  let changes: Changes;
  try {
    const done = await step(parts, one, kept.signal);
    const progressMs = parts.clock.nowMs();
    changes = { tries: 0, nextTryMs: 0, reason: '', progressMs, ...done };
  } catch (cause) {
    await kept.stop();
    if (stopping.aborted) return;
    changes = afterFailure(parts, one, cause, kept.signal);
  }
  await kept.stop();
  await held.write({ ...held.record, ...changes });
}

async function step(
  parts: ExportParts,
  { projectId, held: { record } }: HeldExport,
  signal: AbortSignal,
): Promise<Changes> {
  const { files, clock, room } = parts;
  const { id } = record;
  const query = queryOf(record.query);
  const asked = askedOf(query);
  if (record.partCount === 0) {
    // Before any statement begins: whatever was accepted before this moment is in the files.
    const completeUntilMs = (await parts.completeUntilMs(projectId)) ?? 0;
    await refuseFull(room, projectId, 0);
    const bounds = { partRows: parts.partRows, signal };
    const listed = await parts.readSegments(projectId, query);
    const plan = await planParts(parts.group(projectId), projectId, { ...asked, listed }, bounds);
    await files.make(projectId, id);
    await files.write(projectId, id, planFile, (file) => file.writeFile(JSON.stringify(plan)));
    const { partCount } = plan;
    return { state: 'running', stateMs: clock.nowMs(), partCount, completeUntilMs };
  }
  const plan = await planOf(parts, projectId, id);
  const place = record.parts.length;
  if (place < record.partCount) {
    const listed = plan.listed && listedOf(plan.listed, query);
    const ofPart = askedOfPart({ ...asked, ...(listed && { listed }) }, plan, place);
    const select = selectWith(statementOf(projectId, ofPart, plan.flat), ofPart, signal);
    const bytes = parts.group(projectId).stream(select, exportFormats[asked.format].engine);
    const named = { projectId, id, name: partName(asked, place) };
    const part = await writePart(files, named, asked, bytes, (fileBytes) =>
      refuseFull(room, projectId, fileBytes),
    );
    return { parts: [...record.parts, part] };
  }
  const stateMs = clock.nowMs();
  const expireMs = stateMs + keptDays * dayMs;
  const text = manifestOf({ ...record, expireMs }, asked, plan);
  await files.write(projectId, id, manifestFile, (file) => file.writeFile(text));
  const sha256 = createHash('sha256').update(text).digest('hex');
  const manifest = { name: manifestFile, bytes: Buffer.byteLength(text), rows: 0, sha256 };
  return { state: 'ready', stateMs, expireMs, manifest };
}

async function planOf(
  { files }: Pick<ExportParts, 'files'>,
  projectId: string,
  id: string,
): Promise<PartPlan> {
  const text = await files.readText(projectId, id, planFile);
  const plan = text === undefined ? undefined : readPlan(text);
  if (plan !== undefined) return plan;
  throw new ConnectError('its files are gone', Code.DataLoss);
}

function afterFailure(
  { clock, log }: ExportParts,
  { projectId, held: { record } }: HeldExport,
  cause: unknown,
  signal: AbortSignal,
): Changes {
  const { rawMessage: reason, code } = isFull(cause)
    ? new ConnectError('the disk is full', Code.ResourceExhausted)
    : exportFailure(cause, signal, log);
  const tries = record.tries + 1;
  const nowMs = clock.nowMs();
  if (mayPass.has(code) && tries < maxTries) {
    return { tries, reason, nextTryMs: nowMs + waitAfter(tries, waits, Math.random()) };
  }
  log.warn({ projectId, exportId: record.id, reason }, 'an export failed');
  return { state: 'failed', reason, stateMs: nowMs, nextTryMs: 0 };
}

function isFull(cause: unknown): boolean {
  return cause instanceof Error && 'code' in cause && cause.code === 'ENOSPC';
}
