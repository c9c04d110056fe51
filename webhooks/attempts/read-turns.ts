// Turns of the reads of the log: two at once, one of each owner of organizations, owners in turn. Those that wait are
// bounded in number and time. Where all places are taken, the owner with the most gives one up to another.

import { Code, ConnectError } from '@connectrpc/connect';

/** The engine leaves few connections to what takes no turn of query/. */
const atOnce = 2;
const maxWaiting = 256;
const maxWaitingOfOne = 16;
const maxWaitMs = 10_000;

interface Waiter {
  begin(): void;
  refuse(error: ConnectError): void;
}

export class ReadTurns {
  /** By owner, the one whose turn is next first. No queue is empty. */
  readonly #queues = new Map<string, Waiter[]>();
  /** The owners whose reads run. */
  readonly #running = new Set<string>();
  #waiting = 0;

  /**
   * Resolves when it is the owner's turn: then `give` must follow. Rejects with resource_exhausted where it does not
   * come, and with canceled where `gone` aborts before.
   */
  async take(owner: string, gone?: AbortSignal): Promise<void> {
    if (gone?.aborted === true) throw canceled();
    if (this.#running.size < atOnce && !this.#running.has(owner)) {
      this.#running.add(owner);
      return;
    }
    this.#makeRoom(owner);
    await this.#wait(owner, gone);
  }

  /** Hands the owner's turn on to the next one, which then waits behind all others. */
  give(owner: string): void {
    this.#running.delete(owner);
    for (const [waiting, queue] of this.#queues) {
      const [next] = queue;
      if (next === undefined || this.#running.has(waiting)) continue;
      this.#remove(waiting, next);
      if (this.#queues.delete(waiting)) this.#queues.set(waiting, queue);
      this.#running.add(waiting);
      next.begin();
      return;
    }
  }

  #wait(owner: string, gone: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (error: ConnectError): void => {
        this.#remove(owner, waiter);
        waiter.refuse(error);
      };
      const cancel = (): void => leave(canceled());
      const timer = setTimeout(() => leave(busy()), maxWaitMs);
      const end = (): void => {
        clearTimeout(timer);
        gone?.removeEventListener('abort', cancel);
      };
      const waiter: Waiter = {
        begin() {
          end();
          resolve();
        },
        refuse(error) {
          end();
          reject(error);
        },
      };
      gone?.addEventListener('abort', cancel);
      const queue = this.#queues.get(owner);
      if (queue === undefined) this.#queues.set(owner, [waiter]);
      else queue.push(waiter);
      this.#waiting++;
    });
  }

  /** Refuses the last of the longest queue for an owner whose own stays shorter, or else throws. */
  #makeRoom(owner: string): void {
    const own = this.#queues.get(owner)?.length ?? 0;
    if (own >= maxWaitingOfOne) throw busy();
    if (this.#waiting < maxWaiting) return;
    let longest: { id: string; queue: Waiter[] } | undefined;
    for (const [id, queue] of this.#queues) {
      // Of several, the one whose turn is farthest.
      if (queue.length >= (longest?.queue.length ?? 0)) longest = { id, queue };
    }
    const last = longest?.queue.at(-1);
    // One that would be the longest then has no better right to the place.
    if (longest === undefined || last === undefined || longest.queue.length <= own + 1)
      throw busy();
    this.#remove(longest.id, last);
    last.refuse(busy());
  }

  #remove(owner: string, waiter: Waiter): void {
    const queue = this.#queues.get(owner);
    const place = queue?.indexOf(waiter) ?? -1;
    if (queue === undefined || place === -1) return;
    queue.splice(place, 1);
    if (queue.length === 0) this.#queues.delete(owner);
    this.#waiting--;
  }
}

function busy(): ConnectError {
  const message = 'too many reads of the webhook log are waiting, try again';
  return new ConnectError(message, Code.ResourceExhausted, { 'retry-after': '5' });
}

function canceled(): ConnectError {
  return new ConnectError('nobody waits for the read any more', Code.Canceled);
}
