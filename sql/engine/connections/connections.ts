// Lends a fixed number of connections, with a bounded queue of waiting statements. A full queue refuses at once, with
// the code that a ClickHouse server uses for too many simultaneous queries.

import { EngineError, tooMany } from '../errors.ts';
import type { Connection, Scope } from './connection.ts';

interface Waiter {
  resolve: (connection: Connection) => void;
  reject: (error: EngineError) => void;
}

export class Connections {
  readonly #free: Connection[];
  readonly #waiting: Waiter[] = [];
  readonly #maxWaiting: number;

  constructor(connections: readonly Connection[], maxWaiting: number) {
    this.#free = [...connections];
    this.#maxWaiting = maxWaiting;
  }

  /**
   * Runs `use` with a connection that nothing else uses, first come first served. Of several free ones it gets the one
   * with most of `scope`: changing it costs a statement. Throws EngineError 202 where `maxWaiting` statements wait
   * already, and 394 where `signal` is aborted before a connection is free.
   */
  async with<T>(
    scope: Scope,
    signal: AbortSignal,
    use: (connection: Connection) => Promise<T>,
  ): Promise<T> {
    const connection = this.#takeFree(scope) ?? (await this.#wait(signal));
    try {
      return await use(connection);
    } finally {
      const next = this.#waiting.shift();
      if (next === undefined) this.#free.push(connection);
      else next.resolve(connection);
    }
  }

  #takeFree(scope: Scope): Connection | undefined {
    let best = 0;
    let fewest = Number.POSITIVE_INFINITY;
    for (const [place, connection] of this.#free.entries()) {
      const changes = connection.changesFor(scope);
      if (changes > fewest) continue;
      best = place;
      fewest = changes;
    }
    return this.#free.splice(best, 1)[0];
  }

  #wait(signal: AbortSignal): Promise<Connection> {
    if (signal.aborted) return Promise.reject(cancelled());
    if (this.#waiting.length >= this.#maxWaiting) return Promise.reject(tooMany(this.#maxWaiting));
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        const place = this.#waiting.indexOf(waiter);
        if (place !== -1) this.#waiting.splice(place, 1);
        reject(cancelled());
      };
      const waiter: Waiter = {
        resolve: (connection) => {
          signal.removeEventListener('abort', leave);
          resolve(connection);
        },
        reject,
      };
      signal.addEventListener('abort', leave, { once: true });
      this.#waiting.push(waiter);
    });
  }
}

function cancelled(): EngineError {
  return new EngineError(394, 'QUERY_WAS_CANCELLED', 'Query was cancelled');
}
