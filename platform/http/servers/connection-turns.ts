// Lets new connections of node's two servers begin a few in each turn of the event loop. The first request of each
// costs the better part of a millisecond, so two hundred that arrive together would hold up everybody's events for a
// tenth of a second. Nothing is read of a connection that waits; requests that waited here would fill their buffers.

/** A full turn takes some 5 ms. Beside a loop that is busy with events the router still gets its half of the time. */
const maxPerTurn = 8;

export class ConnectionTurns {
  readonly #waiting: (() => void)[] = [];
  #begun = 0;

  /** Calls `serve` now, or in order in one of the next turns. */
  begin(serve: () => void): void {
    if (this.#begun >= maxPerTurn || this.#waiting.length > 0) {
      this.#waiting.push(serve);
      return;
    }
    this.#count();
    serve();
  }

  #count(): void {
    if (this.#begun++ === 0) setImmediate(() => this.#nextTurn());
  }

  #nextTurn(): void {
    this.#begun = 0;
    for (const serve of this.#waiting.splice(0, maxPerTurn)) {
      this.#count();
      serve();
    }
  }
}
