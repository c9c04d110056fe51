// How many questions of each project are under way. One that is alone has its statement run beside the small ones that
// it depends on. Where many are asked at once this saves nothing, and the small ones would wait in a longer queue.

export class OpenQuestions {
  readonly #open = new Map<string, number>();

  /** The question is under way until `ask` ends. */
  async with<T>(projectId: string, ask: () => Promise<T>): Promise<T> {
    this.#open.set(projectId, this.#count(projectId) + 1);
    try {
      return await ask();
    } finally {
      const left = this.#count(projectId) - 1;
      if (left > 0) this.#open.set(projectId, left);
      else this.#open.delete(projectId);
    }
  }

  /** Whether no more than one question of the project is under way. */
  isAlone(projectId: string): boolean {
    return this.#count(projectId) <= 1;
  }

  #count(projectId: string): number {
    return this.#open.get(projectId) ?? 0;
  }
}
