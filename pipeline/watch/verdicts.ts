// Tells watched projects what became of their events, one message for each batch and project, once the batch is done.
// Nothing waits for it and nothing of it can fail the writer: whoever does not hear it finds the events in the tables.

import { liveSubject } from '../../platform/live/live-subjects.ts';
import type { Log } from '../../platform/log.ts';
import {
  encodeVerdict,
  maxDeadEvents,
  maxDuplicateIds,
  maxStoredIds,
  type VerdictMessage,
} from '../../proto/wire/live/verdict-message.ts';
import { describeLetter } from '../consume/dead-letter-rows.ts';
import type { DoneBatch } from '../write/writer.ts';

interface VerdictsOptions {
  send(subject: string, content: Uint8Array): void;
  isWatched(projectId: string): boolean;
  nowMs(): number;
  log: Log;
}

/** Never throws. */
export function tellVerdicts(done: DoneBatch, options: VerdictsOptions): void {
  try {
    for (const projectId of projectsOf(done)) {
      const subject = options.isWatched(projectId) ? liveSubject('watch', projectId) : undefined;
      if (subject === undefined) continue;
      options.send(subject, encodeVerdict(verdictOf(done, projectId, options.nowMs())));
    }
  } catch (error) {
    options.log.warn({ err: error }, 'live views are not told of a batch');
  }
}

function projectsOf({ ids, deadLetters }: DoneBatch): Set<string> {
  return new Set([...ids.projects, ...deadLetters.flatMap(({ projectId }) => projectId ?? [])]);
}

export function verdictOf(
  { ids, pending, deadLetters }: DoneBatch,
  projectId: string,
  timeMs: number,
): VerdictMessage {
  const project = ids.projects.indexOf(projectId);
  const dropped = Buffer.from(pending.dropped ?? '', 'base64');
  const stored: number[] = [];
  const duplicates: number[] = [];
  for (let row = 0; row < ids.rows; row++) {
    if (ids.projectOf[row] !== project) continue;
    const isDropped = ((dropped[row >>> 3] ?? 0) >>> (row & 7)) & 1;
    (isDropped === 1 ? duplicates : stored).push(row);
  }
  const { countOf, projectOf, eventIds } = ids.repeats;
  const repeated = projectOf.flatMap((of, place) => (of === project ? [place] : []));
  const letters = deadLetters.filter((letter) => letter.projectId === projectId);
  return {
    timeMs,
    stored: stored.length,
    duplicates: duplicates.length + (countOf.get(project) ?? 0),
    dead: letters.reduce((sum, { events }) => sum + events, 0),
    storedIds: idsAt(ids.eventIds, spread(stored, maxStoredIds)),
    duplicateIds: Buffer.concat([
      idsAt(ids.eventIds, duplicates),
      idsAt(eventIds, repeated),
    ]).subarray(0, 16 * maxDuplicateIds),
    deadEvents: letters.slice(0, maxDeadEvents).map((letter) => ({
      reason: letter.reason,
      ...describeLetter(letter),
    })),
  };
}

/** At most `max` of `rows`, at even distances: those that a viewer was shown lie anywhere in the batch. */
function spread(rows: readonly number[], max: number): readonly number[] {
  const step = Math.ceil(rows.length / max);
  return step <= 1 ? rows : rows.filter((_, index) => index % step === 0);
}

function idsAt(eventIds: Uint8Array, places: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(16 * places.length);
  for (const [index, place] of places.entries()) {
    bytes.set(eventIds.subarray(16 * place, 16 * place + 16), 16 * index);
  }
  return bytes;
}
