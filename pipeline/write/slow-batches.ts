// Finds the batches that take far longer than usual: whoever can make one takes the writer's time from everybody on the
// shard. A batch is measured by its own work, without its turn behind the batch before, beside its rows and what an
// insert costs without any.

/** What an insert of no rows would cost, as rows: its parts, their files and syncs. */
const rowsOfNone = 5_000;
const rememberedBatches = 100;
/** Before, nothing is usual. */
const fewestBatches = 20;
const slowTimes = 10;
/** Shorter ones are a moment's load. */
const leastSlowMs = 1_000;

export class SlowBatches {
  /** ms for each row, of the latest batches. */
  readonly #costs: number[] = [];
  #next = 0;

  /** How many times as long as usual the batch took, where that is more than ten times and a second; else undefined. */
  add(rows: number, ms: number): number | undefined {
    const cost = ms / (rows + rowsOfNone);
    const usual = this.#median();
    this.#costs[this.#next] = cost;
    this.#next = (this.#next + 1) % rememberedBatches;
    if (usual === undefined || ms < leastSlowMs) return undefined;
    const times = cost / usual;
    return times > slowTimes ? times : undefined;
  }

  #median(): number | undefined {
    if (this.#costs.length < fewestBatches) return undefined;
    return this.#costs.toSorted((a, b) => a - b)[this.#costs.length >>> 1];
  }
}
