// Which of the engines that we keep have ended and are not ready again. Whoever asks whether the service can serve must
// hear it at once: a connection notices later, and an answer of before counts no more.

export class Standing {
  readonly #away = new Set<string>();
  #changes = 0;
  #tell: () => void = () => {};

  /** Counts ends and returns: what was found out at another number is out of date. */
  get changes(): number {
    return this.#changes;
  }

  /** The names of those that are away. */
  get away(): readonly string[] {
    return [...this.#away];
  }

  isAway(name: string): boolean {
    return this.#away.has(name);
  }

  set(name: string, isThere: boolean): void {
    if (isThere) this.#away.delete(name);
    else this.#away.add(name);
    this.#changes++;
    this.#tell();
  }

  /** What another process tells of the engines that it keeps; anything else than names is passed over. */
  replace(away: unknown): void {
    this.#away.clear();
    for (const name of Array.isArray(away) ? away : []) this.#away.add(String(name));
    this.#changes++;
  }

  /** `tell` hears of each change. */
  onChange(tell: () => void): void {
    this.#tell = tell;
  }
}
