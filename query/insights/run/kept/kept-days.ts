// Keeps the cells of past days in the tables kept_cells and kept_days, and tells a statement which days it finds there.
// A day holds as long as no event was stored that it depends on: its version is the number of such events, which only
// grows.

import type { RowReader } from '../../../../platform/clickhouse/select-rows.ts';
import type { Clock } from '../../../../platform/clock.ts';
import { setBounded } from '../../../../platform/memory/bounded-map.ts';
import type { Statement } from '../../../read-rows.ts';
import type { DayCells } from '../../read/plan-notes.ts';
import type { QuestionDays } from '../../sources/day-cells.ts';
import type { CompleteUntil } from '../complete-until.ts';
import { SingleFlight } from '../single-flight.ts';
import { cellsKeptToday, type DaysLook, lookAtDays, type SeriesDays } from './look-at-days.ts';
import { Refusals } from './refusals.ts';
import { SettledDays } from './settled-days.ts';

/** What a statement may find kept. */
export interface KeptRange extends QuestionDays {
  /** Of the statement's series; a day counts as kept where all of them have it. */
  cells: readonly DayCells[];
}

/** How the process of a question reads and writes. */
export interface Access {
  projectId: string;
  /** Whose questions are one: those of a board's tiles, and of a range and the period before it. */
  together: symbol;
  look: RowReader;
  /** Runs a statement that writes, within the bounds of a question. */
  run(statement: Statement & { maxRows: number }): Promise<unknown>;
  signal: AbortSignal;
}

/** A series is kept when it is asked for again within so long. */
const askedAgainMs = 3_600_000;
const maxSeries = 10_000;
/** Cells that are kept in a UTC day, of one project and of all: some 50 bytes each, for four days. */
const maxProjectCells = 2_000_000;
const maxAllCells = 20_000_000;

export class KeptDays {
  readonly #clock: Clock;
  readonly #completeUntilMs: CompleteUntil;
  readonly #settled = new SettledDays();
  /** When each set of series was asked for last, the longest ago first; together with what, and whether again. */
  readonly #asked = new Map<string, { atMs: number; together: symbol; isAgain: boolean }>();
  readonly #refusals: Refusals;
  readonly #looks = new SingleFlight<DaysLook>();

  constructor(options: { clock: Clock; completeUntilMs: CompleteUntil }) {
    this.#clock = options.clock;
    this.#completeUntilMs = options.completeUntilMs;
    this.#refusals = new Refusals(options.clock);
  }

  /**
   * The parameters by which a statement finds the days that are kept. It may first keep days that are not
   * kept yet; that takes about as long as the question itself.
   */
  async find(statement: Statement, range: KeptRange, access: Access) {
    // All days are looked at as the series asks that depends on the most of them.
    const reachDays = Math.max(...range.cells.map((cells) => cells.reachDays));
    const keys = range.cells.map(({ key }) => seriesOf(key, reachDays));
    const { projectId } = access;
    const days = { projectId, first: range.first, last: range.last, keys, reachDays };
    const name = JSON.stringify([projectId, ...keys]);
    const look = this.#isAskedAgain(name, access.together)
      ? await this.#looks.join(JSON.stringify(days), access.signal, (signal) =>
          this.#lookAndKeep(name, days, statement, range, { ...access, signal }),
        )
      : await this.#look(days, access);
    return look.paramsOf(range);
  }

  async #look(days: SeriesDays, access: Access): Promise<DaysLook> {
    const look = await lookAtDays(access.look, days, access);
    this.#settled.see(look, this.#clock.nowMs());
    return look;
  }

  /** Days that cannot be kept are counted: where the store itself fails, so does the question. */
  async #lookAndKeep(
    name: string,
    asked: SeriesDays,
    statement: Statement,
    range: KeptRange,
    access: Access,
  ): Promise<DaysLook> {
    const look = await this.#look(asked, access);
    // Whoever waited for a keeping that failed does not try the same again.
    if (this.#refusals.mustWait(name)) return look;
    const days = await this.#daysToKeep(look);
    if (days.length === 0 || (await this.#isFull(access))) return look;
    const params = { ...statement.params, ...look.paramsToKeep(range, days) };
    await this.#keep(range, look, params, access).then(
      () => this.#refusals.succeeded(name),
      () => this.#refusals.failed(name),
    );
    // Looked at once more: an event that was stored meanwhile has made its day another one.
    return this.#look(asked, access);
  }

  #isAskedAgain(name: string, together: symbol): boolean {
    const atMs = this.#clock.nowMs();
    for (const [other, asked] of this.#asked) {
      if (atMs - asked.atMs < askedAgainMs) break;
      this.#asked.delete(other);
    }
    const before = this.#asked.get(name);
    const isAgain = before?.together === together ? before.isAgain : before !== undefined;
    this.#asked.delete(name);
    setBounded(this.#asked, name, { atMs, together, isAgain }, maxSeries);
    return isAgain;
  }

  async #daysToKeep(look: DaysLook): Promise<number[]> {
    const untilMs = await this.#completeUntilMs(look.days.projectId);
    if (untilMs === undefined) return [];
    return this.#settled.daysToKeep(look, { untilMs, nowMs: this.#clock.nowMs() });
  }

  async #isFull({ projectId, look, signal }: Access): Promise<boolean> {
    const { ofProject, ofAll } = await cellsKeptToday(look, projectId, { signal });
    return ofProject >= maxProjectCells || ofAll >= maxAllCells;
  }

  async #keep(
    { cells }: KeptRange,
    { days: { projectId, reachDays } }: DaysLook,
    params: Statement['params'],
    access: Access,
  ): Promise<void> {
    for (const { key, keep } of cells) {
      const own = { keep_project: projectId, keep_series: seriesOf(key, reachDays) };
      for (const sql of keep) {
        await access.run({ sql, params: { ...params, ...own }, maxRows: 0 });
      }
    }
  }
}

/** The same cells have another version in statements that depend on more days. */
function seriesOf(key: string, reachDays: number): string {
  return key + reachDays;
}
