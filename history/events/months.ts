// The UTC month of a moment, as `2026-03`. Exports are nearly in the order of time: the last month is looked at first.

export class Months {
  #fromMs = 0;
  #toMs = 0;
  #name = '';

  of(timeMs: number): string {
    if (timeMs >= this.#fromMs && timeMs < this.#toMs) return this.#name;
    const date = new Date(timeMs);
    const [year, month] = [date.getUTCFullYear(), date.getUTCMonth()];
    this.#fromMs = Date.UTC(year, month);
    this.#toMs = Date.UTC(year, month + 1);
    this.#name = date.toISOString().slice(0, 7);
    return this.#name;
  }
}
