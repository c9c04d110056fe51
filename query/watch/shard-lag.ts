// How far a shard's writer is behind: the age of the oldest message in its stream, which the broker deletes once it is
// stored. The broker is asked once a second while somebody watches, so the figure is right while the writer is stuck.

import type { NatsConnection } from '../../platform/broker/nats.ts';
import type { Clock } from '../../platform/clock.ts';

const askEveryMs = 1_000;

export class ShardLag {
  readonly #connection: Pick<NatsConnection, 'jetstreamManager'>;
  readonly #stream: string;
  readonly #clock: Clock;
  readonly #timer: NodeJS.Timeout;
  #isAsking = false;
  /** When the oldest message came; undefined while there is none, or nobody has answered. */
  #oldestMs: number | undefined;
  #isKnown = false;

  /** Asks at once, and until it is closed. */
  constructor(connection: Pick<NatsConnection, 'jetstreamManager'>, stream: string, clock: Clock) {
    this.#connection = connection;
    this.#stream = stream;
    this.#clock = clock;
    this.#timer = setInterval(() => void this.#ask(), askEveryMs);
    void this.#ask();
  }

  /** Grows while the broker does not answer; undefined before its first answer. */
  ms(): number | undefined {
    if (!this.#isKnown) return undefined;
    const nowMs = this.#clock.nowMs();
    return Math.max(0, nowMs - (this.#oldestMs ?? nowMs));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #ask(): Promise<void> {
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      const manager = await this.#connection.jetstreamManager({ checkAPI: false });
      const { state } = await manager.streams.info(this.#stream);
      this.#oldestMs = state.messages === 0 ? undefined : Date.parse(state.first_ts);
      this.#isKnown = true;
    } catch {
      // The check of the broker tells that it does not answer.
    } finally {
      this.#isAsking = false;
    }
  }
}
