// Gives the rows of a question's statement: cached ones where nothing of what they depend on has changed, those of the
// same statement that runs already for somebody else, or those of a new run in the project's turn.

import { createHash } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { lackOfMemory, type RowReader } from '../../../platform/clickhouse/select-rows.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { Log } from '../../../platform/log.ts';
import { setBounded } from '../../../platform/memory/bounded-map.ts';
import { timeLimit } from '../../../platform/memory/time-limit.ts';
import type { RetainedFrom } from '../../../platform/retained/retained-from.ts';
import { retainedRows } from '../../../platform/retained/row-filters.ts';
import { shareEngineTime } from '../../calls/engine-time.ts';
import type { Deadline } from '../../deadline.ts';
import type { Turns } from '../../turns.ts';
import type { Range } from '../read/plan-notes.ts';
import type { CompleteUntil } from './complete-until.ts';
import { KeptDays } from './kept/kept-days.ts';
import { ResultCache, type Rows } from './result-cache.ts';
import { type InsightStatement, maxInsightMs, runInsight } from './run-insight.ts';
import { SingleFlight, unlessLeft } from './single-flight.ts';
import { readStoredVersion, type StoredVersion } from './stored-version.ts';

export interface InsightOptions {
  clickhouse: RowReader;
  completeUntilMs: CompleteUntil;
  /** Of the same time as completeUntilMs. */
  clock: Clock;
  /** For the small statement that tells whether something has changed. */
  turns: Turns;
  /** For the questions' own statements. */
  insightTurns: Turns;
  /** Of one statement; the server's own bound unless given. */
  memoryBytes?: number;
  /** A clock that never goes back. */
  nowMs?: () => number;
  /** Before which moment a project has no events, by the same clock as `clock`; never unless given. */
  retainedFrom?: RetainedFrom;
  /** Told, at its level debug, where each question's rows come from. */
  log?: Pick<Log, 'debug'>;
  /** The only sources besides rows of events, by name: tests alone leave some out. */
  ladder?: readonly string[];
}

export interface InsightRows extends Rows {
  /** Every event that was accepted before is counted; undefined where the broker did not tell. */
  completeUntilMs: number | undefined;
}

/** Who asks: whoever comes first for a statement that several ask for. */
export interface Asker {
  projectId: string;
  /** What is asked at once, if it is more than this question. */
  together?: symbol | undefined;
  /** Told the milliseconds that each of the question's own statements was at the engine. */
  spend?: ((engineMs: number) => void) | undefined;
}

/** What was stored when a question was asked. */
export interface Stored {
  range: Range;
  /** Known before the statement begins. */
  completeUntilMs: number | undefined;
  /** Whose types it tells. */
  properties: ReadonlySet<string>;
  /** Reads it once, whoever asks: beside the statement, unless that depends on it. */
  seen(): Promise<Seen>;
}

export interface Seen extends StoredVersion {
  /** Whether every insert that made this version has surely ended. */
  isSettled: boolean;
}

interface Cached extends Rows, Pick<Seen, 'version' | 'isSettled'> {
  completeUntilMs: number | undefined;
  cachedAtMs: number;
}

const maxCacheBytes = 32 * 1_048_576;
const maxRanges = 2_000;
const versionTimeoutMs = 10_000;
/**
 * An insert fills several tables one after the other, within milliseconds; one that fails between two of them is
 * repeated later. And a statement may begin just before its version is read. So rows may lack a part of their version:
 * where it is this young, or events from before it was seen still wait, they are cached for a second at most, and say
 * no more than when they were read.
 */
const settleMs = 5_000;
const unsettledCacheMs = 1_000;
/** Long enough for most statements that hold memory. */
const memoryAgainMs = 1_000;

export class InsightRuns {
  readonly options: InsightOptions;
  readonly #nowMs: () => number;
  readonly #cache = new ResultCache<Cached>(maxCacheBytes);
  readonly #runs = new SingleFlight<Cached>();
  readonly #checks = new SingleFlight<Seen>();
  readonly #keptDays: KeptDays;
  /** The version of a range, and when it was first seen, by both clocks. */
  readonly #versions = new Map<string, { version: string; sinceMs: number; seenAtMs: number }>();

  constructor(options: InsightOptions) {
    this.options = options;
    this.#nowMs = options.nowMs ?? (() => performance.now());
    this.#keptDays = new KeptDays(options);
  }

