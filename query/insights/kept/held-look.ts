// Which days of profiles a question finds in memory. What is not there is read beside the questions: none waits for it.

import { Code, ConnectError } from '@connectrpc/connect';
import type { Clock } from '../../../platform/clock.ts';
import { setBounded } from '../../../platform/memory/bounded-map.ts';
import { loadFirstDays } from '../held/first-days.ts';
import type { HeldDays } from '../held/held-days.ts';
import { loadDays } from '../held/load-days.ts';
import type { CompleteUntil } from '../run/complete-until.ts';
import { JointReads } from '../run/joint-reads.ts';
import type { Access, KeptRange } from './kept-days.ts';
import type { Found } from './kept-parts.ts';
import { type DaysLook, lookAtDays, versionOf, versionsOf } from './look-at-days.ts';
import { Refusals } from './refusals.ts';
import type { SettledDays } from './settled-days.ts';

/** Days are read when a project asks again within so long. */
const askedAgainMs = 3_600_000;
/** Late events make the first days of all profiles old, and to read those of a million takes half a second. */
const firstDaysAgainMs = 600_000;
const maxNames = 10_000;

interface Sources {
  clock: Clock;
  completeUntilMs: CompleteUntil;
  settled: SettledDays;
}

export class HeldLook {
  readonly #sources: Sources;
  readonly #held: HeldDays;
  readonly #looks = new JointReads<DaysLook>();
  /** When each project asked last. */
  readonly #asked = new Map<string, number>();
  readonly #refusals: Refusals;
  /** Projects whose days are being read. */
  readonly #holding = new Set<string>();
  /** When the first days of a project's profiles were read last. */
  readonly #firstDaysReadAtMs = new Map<string, number>();

  constructor(sources: Sources, held: HeldDays) {
    this.#sources = sources;
    this.#held = held;
    this.#refusals = new Refusals(sources.clock);
  }

  /** The days that are held as of their events now. */
  async find(range: KeptRange, access: Access): Promise<Found> {
    const { projectId } = access;
    const { first, last, needsFirstDays } = range;
    const isAgain = this.#isRecent(this.#asked, projectId, askedAgainMs);
    this.#note(this.#asked, projectId);
    const name = JSON.stringify([projectId, first, last, needsFirstDays]);
    const asked = { first, last, keys: [], reachDays: 0, withBefore: needsFirstDays };
    // Dozens of boards that ask at once would fill the project's turns for small reads.
    const read = await this.#looks
      .join(name, access.signal, (signal) => lookAtDays(access.look, projectId, asked, { signal }))
      .catch(unlessRefused);
    if (read === undefined) return [];
    const look = { ...read, kept: new Set<number>() };
    this.#sources.settled.see(projectId, look, this.#sources.clock.nowMs());
    const held = this.#held.get(projectId);
    for (let day = first; day <= last; day++) {
      if (held?.days.get(day)?.version === versionOf(look, day, 0)) look.kept.add(day);
    }
    const { before } = look;
    const lacksFirstDays = before !== undefined && held?.firstDays?.holds(first, before) !== true;
    const isWhole = look.kept.size > last - first && !lacksFirstDays;
    const mayHold = isAgain && !this.#refusals.mustWait(name);
    if (mayHold && !isWhole && !this.#holding.has(projectId)) {
      this.#holding.add(projectId);
      void this.#hold(look, lacksFirstDays, access)
        .then(
          () => this.#refusals.succeeded(name),
          () => this.#refusals.failed(name),
        )
        .finally(() => this.#holding.delete(projectId));
    }
    return lacksFirstDays ? [] : versionsOf(look, look.kept, 0);
  }

  /** Reads past days that nothing is on its way to. */
  async #hold(look: DaysLook, lacksFirstDays: boolean, access: Access): Promise<void> {
    const { projectId, run } = access;
    const { clock, completeUntilMs, settled } = this.#sources;
    const untilMs = await completeUntilMs(projectId);
    if (untilMs === undefined) return;
    const days = settled.daysToKeep(projectId, look, 0, { untilMs, nowMs: clock.nowMs() });
    if (days.length > 0) await loadDays(this.#held, projectId, versionsOf(look, days, 0), run);
    if (!lacksFirstDays) return;
    const before = settled.eventsBefore(projectId, look, untilMs);
    const wasRead = this.#isRecent(this.#firstDaysReadAtMs, projectId, firstDaysAgainMs);
    if (before.size === 0 || wasRead) return;
    this.#note(this.#firstDaysReadAtMs, projectId);
    await loadFirstDays(this.#held, projectId, before, run);
  }

  #note(moments: Map<string, number>, name: string): void {
    moments.delete(name);
    setBounded(moments, name, this.#sources.clock.nowMs(), maxNames);
  }

  #isRecent(moments: ReadonlyMap<string, number>, name: string, ms: number): boolean {
    const atMs = moments.get(name);
    return atMs !== undefined && this.#sources.clock.nowMs() - atMs < ms;
  }
}

/** A look that finds no turn only spares a question some time. */
function unlessRefused(error: unknown): undefined {
  if (!(error instanceof ConnectError) || error.code !== Code.ResourceExhausted) throw error;
}