  /** What a statement depends on that reads this range. One check at a time of a range and properties, whoever asks. */
  stored(
    projectId: string,
    range: Range,
    completeUntilMs: number | undefined,
    properties: ReadonlySet<string> = new Set(),
  ): Stored {
    const key = JSON.stringify([projectId, range.fromMs, range.toMs]);
    const checkKey = JSON.stringify([key, ...properties]);
    const check = async (signal: AbortSignal): Promise<Seen> => {
      const retainedFromMs = this.options.retainedFrom?.(projectId);
      const look = this.smallReads(projectId);
      const read = await readStoredVersion(look, projectId, range, { signal }, [...properties]);
      // Where old events leave the sum of the range, it may come back to a number of before.
      const version =
        retainedFromMs === undefined ? read.version : `${read.version} ${retainedFromMs}`;
      return { ...read, version, isSettled: this.#isSettled(key, version, completeUntilMs) };
    };
    let seen: Promise<Seen> | undefined;
    const look = (): Promise<Seen> => {
      if (seen !== undefined) return seen;
      seen = this.#checks.join(checkKey, timeLimit(versionTimeoutMs), check);
      // A question that is refused meanwhile does not wait for it; another one of a board looks again.
      seen.catch(() => {
        seen = undefined;
      });
      return seen;
    };
    return { range, completeUntilMs, properties, seen: look };
  }

  /** `stored` is of the events that the statement reads. Throws as runInsight does, and what readFailure reads. */
  async rows(
    asker: Asker,
    stored: Stored,
    statement: InsightStatement,
    { signal }: Pick<Deadline, 'signal'>,
  ): Promise<InsightRows> {
    const { projectId } = asker;
    const key = keyOf(projectId, statement);
    const known = await this.#known(key, stored, signal);
    if (known !== undefined) return answer(known, stored);
    const run = await this.#runs.join(key, signal, async (shared, hasWaited) => {
      // What others ran meanwhile may answer all who waited, if nothing was stored before the last of them came.
      const { completeUntilMs } = stored;
      const latest = hasWaited ? this.stored(projectId, stored.range, completeUntilMs) : stored;
      const last = hasWaited ? await this.#known(key, latest, shared) : undefined;
      if (last !== undefined) return last;
      // A new question does not wait for its version. The look begins first: the rows miss nothing that it has seen.
      const looked = latest.seen();
      const run = this.#runWithKept(asker, statement, shared);
      const [rows, { version, isSettled }] = await Promise.all([run, looked]);
      const result = { ...rows, version, isSettled, completeUntilMs, cachedAtMs: this.#nowMs() };
      this.#cache.set(key, result);
      return result;
    });
    return answer(run, stored);
  }

  /** Cached rows that hold. */
  async #known(key: string, stored: Stored, signal: AbortSignal): Promise<Cached | undefined> {
    const cached = this.#cache.get(key);
    if (cached === undefined) return undefined;
    return this.#holds(cached, await unlessLeft(stored.seen(), signal)) ? cached : undefined;
  }

  /** Runs the small statements that a question needs beside its own, in the project's turns for look-ups. */
  smallReads(projectId: string): RowReader {
    return this.options.turns.reader(this.#reader(projectId), projectId, 'look-up');
  }

  #reader(projectId: string): RowReader {
    const { clickhouse, retainedFrom } = this.options;
    return retainedRows(clickhouse, () => retainedFrom?.(projectId));
  }

  #holds(cached: Cached, { version }: Seen): boolean {
    if (cached.version !== version) return false;
    return cached.isSettled || this.#nowMs() - cached.cachedAtMs < unsettledCacheMs;
  }

  /** Days that are kept are not counted again. */
  async #runWithKept(
    asker: Asker,
    statement: InsightStatement,
    signal: AbortSignal,
  ): Promise<Rows> {
    const { projectId, together = Symbol('asked alone') } = asker;
    const { kept } = statement;
    if (kept === undefined) return this.#run(asker, statement, signal);
    const access = {
      ...{ projectId, together, signal, look: this.smallReads(projectId) },
      // It goes on for others where the caller has left.
      run: (more: Pick<InsightStatement, 'sql' | 'params' | 'maxRows'>) => {
        const limit = timeLimit(maxInsightMs);
        shareEngineTime(signal, limit);
        return this.#run(asker, more, limit);
      },
    };
    const found = await this.#keptDays.find(statement, kept, access);
    return this.#run(asker, { ...statement, params: { ...statement.params, ...found } }, signal);
  }

  async #run({ projectId, spend }: Asker, statement: InsightStatement, signal: AbortSignal) {
    const { insightTurns, memoryBytes } = this.options;
    const inTurn = insightTurns.reader(this.#reader(projectId), projectId, 'search', spend);
    const run = () => runInsight(inTurn, statement, memoryBytes, signal);
    return run().catch(async (error: unknown) => {
      if (lackOfMemory(error) !== 'engine') throw error;
      // Others have taken what this statement was left; as a rule they have answered soon.
      await delay(memoryAgainMs, undefined, { signal });
      return run();
    });
  }

  #isSettled(range: string, version: string, completeUntilMs: number | undefined): boolean {
    const nowMs = this.#nowMs();
    const seen = this.#versions.get(range);
    if (seen?.version !== version) {
      const seenAtMs = this.options.clock.nowMs();
      setBounded(this.#versions, range, { version, sinceMs: nowMs, seenAtMs }, maxRanges);
      return false;
    }
    const isAcknowledged = completeUntilMs !== undefined && completeUntilMs >= seen.seenAtMs;
    return isAcknowledged && nowMs - seen.sinceMs >= settleMs;
  }
}

/** Two statements with one key have the same rows. */
export function keyOf(projectId: string, { sql, params, maxRows }: InsightStatement): string {
  const text = JSON.stringify([projectId, sql, params, maxRows], (_, value: unknown) =>
    typeof value === 'number' || typeof value === 'bigint' ? exactNumber(value) : value,
  );
  return createHash('sha256').update(text).digest('base64');
}

/** No other value's JSON, and not the same for 0 and -0. */
function exactNumber(value: number | bigint): object {
  return { [typeof value]: Object.is(value, -0) ? '-0' : String(value) };
}

function answer(cached: Cached, stored: Stored): InsightRows {
  const { texts, characters } = cached;
  const moments = [stored.completeUntilMs, ...(cached.isSettled ? [] : [cached.completeUntilMs])];
  return { texts, characters, completeUntilMs: earliest(moments) };
}

/** Undefined where one of them is. */
export function earliest(moments: readonly (number | undefined)[]): number | undefined {
  return moments.reduce((first, moment) =>
    first === undefined || moment === undefined ? undefined : Math.min(first, moment),
  );
}
